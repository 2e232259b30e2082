"""Finished cells of an experiment, kept as they come: a run that is begun again goes on where it stopped.

A results folder holds ``NAME.cells.json`` (every cell, not committed), ``NAME.json`` (what the table says, with the
command and the commit that made it) and ``NAME.md`` (the table itself).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from calibrant._files import write_text

ROOT = Path(__file__).parent
RESULTS = ROOT / "results"


class Cells:
    """Cells by name, each a dictionary of numbers, in one file that is written anew after each of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[str, Any] = json.loads(path.read_text(encoding="utf8")) if path.is_file() else {}

    def run(self, tasks: dict[str, tuple[Any, ...]], work: Callable[..., Any], jobs: int = 1) -> Iterator[str]:
        """Run ``work(*arguments)`` of all tasks that are not done; give the names as they come."""
        wanted = {name: arguments for name, arguments in tasks.items() if name not in self.done}
        calls = (delayed(_named)(work, name, arguments) for name, arguments in wanted.items())
        for name, found in Parallel(n_jobs=jobs, return_as="generator_unordered")(calls):
            self.keep({name: found})
            yield name

    def keep(self, found: dict[str, Any]) -> None:
        """Keep finished cells."""
        self.done |= found
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self.path, json.dumps(self.done))

    def some(self, names: Iterable[str]) -> list[Any]:
        """What these cells hold."""
        return [self.done[name] for name in names]

    def whole(self, start: str, parts: Sequence[str]) -> list[dict[str, Any]]:
        """Cells called ``start/.../part``, whose parts are all done, each with its parts together."""
        first = f"/{parts[0]}"
        names = [
            name.removesuffix(first) for name in self.done if name.startswith(f"{start}/") and name.endswith(first)
        ]
        return [
            {key: value for part in parts for key, value in self.done[f"{name}/{part}"].items()}
            for name in names
            if all(f"{name}/{part}" in self.done for part in parts)
        ]


def _named(work: Callable[..., Any], name: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    return name, work(*arguments)


def provenance() -> dict[str, str]:
    """The command that is running, without its folders, and the commit of the code; + where that was changed since."""
    module = sys.modules["__main__"].__spec__
    name = (module.name if module else "").removesuffix(".__main__")
    return {"command": " ".join(["python -m", name, *_without_folders(sys.argv[1:])]), "commit": _commit()}


def _without_folders(words: Sequence[str]) -> Iterator[str]:
    for before, word in zip(["", *words], words, strict=False):
        yield "FOLDER" if before in ("--data", "--out", "--cache") else word


def _commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + (
            "+" if git("status", "--porcelain", "../src", ".", ":!results", ":!README.md") else ""
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def write_result(folder: Path, name: str, result: dict[str, Any], markdown: Iterable[str]) -> list[Path]:
    """Write the result as JSON and as Markdown, both with their provenance."""
    folder.mkdir(parents=True, exist_ok=True)
    made = provenance()
    paths = [folder / f"{name}.json", folder / f"{name}.md"]
    write_text(paths[0], json.dumps({"made": made, **result}, indent=1) + "\n")
    told = f"Made by `{made['command']}` at {made['commit']}."
    write_text(paths[1], "\n".join([*markdown, "", told, ""]))
    return paths


def known(value: float) -> float | None:
    """A number for a results file, which has none that is not one."""
    return None if isnan(value) else float(value)


def claim(holds: bool, text: str) -> str:
    """A line of a verdict."""
    return f"{'PASS' if holds else 'FAIL'}  {text}"


def read_result(folder: Path, name: str) -> dict[str, Any] | None:
    """A result that was written, or None."""
    path = folder / f"{name}.json"
    found: dict[str, Any] | None = json.loads(path.read_text(encoding="utf8")) if path.is_file() else None
    return found
