"""Calibrators of one score, ours or another library's, as parts of calibrators of several."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._checks import Array, to_array
from ..adapters.class_scores import ClassScores
from .contract import Takes

METHODS = ("transform", "predict_proba", "predict")


def check_one_score(calibrator: Any, name: str) -> Any:
    """Return the calibrator if it is an object with `fit`, and a method that gives probabilities."""
    told = isinstance(calibrator, type) or not hasattr(calibrator, "fit")
    if told or not any(hasattr(calibrator, method) for method in METHODS):
        raise TypeError(f"`{name}` must have fit and one of transform, predict_proba, predict; got {calibrator!r}.")
    return calibrator


def fit_one_score(calibrator: Any, x: Array, kind: str, events: NDArray[np.bool_], weights: Array | None) -> Any:
    """A copy, fitted to scores (n,) of a kind that `ClassScores` knows and whether the event happened (n,)."""
    extra = {} if weights is None else {"sample_weight": weights}
    return clone(calibrator).fit(_one(calibrator, x, kind), events.astype(int), **extra)


def one_probability(calibrator: Any, x: Array, kind: str) -> Array:
    """Probabilities (n,) of the event by a fitted calibrator, or an error that says what came instead.

    >>> from calibrant import PlattCalibrator
    >>> x, events = np.array([-2.0, -1.0, 1.0, 0.5]), np.array([False, False, True, False])
    >>> one_probability(fit_one_score(PlattCalibrator(), x, "margins", events, None), x[:1], "margins").round(3)
    array([0.145])
    """
    method = next(name for name in METHODS if hasattr(calibrator, name))
    p = to_array(getattr(calibrator, method)(_one(calibrator, x, kind)), f"{method} of the calibrator")
    return _checked(p if p.ndim == 1 else p[:, -1], method, len(x))


def _one(calibrator: Any, x: Array, kind: str) -> Any:
    """Scores of one event against the rest, as the calibrator wants them."""
    declared = getattr(calibrator, "takes", None)
    if isinstance(declared, Takes) and "scores" in declared.forecasts:
        first = {"probabilities": 1 - x, "logits": np.zeros(len(x))}.get(kind, -x)
        return ClassScores(np.column_stack([first, x]), kind)
    wants_column = hasattr(calibrator, "predict_proba") and not hasattr(calibrator, "transform")
    return x[:, None] if wants_column else x


def _checked(p: Array, method: str, rows: int) -> Array:
    wrong = ~((p >= 0) & (p <= 1))
    if p.shape != (rows,) or wrong.any():
        what = f"shape {p.shape}" if p.shape != (rows,) else f"{p[np.argmax(wrong)]} in row {int(np.argmax(wrong))}"
        raise ValueError(f"`{method}` of the calibrator must give a probability for each of {rows} rows; got {what}.")
    return p
