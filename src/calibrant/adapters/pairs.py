"""Means and standard deviations."""

from __future__ import annotations

from typing import Any

from ..distributions.base import Distribution
from ..distributions.families.normal import Normal


def from_pair(obj: Any) -> Distribution | None:
    """A tuple (mean, std), as ``predict(X, return_std=True)`` gives: normal laws."""
    if not isinstance(obj, tuple):
        return None
    if len(obj) != 2:
        raise TypeError(f"a tuple must be (mean, std); got {len(obj)} entries.")
    return Normal(*obj)
