"""The commands together, and what becomes of errors: one line on stderr and exit code 2."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any

import typer

from .. import __version__
from ..tables.roles import SpelledError
from . import apply, compare, demo, evaluate, fit, inspect, monitor, report, update
from .console import complain, note
from .options import as_option

OK, WRONG, INTERRUPTED = 0, 2, 130
app = typer.Typer(
    name="calibrant",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (evaluate, fit, apply, compare, report, update, monitor, inspect, demo):
    app.command(module.__name__.rpartition(".")[2])(module.command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"calibrant {__version__}")
        raise typer.Exit


@app.callback()
def calibrant(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Takes the predictions any model already makes and returns predictions you can bet on, with the evidence.

    See how wrong your uncertainty is, `calibrant evaluate forecasts.csv`;
    learn the correction, `calibrant fit forecasts.csv -o shop.calibrant`;
    and apply it, `calibrant apply shop.calibrant new.parquet -o calibrated.parquet`.

    Tables are Parquet, CSV, JSON lines or Arrow files, or folders of Parquet files. `calibrant demo` shows it all on
    bundled data.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    with warnings.catch_warnings(), _stoppable():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _as_note
        try:
            code = _command()(None if arguments is None else list(arguments), "calibrant", standalone_mode=False)
        except (KeyboardInterrupt, typer.Abort, typer.Exit) as leaving:
            code = getattr(leaving, "exit_code", INTERRUPTED)
        except (ValueError, TypeError, ArithmeticError, OSError, MemoryError, ImportError) as reason:
            complain(_error_in_words(reason))
            return WRONG
        except Exception as reason:
            if not hasattr(reason, "format_message"):  # no error of usage, but one of ours
                raise
            complain(_usage(reason))
            return WRONG
    if code == INTERRUPTED:
        complain("interrupted; nothing was written.")
    return code if isinstance(code, int) else OK


@cache
def _command() -> Any:
    """The commands with their options, which take a while to put together."""
    return typer.main.get_command(app)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Leave nothing half-written where the process is asked to end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _error_in_words(reason: BaseException) -> str:
    """The message of an error, arguments spelled as options; those of the system are numbers first."""
    if isinstance(reason, SpelledError):
        return reason.spelled(as_option)
    if isinstance(reason, OSError) and reason.strerror and reason.filename:
        return f"`{reason.filename}`: {reason.strerror}."
    if isinstance(reason, ModuleNotFoundError):
        return f"{reason.name} is not installed: pip install 'calibrant[app]'."
    return str(reason) or type(reason).__name__


def _usage(reason: Any) -> str:
    """What is wrong with the arguments, and where to read on."""
    text = " ".join(reason.format_message().split()) or "a command is missing."
    if "unexpected extra argument" in text:
        text = f"{text.rstrip('.')}. Several files of one table? Put their pattern in quotes."
    where = getattr(getattr(reason, "ctx", None), "command_path", "calibrant")
    return f"{text if text.endswith(('.', '?')) else text + '.'} Try `{where} --help`."


def _as_note(message: Warning | str, *_: Any, **__: Any) -> None:
    note(str(message))
