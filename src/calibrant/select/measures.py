"""What is measured on held-out rows, row by row, and what becomes of it when all rows are together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from .._checks import Array
from ..distributions import Distribution, Normal
from ..distributions.scores import log_pits, score_intervals
from ..metrics import anderson_darling, brier_score, calibration_error, crps, ece, log_loss, nll, pinball_loss

Rows = dict[str, Array]  # by name: one value a held-out row
FAR = 1e3  # no normal score is taken for larger


def of_law(y: NDArray[Any], law: Distribution, *, full: bool = True) -> Rows:
    """Scores of each row, its predicted deviation, and the normal score of its PIT value; or only the loss."""
    if not full:
        return {"loss": _loss(y, law)}
    low, high = log_pits(*score_intervals(law, y), "mid")
    z = np.where(low < high, ndtri_exp(low), -ndtri_exp(high))
    return {
        "loss": _loss(y, law),
        "CRPS": np.asarray(crps(y, law, per_row=True)),
        "pinball": np.asarray(pinball_loss(y, law, per_row=True)),
        "sharpness": np.asarray(law.std()),
        "z": np.clip(z, -FAR, FAR),
    }


def of_classes(y: NDArray[Any], p: Array, classes: NDArray[Any]) -> Rows:
    """Scores of each row; how sure its forecast was, and whether it was right."""
    top = np.argmax(p, axis=1) if len(classes) > 2 else np.ones(len(p), dtype=np.intp)
    return {
        "loss": np.asarray(log_loss(y, p, classes=classes, per_row=True)),
        "Brier": np.asarray(brier_score(y, p, classes=classes, per_row=True)),
        "sure": p[np.arange(len(p)), top],
        "right": (classes[top] == y).astype(np.float64),
    }


def _loss(y: NDArray[Any], law: Distribution) -> Array:
    """Minus the log density; the CRPS of laws with atoms, which have none."""
    return np.asarray(crps(y, law, per_row=True) if law.has_atoms else nll(y, law, per_row=True))


MEANS = {"regression": {"NLL": "loss", "CRPS": "CRPS", "pinball": "pinball", "sharpness": "sharpness"}}
MEANS["classification"] = {"log loss": "loss", "Brier": "Brier"}


def _of_certainty(rows: Rows, w: Array) -> float:
    return float(ece(rows["right"] > 0, rows["sure"], classes=[False, True], sample_weight=w))


def _of_scores(measure: Callable[..., Any]) -> Callable[[Rows, Array], float]:
    """A measure of PIT values, which are those of standard normal forecasts of their scores."""
    return lambda rows, w: float(measure(rows["z"], Normal(np.zeros(len(w)), np.ones(len(w))), sample_weight=w))


WHOLE: dict[str, dict[str, Callable[[Rows, Array], float]]] = {
    "regression": {"calibration error": _of_scores(calibration_error), "A²": _of_scores(anderson_darling)},
    "classification": {"ECE": _of_certainty},
}


def summarised(task: str, parts: list[tuple[Rows, Array]]) -> dict[str, tuple[float, float]]:
    """Value and standard error of each measure from the rows of all folds and their weights.

    Of means the error comes from the spread of rows, of measures of all rows together from that of the folds.
    """
    weights = np.concatenate([w for _, w in parts])
    whole = {name: np.concatenate([rows[name] for rows, _ in parts]) for name in parts[0][0]}
    found: dict[str, tuple[float, float]] = {}
    for name, column in MEANS[task].items():
        mean = float(np.average(whole[column], weights=weights))
        with np.errstate(invalid="ignore"):
            spread = float(np.average(np.square(whole[column] - mean), weights=weights))
        found[name] = (mean, float(np.sqrt(spread / weights.sum())))
    for name, measure in WHOLE[task].items():
        each = [measure(rows, w) for rows, w in parts]
        error = float(np.std(each, ddof=1) / np.sqrt(len(each))) if len(each) > 1 else np.nan
        found[name] = (measure(whole, weights), error)
    return found
