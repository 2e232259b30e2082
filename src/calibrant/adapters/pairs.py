"""Means and standard deviations."""

from __future__ import annotations

from typing import Any

from .._checks import complain, is_column, to_array
from ..distributions.base import Distribution
from ..distributions.families.normal import Normal
from .ambiguous import WAYS


def lent_pair(obj: Any) -> Normal | None:
    """Normal laws of two plain columns, which are not copied: for those who keep nothing of them."""
    if not (type(obj) is tuple and len(obj) == 2):
        return None
    loc, scale = obj
    if not (is_column(loc) and is_column(scale) and loc.shape == scale.shape):
        return None
    try:
        return Normal._lent(loc=loc, scale=scale)
    except ValueError:
        return None  # told in full by those who read it again


def from_pair(obj: Any) -> Distribution | None:
    """A tuple (mean, std), as ``predict(X, return_std=True)`` gives: normal laws."""
    if not isinstance(obj, tuple):
        return None
    if len(obj) != 2:
        raise TypeError(f"a tuple must be (mean, std); got {len(obj)} entries. {WAYS}")
    try:
        return Normal(*obj)
    except (TypeError, ValueError):
        spread = to_array(obj[1], "scale")
        if (spread < 0).any():  # ends of intervals? Zeros are constant predictions, as everywhere
            complain("scale", "positive", spread, ~(spread > 0), f"A tuple is (mean, std). {WAYS}")
        raise
