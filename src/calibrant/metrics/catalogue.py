"""Every measure of forecasts: its key, its words, its unit, what is better, and how it is worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from .._checks import Array
from ._inputs import average, level_grid
from .classes.brier import brier_score
from .classes.ece import binned_error, ece
from .classes.probabilities import log_loss
from .classes.specification import SPECIFICATIONS, Specification
from .evaluation import ClassEvaluation, LawEvaluation
from .intervals import coverage
from .points.errors import mae, mse
from .quantile_calibration import calibration_error, calibration_floor, frequencies_of_weights
from .scores import crps, nll, pinball_loss
from .spread import ence, sharpness
from .tests.uniformity import anderson_darling, anderson_darling_of, ordered_pits

LEVEL = 0.9  # of all intervals around measures
RESAMPLES = 200
_ONE = 1.01  # rows; weights that add up to about one row tell no spread
Unit = Literal["nats", "share", "outcome", ""]
OfWeights = Callable[[Array], float]
Counts = NDArray[np.int64]


class Measured(NamedTuple):
    """Value of a measure, its standard error, and the ends of a 90 % interval around it."""

    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True)
class Measure:
    """One measure.

    Attributes
    ----------
    key : str
        Its name in results and files.
    label : str
        Its name in tables and pictures.
    words : str
        What it says, in plain words.
    function : callable
        ``function(y_true, forecasts, sample_weight=...)``, the measure itself.
    unit : {"nats", "share", "outcome", ""}
        Nats, a share of rows, the unit of the outcome, or none.
    task : {"regression", "classification"}
    rows : callable, optional
        From an evaluation to one value a row, where the measure is their mean.
    whole : callable, optional
        From an evaluation to a function of the rows' weights, where it is not.
    goal : float, optional
        The best value; None: the smaller the better.
    prominence : {"headline", "trial", "summary"}
        Whether it is among the few most telling ones, in every comparison, or in summaries only.
    """

    key: str
    label: str
    words: str
    function: Callable[..., Any]
    unit: Unit
    task: str = "regression"
    rows: Callable[[Any], Array] | None = None
    whole: Callable[[Any], OfWeights] | None = None
    goal: float | None = None
    prominence: Literal["headline", "trial", "summary"] = "trial"

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean over rows."""
        return self.rows is not None

    def of(self, evaluation: Any, weights: Array) -> float:
        """The value."""
        if self.rows is not None:
            return average(self.rows(evaluation), weights)
        return self._whole(evaluation)(weights)

    def measured(
        self, evaluation: Any, weights: Array, n: float | None = None, drawn: Iterable[Counts] | None = None
    ) -> Measured:
        """Value, standard error and interval, from rows that are worth n independent ones (the sum of the weights).

        ``drawn`` is what :func:`drawn_again` gives, where several measures share it.
        """
        n = float(weights.sum()) if n is None else n
        if self.rows is None:
            return _resampled(self._whole(evaluation), weights, drawn_again(weights, n) if drawn is None else drawn)
        values = self.rows(evaluation)
        return _share(values, weights, n) if self.unit == "share" else _mean(values, weights, n)

    def _whole(self, evaluation: Any) -> OfWeights:
        if self.whole is None:
            raise TypeError(f"{self.key} has no way to be worked out.")
        return self.whole(evaluation)


def _mean(values: Array, weights: Array, n: float) -> Measured:
    """A mean, with the interval of Student's t."""
    mean = average(values, weights)
    with np.errstate(invalid="ignore"):  # where a value is infinite, the interval is not known
        error = np.sqrt(average(np.square(values - mean), weights) / (n - 1)) if n > _ONE else np.nan
    reach = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * error if n > _ONE else np.nan
    return Measured(mean, float(error), float(mean - reach), float(mean + reach))


def _share(values: Array, weights: Array, n: float) -> Measured:
    """A share of rows, with Wilson's interval, which stays within 0 and 1."""
    p, z = average(values, weights), float(ndtri(0.5 + LEVEL / 2))
    centre, shrink = p + z * z / (2 * n), 1 + z * z / n
    reach = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (centre - reach) / shrink, (centre + reach) / shrink
    return Measured(p, float(np.sqrt(p * (1 - p) / n)), min(p, max(0.0, float(low))), max(p, min(1.0, float(high))))


def drawn_again(weights: Array, n: float) -> Iterator[Counts]:
    """How often each row comes when n rows are drawn again with these weights, 200 times, always the same."""
    rng, share, size = np.random.default_rng(0), weights / weights.sum(), max(1, round(n))
    return (rng.multinomial(size, share) for _ in range(RESAMPLES))


def _resampled(value_of: OfWeights, weights: Array, drawn: Iterable[Counts]) -> Measured:
    """A measure of all rows together, never below 0, with the spread of its values on rows drawn again."""
    value = value_of(weights)
    error = float(np.std([value_of(times.astype(np.float64)) for times in drawn], ddof=1))
    reach = float(ndtri(0.5 + LEVEL / 2)) * error
    return Measured(value, error, max(0.0, value - reach), value + reach)


# ---- how measures of all rows together are worked out ----
def _calibration_error(evaluation: LawEvaluation) -> OfWeights:
    grid = level_grid(10)
    frequencies = frequencies_of_weights(evaluation.scores, grid)
    return lambda weights: float(np.square(grid - frequencies(weights)).sum())


def _anderson_darling(evaluation: LawEvaluation) -> OfWeights:
    low, high, order = ordered_pits(*evaluation.scores)
    return lambda weights: _of_rows_there(low, high, weights[order])


def _of_rows_there(low: Array, high: Array, weights: Array) -> float:
    there = weights > 0  # an outcome that was ruled out counts only where it is drawn
    return anderson_darling_of(low[there], high[there], weights[there])


def _ece(evaluation: ClassEvaluation) -> OfWeights:
    events = evaluation.events
    return lambda weights: binned_error(type(events)(events.p, events.events, weights), "width", 15, 1, False)


def _of_laws(function: Callable[..., Any]) -> Callable[[LawEvaluation], OfWeights]:
    return lambda evaluation: lambda w: float(function(evaluation.y, evaluation.law, sample_weight=w))


def _of_classes(each: Specification) -> Measure:
    def whole(evaluation: ClassEvaluation) -> OfWeights:
        names = evaluation.classes
        return lambda w: float(each.function(names[evaluation.codes], evaluation.p, classes=names, sample_weight=w))

    key, label, words, function, unit = each
    return Measure(key, label, words, function, unit, "classification", whole=whole, prominence="summary")


def _rmse(y: Any, law: Any, sample_weight: Any = None) -> float:
    return float(np.sqrt(mse(y, law, sample_weight=sample_weight)))


def _floor(y: Any, law: Any, sample_weight: Any = None) -> float:
    return calibration_floor(len(y) if sample_weight is None else float(np.sum(sample_weight)))


def _coverage(c: float, prominence: Any = "trial") -> Measure:
    percent = f"{100 * c:g} %"
    return Measure(
        f"coverage_{100 * c:g}",
        f"{percent} interval",
        f"outcomes in {percent} intervals; best: {percent}",
        partial(coverage, coverage=c),
        "share",
        rows=lambda evaluation: evaluation.inside(c),
        goal=c,
        prominence=prominence,
    )


MEASURES: dict[str, Measure] = {
    measure.key: measure
    for measure in (
        Measure(
            "nll",
            "NLL",
            "how improbable the outcomes were, in nats; smaller is better",
            nll,
            "nats",
            rows=lambda evaluation: evaluation.nll,
            prominence="headline",
        ),
        Measure(
            "crps",
            "CRPS",
            "distance of forecast and outcome, in units of the outcome; smaller is better",
            crps,
            "outcome",
            rows=lambda evaluation: evaluation.crps,
            prominence="headline",
        ),
        Measure(
            "pinball_loss",
            "pinball loss",
            "distance of outcomes from 19 quantiles, in units of the outcome; smaller is better",
            pinball_loss,
            "outcome",
            rows=lambda evaluation: evaluation.pinball,
            prominence="summary",
        ),
        _coverage(0.5),
        _coverage(0.9, "headline"),
        _coverage(0.99),
        Measure(
            "calibration_error",
            "calibration error",
            "distance of promised and observed shares; 0 is perfect",
            calibration_error,
            "",
            whole=_calibration_error,
            prominence="headline",
        ),
        Measure(
            "calibration_floor",
            "its noise floor",
            "calibration error of a perfect forecaster on as many rows",
            _floor,
            "",
            whole=_of_laws(_floor),
            prominence="summary",
        ),
        Measure(
            "anderson_darling",
            "A²",
            "Anderson–Darling test of calibration, tails included; about 1 is perfect",
            anderson_darling,
            "",
            whole=_anderson_darling,
            prominence="headline",
        ),
        Measure(
            "mean_std",
            "mean std",
            "predicted standard deviation; among calibrated forecasts smaller is better",
            partial(sharpness, kind="std"),
            "outcome",
            rows=lambda evaluation: evaluation.std,
            prominence="headline",
        ),
        Measure(
            "mae",
            "MAE",
            "mean distance of median and outcome; smaller is better",
            mae,
            "outcome",
            rows=lambda evaluation: np.abs(evaluation.y - evaluation.law.median()),
            prominence="summary",
        ),
        Measure(
            "rmse",
            "RMSE",
            "root mean squared error of the means; smaller is better",
            _rmse,
            "outcome",
            whole=_of_laws(_rmse),
            prominence="summary",
        ),
        Measure(
            "ence",
            "ENCE",
            "distance of predicted and real spread in bins of the predicted one; 0 is perfect",
            ence,
            "",
            whole=_of_laws(ence),
            prominence="summary",
        ),
        Measure(
            "log_loss",
            "log loss",
            "how improbable the labels were, in nats; smaller is better",
            log_loss,
            "nats",
            "classification",
            rows=lambda evaluation: evaluation.log_loss,
            prominence="headline",
        ),
        Measure(
            "brier_score",
            "Brier score",
            "mean squared error of the probabilities; smaller is better",
            brier_score,
            "",
            "classification",
            rows=lambda evaluation: evaluation.brier,
            prominence="headline",
        ),
        Measure(
            "ece",
            "ECE",
            "mean distance of promised and observed shares; smaller is better",
            ece,
            "share",
            "classification",
            whole=_ece,
            prominence="headline",
        ),
        *map(_of_classes, SPECIFICATIONS),
    )
}
LOSS = {"regression": "nll", "classification": "log_loss"}
CALIBRATION = {"regression": "calibration_error", "classification": "ece"}
FRONT = {"regression": ("nll", "anderson_darling"), "classification": ("log_loss", "ece")}
"""The two objectives of Carney and Cunningham (2006): sharpness with calibration, and calibration alone."""


def measures_of(task: str, *prominences: str) -> list[Measure]:
    """The measures of a task, those of every comparison unless told which.

    >>> [measure.label for measure in measures_of("classification")]
    ['log loss', 'Brier score', 'ECE']
    """
    wanted = prominences or ("headline", "trial")
    return [measure for measure in MEASURES.values() if measure.task == task and measure.prominence in wanted]


def label(key: str) -> str:
    """Name of a measure in tables and pictures; other names as they are."""
    return MEASURES[key].label if key in MEASURES else key
