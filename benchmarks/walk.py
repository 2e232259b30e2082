"""``python -m benchmarks.walk``: one row of a Parquet file through ``calibrant fit``, from room to room.

A room change is a call from a function of one room to a function of another. What lies between them and is not ours
(scikit-learn, click, pyarrow) does not count, nor do returns, nor imports, which a first walk has made. Single
files beside the rooms, as ``_checks.py``, are rooms too.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import calibrant
from calibrant.cli import main as command_line

PACKAGE = Path(calibrant.__file__).parent


@dataclass(frozen=True)
class Hop:
    """A call from one room to another, ``depth`` rooms from the command line."""

    caller: tuple[str, str]  # room, function
    callee: tuple[str, str]
    depth: int

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{'.'.join(self.caller)} → {'.'.join(self.callee)}"


def hops(action: Callable[[], Any]) -> list[Hop]:
    """The room changes of a call, in order."""
    stack: list[tuple[str, str]] = []
    found: list[Hop] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        place = _place(frame.f_code)
        if place is None or event not in ("call", "return"):
            return
        if event == "return":
            stack.pop()
            return
        if stack and stack[-1][0] != place[0]:
            rooms = [room for room, _ in stack]
            found.append(Hop(stack[-1], place, sum(a != b for a, b in pairwise(rooms))))
        stack.append(place)

    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(None)
    return found


def _place(code: CodeType) -> tuple[str, str] | None:
    path = Path(code.co_filename)
    if not path.is_relative_to(PACKAGE):
        return None
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py"), code.co_qualname


def walk() -> list[Hop]:
    """The room changes of ``calibrant fit`` on a table of one row, whose columns it has to find."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "row.parquet")
        pq.write_table(pa.table({"mu": [0.0], "sigma": [1.0], "y": [0.5]}), table)
        arguments = ["fit", str(table), "-o", str(Path(folder, "row.calibrant"))]
        _run(arguments)
        return hops(lambda: _run(arguments))


def _run(arguments: list[str]) -> None:
    before, sys.argv = sys.argv, ["calibrant", *arguments]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            command_line()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(said.getvalue()) from end
    finally:
        sys.argv = before


def main() -> None:
    """Print the walk, the roads taken most, and the count."""
    found = walk()
    for hop in found:
        print(hop)
    print()
    for (caller, callee), times in Counter((hop.caller[0], hop.callee[0]) for hop in found).most_common():
        print(f"{times:4d}  {caller} → {callee}")
    print(f"{len(found):4d}  room changes")


if __name__ == "__main__":
    main()
