"""Verdicts that hold as long as the mutated file and the tests that decided do not change."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .choice import Mutant
from .reach import digest

ALIVE = "alive"
_NOT_A_TEST = (ALIVE, "timeout", "crash", "collection", "import")


class Verdicts:
    """What became of each mutant, kept in a file: the test that failed, or "alive"."""

    def __init__(self, root: Path, store: Path) -> None:
        self.root, self.store = root, store
        self.known: dict[str, Any] = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}

    def get(self, mutant: Mutant, tests: Iterable[str]) -> str | None:
        """The verdict, None if there is none that still holds."""
        known = self.known.get(mutant.name)
        if known is None or any(digest(self.root, name) != was for name, was in known["files"].items()):
            return None
        told = known["verdict"]
        return told if told != ALIVE or _files(tests) <= set(known["files"]) else None

    def put(self, mutant: Mutant, tests: Iterable[str], verdict: str) -> None:
        """Keep a verdict; one failing test is enough, but all have to pass."""
        deciding = _files(tests) if verdict in _NOT_A_TEST else _files([verdict])
        files = {name: digest(self.root, name) for name in (mutant.path, *sorted(deciding))}
        self.known[mutant.name] = {"verdict": verdict, "files": files}
        self.store.write_text(json.dumps(self.known, indent=1), encoding="utf-8")


def _files(tests: Iterable[str]) -> set[str]:
    return {test.split("::")[0] for test in tests}
