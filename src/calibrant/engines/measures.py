"""The measures of a report, with intervals, for laws and for class probabilities."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..metrics import (
    MetricInterval,
    anderson_darling,
    bootstrap_interval,
    brier_score,
    calibration_error,
    coverage,
    crps,
    ece,
    log_loss,
    mean_interval,
    nll,
    sharpness,
)

RESAMPLES, MOST_ROWS = 200, 5000  # for measures that are no means; of more rows a sample is resampled
Measure = Callable[..., Any]

MEANS: dict[str, dict[str, Measure]] = {
    "regression": {
        "NLL": nll,
        "CRPS": crps,
        "50 % interval": partial(coverage, coverage=0.5),
        "90 % interval": partial(coverage, coverage=0.9),
        "99 % interval": partial(coverage, coverage=0.99),
        "mean std": partial(sharpness, kind="std"),
    },
    "classification": {"log loss": log_loss, "Brier score": brier_score},
}
OTHERS: dict[str, dict[str, Measure]] = {
    "regression": {"calibration error": calibration_error, "A²": anderson_darling},
    "classification": {"ECE": ece},
}
LOSS = {"regression": "NLL", "classification": "log loss"}
CALIBRATION = {"regression": "calibration error", "classification": "ECE"}


def measured(task: str, y: NDArray[Any], forecasts: Any, weights: Array | None) -> dict[str, MetricInterval]:
    """All measures of one stage; those that do not exist for these forecasts are left out."""
    found: dict[str, MetricInterval] = {}
    for name, measure in MEANS[task].items():
        _try(found, name, partial(mean_interval, measure, y, forecasts, sample_weight=weights))
    rows = _some(len(y))
    part = None if weights is None else weights[rows]
    for name, measure in OTHERS[task].items():
        _try(found, name, partial(_around, measure, y[rows], forecasts[rows], part))
    return found


def _around(measure: Measure, y: NDArray[Any], forecasts: Any, weights: Array | None) -> MetricInterval:
    """Interval of a measure that is never below 0 and that noise enlarges: around its value."""
    found = bootstrap_interval(measure, y, forecasts, sample_weight=weights, n_resamples=RESAMPLES, method="normal")
    return MetricInterval(found.value, max(0.0, found.low), found.high)


def values(
    task: str, y: NDArray[Any], forecasts: Any, weights: Array | None, classes: NDArray[Any] | None = None
) -> dict[str, float]:
    """The measures of a group, without intervals; a group need not have rows of all classes."""
    known = {} if classes is None else {"classes": classes}
    found: dict[str, float] = {}
    for name, measure in (MEANS[task] | OTHERS[task]).items():
        try:
            found[name] = float(measure(y, forecasts, sample_weight=weights, **known))
        except (TypeError, ValueError):
            continue
    return found


def reaches(
    task: str, y: NDArray[Any], forecasts: Any, weights: Array | None, classes: NDArray[Any] | None = None
) -> dict[str, tuple[float, float]]:
    """Intervals around those measures of a group that are means over its rows."""
    known = {} if classes is None else {"classes": classes}
    found: dict[str, MetricInterval] = {}
    for name, measure in MEANS[task].items():
        _try(found, name, partial(mean_interval, partial(measure, **known), y, forecasts, sample_weight=weights))
    return {name: (float(around.low), float(around.high)) for name, around in found.items()}


def of_class(y: NDArray[Any], label: Any, forecast: Array, weights: Array | None) -> dict[str, float]:
    """How often a class came, how often it was forecast, and how far off its forecasts are."""
    came = y == label
    error = ece(came, forecast, classes=[False, True], sample_weight=weights)
    share, mean = (float(np.average(part, weights=weights)) for part in (came, forecast))
    return {"share": share, "mean forecast": mean, "ECE": error}


def common_loss(task: str, measures: dict[str, dict[str, MetricInterval]]) -> str:
    """The loss by which stages are compared: the CRPS where a law with atoms among them has no density."""
    name = LOSS[task]
    return name if all(name in found for found in measures.values()) else "CRPS"


def losses(task: str, y: NDArray[Any], forecasts: Any, name: str) -> Array:
    """The loss of this name by row."""
    return np.asarray(MEANS[task][name](y, forecasts, per_row=True))


def _some(n: int) -> NDArray[np.intp]:
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))


def _try(found: dict[str, MetricInterval], name: str, measure: Callable[[], MetricInterval]) -> None:
    try:
        with np.errstate(invalid="ignore"):  # where a value is infinite, the interval is not known
            found[name] = measure()
    except (TypeError, ValueError):
        return
