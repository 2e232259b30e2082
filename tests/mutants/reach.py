"""Which test reaches which block of statements, and how long it takes; measured once and kept."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from .choice import PACKAGE, ROOMS, Mutant
from .forks import Task, in_forks

# Tests that can tell the rooms' mutants, besides the doctests of the room: its own, and those of rooms that use it.
TESTS = {
    "engines": ("engines/**/test_*.py", "cli/**/test_*.py", "report/**/test_*.py", "common/test_one_trial.py"),
    "select": ("select/**/test_*.py", "engines/**/test_*.py", "cli/**/test_*.py", "common/test_one_trial.py"),
    "calibration": (
        "calibration/**/test_*.py", "common/test_*calibrators.py", "regression/**/test_*.py",
        "classification/**/test_*.py", "common/test_summaries.py", "summaries/**/test_*.py",
        "store/test_calibrators.py",
    ),
    "metrics": ("metrics/**/test_*.py",),
    "regression": ("regression/**/test_*.py", "common/test_calibrators.py", "common/test_summaries.py"),
}  # fmt: skip
_LEFT_OUT = {"test_browser.py", "test_images.py"}
_MOST_SECONDS = 900.0  # of one test file
FLAGS = ("-q", "-n0", "-p", "no:cacheprovider", "--no-header", "--tb=no", "--assert=plain")

Reach = dict[str, dict[str, tuple[float, list[str]]]]  # test file → test → seconds, blocks


def test_files(root: Path, rooms: Iterable[str]) -> list[str]:
    """The test files of the rooms, and their source files, whose docstrings are tests."""
    found: set[Path] = set()
    for room in rooms:
        found.update((root / PACKAGE / room).rglob("*.py"))
        for pattern in TESTS[room]:
            found.update((root / "tests").glob(pattern))
    held = (path for path in found if path.name not in _LEFT_OUT)
    return sorted(path.relative_to(root).as_posix() for path in held if path.name[:5] == "test_" or _has_doctest(path))


def _has_doctest(path: Path) -> bool:
    return ">>>" in path.read_text(encoding="utf-8")


def digest(root: Path, name: str) -> str:
    """A short digest of a file; of none, the empty text."""
    path = root / name
    return sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


def measured(root: Path, files: Sequence[str], trees: list[Path], store: Path) -> Reach:
    """Run the test files that changed, or whose sources changed, in instrumented trees; read the others from store."""
    known: dict[str, Any] = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    stale = [name for name in files if not _is_fresh(root, name, known.get(name))]
    tasks = [Task(partial(_reached_by, name), _MOST_SECONDS, name) for name in stale]
    for count, (task, found) in enumerate(in_forks(tasks, trees), 1):
        if not isinstance(found, dict):
            raise RuntimeError(f"{task.about} cannot be run: {found}.")
        for test in found["failed"]:
            print(f"  {test} fails unmutated; not used")
        sources = {name: digest(root, name) for name in (task.about, *found["sources"])}
        known[task.about] = {"sources": sources, "tests": found["tests"]}
        store.write_text(json.dumps(known), encoding="utf-8")
        seconds = sum(test[0] for test in found["tests"].values())
        print(f"  {count}/{len(tasks)} {task.about}: {len(found['tests'])} tests, {seconds:.1f} s", flush=True)
    return {name: known[name]["tests"] for name in files}


def _is_fresh(root: Path, name: str, known: Any) -> bool:
    return known is not None and all(digest(root, path) == was for path, was in known["sources"].items())


def _reached_by(name: str, tree: Path) -> dict[str, Any]:
    import pytest

    import calibrant  # noqa: F401  before pytest does, which would put modules in place of functions of their name

    watch = _Watch()
    pytest.main([*FLAGS, name], plugins=[watch])
    failed = [test for test in watch.failed if test in watch.tests]
    tests = {test: (seconds, sorted(found)) for test, (seconds, found) in watch.tests.items() if test not in failed}
    return {"tests": tests, "sources": sorted(watch.sources), "failed": failed}


class _Watch:
    """A pytest plugin: the blocks that each test reaches, those of its fixtures included."""

    def __init__(self) -> None:
        self.tests: dict[str, tuple[float, set[str]]] = {}
        self.failed: list[str] = []
        self.sources: set[str] = set()
        self.shared: set[str] = set()
        import reach_recorder

        self.reached = reach_recorder.reached

    def pytest_runtest_logstart(self) -> None:
        self.began = time.process_time()
        self.reached.clear()

    def pytest_runtest_call(self) -> None:
        self.shared |= _in_rooms(self.reached)  # fixtures of a module run for its first test only

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.sources |= {block.rpartition(":")[0] for block in self.reached}
        self.tests[nodeid] = (time.process_time() - self.began, _in_rooms(self.reached) | self.shared)


def _in_rooms(reached: set[str]) -> set[str]:
    return {block for block in reached if block.split("/")[2] in ROOMS}


def relevant(reach: Reach, mutant: Mutant, most_seconds: float) -> list[tuple[str, float]]:
    """The tests that reach a mutant, with their seconds: those of its file first, then its room's; the quick first."""
    block = f"{mutant.path}:{mutant.edit.block}"
    found = []
    for file, tests in reach.items():
        mine = [(seconds, test) for test, (seconds, blocks) in tests.items() if _holds(blocks, block, mutant)]
        if mine:
            found.append((_distance(file, mutant), sum(seconds for seconds, _ in mine), sorted(mine)))
    chosen, total = [], 0.0
    for _, _, mine in sorted(found):
        for seconds, test in mine:
            total += seconds
            if total <= most_seconds or not chosen:
                chosen.append((test, seconds))
    return chosen


def _holds(blocks: list[str], block: str, mutant: Mutant) -> bool:
    if mutant.edit.block is not None:
        return block in blocks
    return any(one.startswith(f"{mutant.path}:") for one in blocks)


def _distance(file: str, mutant: Mutant) -> int:
    own = Path(mutant.path)
    if file == mutant.path or Path(file).stem in (f"test_{own.stem.strip('_')}", f"test_{own.parent.name}"):
        return 0
    return 1 if f"/{mutant.room}/" in file else 2
