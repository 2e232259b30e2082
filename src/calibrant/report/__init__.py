"""A Result as one self-contained HTML page: no network, light and dark, for screens, phones and paper.

The room itself can be called: ``calibrant.report(forecasts, y, "report.html")`` is :func:`report`.
"""

import inspect
import sys
from types import ModuleType

from .page import render, write
from .writing import report, write_report

__all__ = ["render", "report", "write", "write_report"]


class _Room(ModuleType):
    """A module that is its function of the same name, which could not be reached otherwise once it is loaded."""

    __call__ = staticmethod(report)


__signature__ = inspect.signature(report)
sys.modules[__name__].__class__ = _Room
