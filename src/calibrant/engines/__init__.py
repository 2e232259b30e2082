"""Fit, evaluate and apply calibrators to tables, wherever these are; reports draw the Result of `analyse`.

`fit`, `evaluate` and `apply` take files, folders, databases and frames of any engine; they are loaded when first asked
for, as they need pyarrow and narwhals.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .analysis import analyse
from .decision import Check, Decision
from .result import Bin, Group, Result, WorstRow, WrongSegment

if TYPE_CHECKING:
    from .anywhere import apply, evaluate, fit

_ANYWHERE = ("apply", "evaluate", "fit")
__all__ = [
    "Bin",
    "Check",
    "Decision",
    "Group",
    "Result",
    "WorstRow",
    "WrongSegment",
    "analyse",
    "apply",
    "evaluate",
    "fit",
]


def __getattr__(name: str) -> Any:
    """What works on tables, when it is first asked for."""
    if name in _ANYWHERE:
        return getattr(import_module(f"{__name__}.anywhere"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
