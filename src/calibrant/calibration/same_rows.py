"""Calibrating on rows that the base model was trained on: noticing it, and saying so."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._checks import to_array
from ..adapters.nested import descend


class SameRowsWarning(UserWarning):
    """A calibrator learns from rows that its base model was trained on, and takes the model to be too good."""


def warn_same(reason: str, *, stacklevel: int = 6) -> None:
    """Tell the caller of `fit`."""
    warnings.warn(
        f"The calibrator is fitted on rows that its base model was trained on ({reason}); its intervals will be too "
        "narrow. Use held-out rows with a frozen estimator, or cv=5.",
        SameRowsWarning,
        stacklevel=stacklevel,
    )


def warn_if_seen(model: Any, X: Any, *, hits_all: bool) -> None:
    """Warn if a fitted model was probably trained on these rows: it still holds them, or it hits every outcome.

    A model that keeps nothing and fits loosely gives no sign; only its owner knows.
    """
    held = _held_rows(model, X)
    if held > 0.5:
        warn_same(f"{held:.0%} of the rows are among those that the model holds", stacklevel=7)
    elif hits_all:
        warn_same("it hits every outcome", stacklevel=7)


def _held_rows(model: Any, X: Any) -> float:
    """Share of the rows of X that are among training rows kept by the model (Gaussian process, neighbours), or 0."""
    inner, X = descend(model, X)
    kept = next((getattr(inner, name) for name in ("X_train_", "_fit_X") if hasattr(inner, name)), None)
    if kept is None:
        return 0.0
    try:
        seen, rows = to_array(kept, "X"), to_array(X, "X")
    except TypeError:  # texts, sparse matrices
        return 0.0
    if seen.ndim != 2 or rows.ndim != 2 or seen.shape[1] != rows.shape[1]:
        return 0.0
    known = {row.tobytes() for row in seen}
    return float(np.mean([row.tobytes() in known for row in rows]))
