"""The command line: ``calibrant fit | apply | evaluate | compare | report | inspect | demo``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 2 for errors, 130 if it was interrupted.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process if None.
    """
    try:
        from .app import run
    except ModuleNotFoundError as reason:
        print(f"calibrant: {reason.name} is not installed: pip install 'calibrant[app]'.", file=sys.stderr)
        return 2
    return run(arguments)
