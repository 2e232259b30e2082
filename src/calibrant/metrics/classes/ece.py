"""Expected calibration error in bins."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import ndtr

from ..._checks import Array, one_of
from ..._types import Labels, Weights
from .bins import Binning, ForecastBins
from .forecasts import ClassForecasts, EventForecasts, Probabilities, class_forecasts

Kind = Literal["auto", "binary", "top-label", "class-wise"]


def ece(
    y_true: Labels,
    y_proba: Probabilities,
    /,
    *,
    kind: Kind = "auto",
    bins: Binning = "width",
    n_bins: int = 15,
    norm: float = 1,
    debiased: bool = False,
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> float:
    r"""Expected calibration error: distance of mean forecast and observed frequency in bins of the forecast.

    .. math:: \Bigl( \sum_b \frac{n_b}n |\bar p_b - \bar f_b|^q \Bigr)^{1/q}

    Naeini et al. (2015) and Guo et al. (2017) with q = 1; Kumar et al. (2019) with q = 2; the largest distance with q
    = inf. A calibrated forecaster does not score 0 but ``noise_floor(ece, y_proba)``.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`.
    kind : {"auto", "binary", "top-label", "class-wise"}
        Forecasts of the second of two classes; of the most probable class (the first of equally probable ones),
        whether it came; or each class against the rest and the mean over the classes. "auto" is binary for two classes,
        else top-label.
    bins : {"width", "right", "mass"}
        Bins of equal width, :math:`\lfloor p B \rfloor` with p = 1 in the last one; the same closed on the right,
        :math:`[0, \frac1B], (\frac1B, \frac2B], \dots` (Kuleshov et al. 2018, §2.2); or of (nearly) equal numbers of
        rows, where equal forecasts share a bin. Empty bins count for nothing.
    n_bins : int
        Number of bins B.
    norm : {1, 2, inf}
        The exponent q.
    debiased : bool
        Take away what noise adds in expectation: with q = 2 :math:`\bar f_b(1 - \bar f_b)/(n_b - 1)` from each squared
        distance (Kumar et al. 2019; Bröcker 2012), with q = 1 what a normal error of that variance adds to the
        absolute distance. Bins with a single row then count for nothing; what falls below 0 is 0.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.ece(["no", "no", "yes", "yes"], [0.1, 0.4, 0.4, 1.0], n_bins=10)
    0.075
    """
    if norm not in (1, 2, np.inf) or (debiased and norm == np.inf):
        wrong = f"`norm` must be 1, 2 or inf, and 1 or 2 where debiased; got {norm!r}."
        raise ValueError(wrong)
    problems = problems_of_kind(class_forecasts(y_true, y_proba, classes, sample_weight), kind)
    return float(np.mean([binned_error(problem, bins, n_bins, norm, debiased) for problem in problems]))


def problems_of_kind(forecasts: ClassForecasts, kind: Kind) -> list[EventForecasts]:
    """The binary problems whose calibration is asked for."""
    one_of(kind, "kind", ("auto", "binary", "top-label", "class-wise"))
    if kind == "class-wise":
        return forecasts.one_against_rest()
    if kind == "top-label" or (kind == "auto" and forecasts.n_classes > 2):
        return [forecasts.top()]
    return [forecasts.binary('kind="binary"')]


def binned_error(problem: EventForecasts, bins: Binning, n_bins: int, norm: float, debiased: bool) -> float:
    """The error of one binary problem."""
    cells = ForecastBins.of(problem, bins, n_bins).used
    distance = np.abs(cells.forecast - cells.share)
    if norm == np.inf:
        return float(distance.max())
    powers = distance**norm
    if debiased:
        powers = powers - _noise(cells, distance, norm)
    return float(max(0.0, np.dot(cells.mass, powers) / cells.mass.sum()) ** (1 / norm))


def _noise(cells: ForecastBins, distance: Array, norm: float) -> Array:
    """What sampling noise adds to the distance, or to its square; all of it where a bin has one row."""
    several = cells.mass > 1
    variance = cells.share * (1 - cells.share) / np.where(several, cells.mass - 1, 1.0)
    if norm == 1:
        std = np.sqrt(variance)
        ratio = np.divide(distance, std, out=np.full(len(std), np.inf), where=std > 0)
        added = std * np.sqrt(2 / np.pi) * np.exp(-0.5 * ratio**2) - 2 * distance * ndtr(-ratio)
    else:
        added = variance
    return np.where(several, added, distance**norm)
