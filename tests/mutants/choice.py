"""A fixed choice of edits, spread evenly over rooms and files, that small changes of the code hardly change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache
from hashlib import sha256
from itertools import chain, islice, zip_longest
from pathlib import Path

from .edits import Edit, applied, edits

ROOMS = ("engines", "select", "calibration", "metrics", "regression")
PACKAGE = "src/calibrant"


@dataclass(frozen=True)
class Mutant:
    """One edit of one file of the package."""

    path: str  # relative to the repository
    edit: Edit

    @property
    def name(self) -> str:
        """A short name that depends on the file, the function, the statement and the edit, not on the line."""
        return sha256(f"{self.path}|{self.edit.key}".encode()).hexdigest()[:10]

    @property
    def room(self) -> str:
        """The room of the file."""
        return self.path.removeprefix(f"{PACKAGE}/").split("/")[0]

    def source(self, root: Path) -> str:
        """The file with the edit made."""
        return applied((root / self.path).read_text(encoding="utf-8"), self.edit)

    def compiles(self, root: Path) -> bool:
        """Whether the file is still Python."""
        try:
            compile(self.source(root), self.path, "exec")
        except SyntaxError:
            return False
        return True

    def diff(self, root: Path) -> str:
        """What the edit changes, in lines."""
        before = (root / self.path).read_text(encoding="utf-8").splitlines()
        lines = list(unified_diff(before, self.source(root).splitlines(), lineterm="", n=0))[3:]
        return "\n".join(f"    {line}" for line in lines)

    def __str__(self) -> str:
        return f"{self.name}  {self.path}:{self.edit.line}  {self.edit.function or 'module'}  ({self.edit.kind})"


def choose(root: Path, rooms: Sequence[str], n_mutants: int, seed: int) -> list[Mutant]:
    """About ``n_mutants`` mutants, as many a room, within a room as many a file as there are."""
    share = -(-n_mutants // len(ROOMS))
    chosen = []
    for room in rooms:
        files = sorted((root / PACKAGE / room).rglob("*.py"))
        queues = [_queue(path.relative_to(root).as_posix(), path, seed) for path in files]
        queues = sorted(filter(None, queues), key=lambda queue: _draw(seed, queue[0].path))
        chosen += islice((one for one in _in_turns(queues) if one.compiles(root)), share)
    return chosen


@cache
def _edits(source: str) -> list[Edit]:
    return list(edits(source))


def _queue(name: str, path: Path, seed: int) -> list[Mutant]:
    """The mutants of one file in a random order, the kinds in turns."""
    by_kind: dict[str, list[Mutant]] = {}
    for edit in _edits(path.read_text(encoding="utf-8")):
        by_kind.setdefault(edit.kind, []).append(Mutant(name, edit))
    queues = [sorted(some, key=lambda one: _draw(seed, one.name)) for some in by_kind.values()]
    return _in_turns(sorted(queues, key=lambda queue: _draw(seed, queue[0].name)))


def _in_turns(queues: Iterable[list[Mutant]]) -> list[Mutant]:
    """The first of each queue, the second of each, and so on."""
    return [one for one in chain.from_iterable(zip_longest(*queues)) if one is not None]


def _draw(seed: int, name: str) -> str:
    return sha256(f"{seed}|{name}".encode()).hexdigest()
