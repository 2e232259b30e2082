"""What commands say: results on stdout, notes and progress on stderr; no name or file can steer the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from .._printable import printable
from ..engines.plain import as_json


def complain(text: str) -> None:
    """One line about what went wrong."""
    _print(f"calibrant: {' '.join(text.split())}", sys.stderr)


def note(text: str) -> None:
    """One line about what was found, assumed or left out."""
    _print(f"note: {' '.join(text.split())}", sys.stderr)


def say(*lines: str) -> None:
    """Lines of a result; each is one line."""
    for line in lines:
        _print(line, sys.stdout)


def say_json(content: Any) -> None:
    """The result for programs; what does not print is written as JSON escapes."""
    text = as_json(content)
    _print("".join(letter if letter == "\n" else _in_json(letter) for letter in text), sys.stdout, keep="\n")


def say_table(heads: list[str], rows: list[list[str]], title: str = "") -> None:
    """A table whose first column is names."""
    shown = Table(title=printable(title) or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for place, head in enumerate(heads):
        shown.add_column(printable(head), justify="right" if place else "left", no_wrap=True)
    for row in rows:
        shown.add_row(*(_encodable(printable(cell), sys.stdout) for cell in row))
    wide = None if sys.stdout.isatty() else 10_000  # a file has no margin
    Console(file=sys.stdout, width=wide, markup=False, highlight=False, emoji=False).print(shown)


def commands(*calls: list[str]) -> str:
    r"""Commands to be copied, one a line, with arguments quoted as shells have it.

    >>> print(commands(["calibrant", "fit", "a b.csv"], ["calibrant", "fit", "a\n\x1b'.csv"]))
    calibrant fit 'a b.csv'
    calibrant fit $'a\x0a\x1b\'.csv'
    """
    return "\n".join(" ".join(map(_quoted, call)) for call in calls)


def _quoted(argument: str) -> str:
    if argument.isprintable():
        return shlex.quote(argument)
    return f"$'{''.join(map(_in_shell, argument))}'"


def _in_shell(letter: str) -> str:
    r"""A letter between ``$'`` and ``'``; bytes of a path that are no letters are numbers from U+DC80 on."""
    code = ord(letter)
    if letter in ("'", "\\"):
        return f"\\{letter}"
    if letter == printable(letter):
        return letter
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code & 0xFF:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _print(text: str, file: TextIO, keep: str = "") -> None:
    shown = text if text.isprintable() else printable(text, keep=keep)
    print(_encodable(shown, file), file=file)


def _encodable(text: str, file: TextIO) -> str:
    """The text as far as the stream has letters for it."""
    letters = getattr(file, "encoding", None) or "utf-8"
    return text.encode(letters, errors="backslashreplace").decode(letters)


def _in_json(letter: str) -> str:
    if letter == printable(letter):
        return letter
    pairs = letter.encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{pairs[at : at + 4]}" for at in range(0, len(pairs), 4))


@contextmanager
def progress(words: str, rows: int | None = None) -> Iterator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """Give two functions, one to tell of rows done and one of the stage; on a terminal they move a bar."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield (lambda _: None), (lambda _: None)
        return
    bar = [BarColumn(), TaskProgressColumn()] if rows else []
    counted = TextColumn("{task.completed:,.0f} rows")
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), *bar, counted, TimeElapsedColumn()]
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task(printable(words), total=rows)
        yield (
            lambda done: shown.advance(task, done),
            lambda stage: shown.update(task, description=printable(f"{words}: {stage}")),
        )
