"""What commands say: results on stdout, notes and progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..engines.plain import plain


def complain(text: str) -> None:
    """One line about what went wrong."""
    print(f"calibrant: {' '.join(text.split())}", file=sys.stderr)


def note(text: str) -> None:
    """One line about what was found, assumed or left out."""
    print(f"note: {' '.join(text.split())}", file=sys.stderr)


def say(*lines: str) -> None:
    """Lines of a result, as they are."""
    for line in lines:
        print(line)


def say_json(content: Any) -> None:
    """The result for programs."""
    print(json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False))


def say_table(heads: list[str], rows: list[list[str]], title: str = "") -> None:
    """A table whose first column is names."""
    shown = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for place, head in enumerate(heads):
        shown.add_column(head, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        shown.add_row(*row)
    wide = None if sys.stdout.isatty() else 10_000  # a file has no margin
    Console(file=sys.stdout, width=wide, markup=False, highlight=False, emoji=False).print(shown)


@contextmanager
def progress(words: str, rows: int | None = None) -> Iterator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """Give two functions, one to tell of rows done and one of the stage; on a terminal they move a bar."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield (lambda _: None), (lambda _: None)
        return
    bar = [BarColumn(), TaskProgressColumn()] if rows else []
    counted = TextColumn("{task.completed:,.0f} rows")
    columns = [SpinnerColumn(), TextColumn("{task.description}"), *bar, counted, TimeElapsedColumn()]
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task(words, total=rows)
        yield (
            lambda done: shown.advance(task, done),
            lambda stage: shown.update(task, description=f"{words}: {stage}"),
        )
