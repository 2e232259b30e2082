"""A Result as one self-contained HTML page: no network, light and dark, for screens, phones and paper.

The room itself can be called: ``calibrant.report(forecasts, y, "report.html")`` is :func:`report`. What draws is loaded
when it is first asked for.
"""

import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .writing import report, write_report

if TYPE_CHECKING:
    from .page import render, write

__all__ = ["render", "report", "write", "write_report"]


class _Room(ModuleType):
    """A module that is its function of the same name, which could not be reached otherwise once it is loaded."""

    __call__ = staticmethod(report)


__signature__ = inspect.signature(report)
sys.modules[__name__].__class__ = _Room


def __getattr__(name: str) -> Any:
    """Load the page, and what draws its pictures, when it is first asked for."""
    if name in ("render", "write"):
        from . import page

        return getattr(page, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
