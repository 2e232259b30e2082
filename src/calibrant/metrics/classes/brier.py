"""Brier score of class probabilities and what it is made of."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..._brief import Brief
from ..._checks import Array, count, one_of
from ..._types import Labels, Weights
from ...links.groups import Groups
from .._inputs import average, no_weights_per_row
from .bins import Binning, ForecastBins
from .forecasts import ClassForecasts, EventForecasts, Probabilities, class_forecasts, class_scale


@dataclass(frozen=True, slots=True, repr=False)
class BrierDecomposition(Brief):
    """A Brier score and its parts.

    ``brier = miscalibration - discrimination + uncertainty + within_variance - within_covariance``; the last two are 0
    unless different forecasts share a bin.
    """

    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    within_variance: float = 0.0
    within_covariance: float = 0.0

    @property
    def reliability(self) -> float:
        """Murphy's name of the miscalibration."""
        return self.miscalibration

    @property
    def resolution(self) -> float:
        """Murphy's name of the discrimination."""
        return self.discrimination


def brier_score(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    scale: str = "auto",
    classes: Labels | None = None,
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Mean squared error of class probabilities; smaller is better.

    .. math:: \frac cT \sum_t \sum_j (p_{tj} - 1\{y_t = j\})^2

    Parameters
    ----------
    y_true : array-like (n,)
        Labels of any type.
    y_proba : array-like (n,) or (n, K)
        Probabilities of the second of two classes in sorted order, or of all classes in sorted order.
    scale : {"auto", "chapter", "sum"}
        "auto" is scikit-learn's, from 0 to 1 for two classes (c = 1/2) and from 0 to 2 for more (c = 1); "chapter" is
        the MSE of Bella et al. (2010), which divides by the number of classes (c = 1/K); "sum" is Brier's, c = 1.
    classes : array-like (K,), optional
        Labels of the columns; the sorted labels of ``y_true`` unless told. Integers 0 to K - 1 number the columns.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.
    per_row : bool
        Return the n values instead of their mean.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.brier_score(["ham", "spam"], [0.5, 0.8])
    0.145
    >>> metrics.brier_score([0, 2], [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]], scale="chapter")
    0.1233
    """
    no_weights_per_row(sample_weight, per_row)
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    squares = brier_scores(forecasts, scale)
    return squares if per_row else average(squares, forecasts.weights)


def brier_scores(forecasts: ClassForecasts, scale: str = "auto") -> Array:
    """The score of each row."""
    if forecasts.proba.ndim == 1:
        squares = 2 * np.square(forecasts.proba - (forecasts.codes == 1))
    else:
        errors = forecasts.proba.copy()
        errors[np.arange(len(errors)), forecasts.codes] -= 1
        squares = np.einsum("ij,ij->i", errors, errors)
    return np.asarray(squares * class_scale(scale, forecasts.n_classes))


def brier_decomposition(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    method: Literal["murphy", "pav"] = "murphy",
    bins: Binning | None = None,
    n_bins: int = 10,
    scale: str = "auto",
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> BrierDecomposition:
    r"""Brier score as miscalibration - discrimination + uncertainty, exactly.

    Rows are grouped by their forecast, each class on its own; group g has :math:`n_g` rows, mean forecast
    :math:`\bar p_g` and share of events :math:`\bar f_g`, all rows together :math:`\bar f`. Then (Murphy 1972)

    .. math:: \text{miscalibration} = \sum_g \frac{n_g}n (\bar p_g - \bar f_g)^2, \quad
        \text{discrimination} = \sum_g \frac{n_g}n (\bar f_g - \bar f)^2, \quad
        \text{uncertainty} = \bar f (1 - \bar f).

    With bins, forecasts of a group differ, which adds their variance :math:`\frac1n \sum (p - \bar p_g)^2` and takes
    away twice their covariance with the events, :math:`\frac2n \sum (p - \bar p_g)(f - \bar f_g)` (Stephenson et al.
    2008). With ``method="pav"`` (CORP; Dimitriadis et al. 2021) miscalibration is what isotonic recalibration of the
    same rows would gain, discrimination what its result gains over always forecasting :math:`\bar f`; no bins are
    needed.

    Parameters
    ----------
    y_true, y_proba, scale, classes, sample_weight
        As in :func:`brier_score`.
    method : {"murphy", "pav"}
        Groups of rows, or isotonic regression.
    bins : {None, "width", "right", "mass"}
        Groups of equal forecasts, which say little where nearly all differ (a warning tells), or bins of equal width,
        the same closed on the right, or of equal numbers of rows, as in :func:`ece`.
    n_bins : int
        Number of bins.

    Examples
    --------
    >>> from calibrant import metrics
    >>> parts = metrics.brier_decomposition([0, 0, 0, 1, 1, 1, 1, 0], [0.2] * 4 + [0.9] * 4)
    >>> parts.brier, parts.miscalibration, parts.discrimination, parts.uncertainty
    (0.2, 0.0125, 0.0625, 0.25)

    Differs from the paper in: the decomposition printed by Bella et al. (2010) counts :math:`n_g` twice and does not
    divide by n; this is Murphy's, which adds up.
    """
    one_of(method, "method", ("murphy", "pav"))
    count(n_bins, "n_bins")
    if method == "pav" and bins is not None:
        raise ValueError(f"`bins` must be None with method='pav', which finds its own groups; got {bins!r}.")
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    columns = forecasts.one_against_rest()
    if bins is not None:
        parts = [_binned(column, bins, n_bins) for column in columns]
    elif method == "pav":
        parts = [_pooled(Groups.of(column.p, column.events, column.weights)) for column in columns]
    else:
        groups = [Groups.of(column.p, column.events, column.weights) for column in columns]
        _warn_of_single_rows(groups)
        parts = [_grouped(group) for group in groups]
    factor = class_scale(scale, forecasts.n_classes) * (2 if len(columns) == 1 else 1)
    score = brier_score(y_true, y_proba, scale=scale, classes=classes, sample_weight=sample_weight)
    return BrierDecomposition(float(score), *(factor * np.sum(parts, axis=0)).tolist())


def _warn_of_single_rows(groups: list[Groups]) -> None:
    different, rows = max(len(group.x) for group in groups), groups[0].mass.sum()
    if different > 0.5 * rows > 0.5:
        warnings.warn(
            f"{different} of {rows:g} scores are different, so most groups are single rows and their miscalibration is "
            'nearly the whole score. Use method="pav" or bins="mass".',
            stacklevel=3,
        )


def _grouped(groups: Groups) -> tuple[float, ...]:
    """Miscalibration, discrimination, uncertainty and twice nothing of groups of equal forecasts."""
    n, share, base = groups.mass.sum(), groups.share, groups.base_rate
    miscalibration = np.dot(groups.mass, np.square(groups.x - share)) / n
    return float(miscalibration), float(np.dot(groups.mass, np.square(share - base)) / n), base * (1 - base), 0.0, 0.0


def _pooled(groups: Groups) -> tuple[float, ...]:
    """The same with isotonic regression in place of the groups' own shares."""
    n, share, base, pooled = groups.mass.sum(), groups.share, groups.base_rate, groups.rising()
    gain = np.square(groups.x - share) - np.square(pooled - share)
    discrimination = np.dot(groups.mass, np.square(pooled - base)) / n
    return float(np.dot(groups.mass, gain) / n), float(discrimination), base * (1 - base), 0.0, 0.0


def _binned(column: EventForecasts, bins: Binning, n_bins: int) -> tuple[float, ...]:
    """The same of bins, with the variance of forecasts within them and twice their covariance with the events."""
    cells = ForecastBins.of(column, bins, n_bins)
    off = column.p - cells.forecast[cells.labels]
    variance = average(np.square(off), column.weights)
    covariance = average(off * (column.events - cells.share[cells.labels]), column.weights)
    used = cells.used
    n, base = used.mass.sum(), np.dot(used.mass, used.share) / used.mass.sum()
    miscalibration = np.dot(used.mass, np.square(used.forecast - used.share)) / n
    discrimination = np.dot(used.mass, np.square(used.share - base)) / n
    return float(miscalibration), float(discrimination), float(base * (1 - base)), variance, 2 * covariance
