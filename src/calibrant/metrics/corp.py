"""Scores as miscalibration, discrimination and uncertainty, by isotonic recalibration of the same rows (CORP)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from .._brief import Brief
from .._types import Labels, Numbers, Weights
from ..links.groups import Groups
from ._inputs import average
from .classes.forecasts import Probabilities, class_forecasts
from .classes.probabilities import log_losses
from .points.errors import Points, paired_points
from .points.functionals import Functional


@dataclass(frozen=True, slots=True, repr=False)
class ScoreDecomposition(Brief):
    """Score = miscalibration - discrimination + uncertainty; none of the three is negative."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    @property
    def potential(self) -> float:
        """The score that isotonic recalibration of the same rows would reach."""
        return self.uncertainty - self.discrimination


def pinball_decomposition(
    y_true: Numbers, y_pred: Points, *, level: float = 0.5, sample_weight: Weights = None
) -> ScoreDecomposition:
    r"""Pinball loss of quantile forecasts as miscalibration - discrimination + uncertainty.

    .. math:: \text{miscalibration} = \bar S(x) - \bar S(\hat x), \quad
        \text{discrimination} = \bar S(r) - \bar S(\hat x), \quad \text{uncertainty} = \bar S(r),

    where :math:`\bar S` is the mean of :math:`(\tau - 1\{y < x\})(y - x)`, the :math:`\hat x` are the isotonic
    regression of the outcomes on the forecasts, of all rising functions of these the one with the least
    :math:`\bar S`, and r is the quantile of all outcomes. Gneiting and Resin (2023), after Dimitriadis et al. (2021).
    Miscalibration is what recalibration of the same rows would gain, so a little above 0 even of perfect forecasts.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes.
    y_pred : array-like (n,) or Distribution
        Quantiles; those of a Distribution.
    level : float
        Level of the quantiles.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.pinball_decomposition([1.0, 4.0, 3.0, 9.0], [2.0, 3.0, 4.0, 5.0])
    ScoreDecomposition(score=0.875, miscalibration=0.75, discrimination=1, uncertainty=1.125)

    Differs from the paper in: rows have weights, and rounding below 0 is 0.
    """
    return _recalibrated(Functional.named("quantile", level), y_true, y_pred, sample_weight)


def expectile_decomposition(
    y_true: Numbers, y_pred: Points, *, level: float = 0.5, sample_weight: Weights = None
) -> ScoreDecomposition:
    r"""Expectile loss as miscalibration - discrimination + uncertainty; at level 1/2 the squared error of means.

    As :func:`pinball_decomposition`, with the mean of :math:`2 |1\{y \le x\} - \tau| (y - x)^2` and the expectile of
    all outcomes. Without the 2, as some have it, every part is half as large.

    Parameters
    ----------
    y_true, sample_weight
        As in :func:`pinball_decomposition`.
    y_pred : array-like (n,) or Distribution
        Expectiles; those of a Distribution, its means at level 1/2.
    level : float
        Level of the expectiles.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.expectile_decomposition([1.0, 4.0, 3.0, 9.0], [2.0, 3.0, 4.0, 5.0])
    ScoreDecomposition(score=4.75, miscalibration=4.625, discrimination=8.562, uncertainty=8.688)

    Differs from the paper in: the 2 in the loss, so that level 1/2 is the squared error; as in the pinball loss.
    """
    return _recalibrated(Functional.named("expectile", level), y_true, y_pred, sample_weight)


def log_loss_decomposition(
    y_true: Labels, y_proba: Probabilities, *, classes: Labels | None = None, sample_weight: Weights = None
) -> ScoreDecomposition:
    r"""Log loss of two classes as miscalibration - discrimination + uncertainty.

    As :func:`pinball_decomposition`, with :math:`-\ln p` of the class that came. The isotonic regression is that of the
    Brier score, which suits the log loss too (Dimitriadis et al. 2021); uncertainty is the entropy of the classes'
    shares. Infinite miscalibration: a class came whose probability was 0.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`, of two classes.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.log_loss_decomposition([0, 1, 0, 1, 1], [0.1, 0.4, 0.4, 0.8, 0.9])
    ScoreDecomposition(score=0.3722, miscalibration=0.09494, discrimination=0.3958, uncertainty=0.673)

    Differs from the paper in: as in the pinball loss.
    """
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    column = forecasts.binary("log_loss_decomposition")
    groups = Groups.of(column.p, column.events, column.weights)
    score = average(log_losses(forecasts), forecasts.weights)
    every = np.zeros(1, dtype=np.intp)
    return _parts(score, _entropy(groups.pooled()), _entropy(groups.joined(every)))


def _recalibrated(
    functional: Functional, y_true: Numbers, y_pred: Points, sample_weight: Weights
) -> ScoreDecomposition:
    y, x, weights = paired_points(y_true, functional.of(y_pred), sample_weight)
    _, group = np.unique(x, return_inverse=True)
    best, same = (functional.rising(g, y, weights)[g] for g in (group, np.zeros_like(group)))
    score, least, base = (average(functional.losses(y, point), weights) for point in (x, best, same))
    return _parts(score, least, base)


def _parts(score: float, least: float, base: float) -> ScoreDecomposition:
    """From the score, that of recalibrated forecasts, and that of the same forecast for all."""
    return ScoreDecomposition(score, max(score - least, 0.0), max(base - least, 0.0), base)


def _entropy(groups: Groups) -> float:
    """Mean log loss of the shares of the groups."""
    misses = groups.mass - groups.hits
    gain = xlogy(groups.hits, groups.share) + xlogy(misses, misses / groups.mass)
    return float(-gain.sum() / groups.mass.sum())
