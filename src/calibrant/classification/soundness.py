"""Whether calibrators of class scores, which may come from anywhere, make probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import Array
from ..adapters.class_scores import ClassScores


def example_scores(n_classes: int, kind: str) -> ClassScores:
    """A few rows of scores: certain ones and others.

    >>> example_scores(2, "logits").values[:2]
    array([[ 4., -4.],
           [-4.,  4.]])
    """
    weights = np.arange(1.0, 5 * n_classes + 1).reshape(5, n_classes) % 7 + 0.1
    values = np.vstack([np.eye(2, n_classes), weights / weights.sum(axis=1, keepdims=True)])
    return ClassScores(8 * values - 4 if kind in ("margins", "logits") else values, kind)


def check_class_forecasts(before: ClassScores, after: Any) -> None:
    """Raise ValueError if these are no probabilities, (n, K), or numbers of the positive class, (n,)."""
    p: Array = np.asarray(after)
    if not np.isfinite(p).all() or p.shape not in (before.shape, before.shape[:1]):
        raise ValueError("its forecasts are no probabilities.")
    if p.ndim == 2 and (p.min() < 0 or np.abs(p.sum(axis=1) - 1).max() > 1e-6):
        raise ValueError("its forecasts are no probabilities.")
