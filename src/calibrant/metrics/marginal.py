"""Marginal calibration: the mean forecast against the outcomes, as distributions of y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from .._brief import Brief
from .._checks import Array, column, count, nonempty, one_of, to_array
from .._types import Numbers, Weights
from ..distributions.base import Distribution
from ..numerics.blocks import row_blocks
from ._inputs import paired
from .threshold_calibration import outcome_quantiles

Distance = Literal["largest", "integrated", "squared"]
_LEVELS = (0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999)  # quantiles of forecasts that points lie among


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MarginalCalibration(Brief):
    """Mean forecast and outcomes as distribution functions, on both sides of each point: (2K,) arrays."""

    points: Array  # each twice: its left and its right side
    forecast: Array  # mean over rows of P(Y < y), then of P(Y <= y)
    observed: Array  # share of outcomes below y, then up to it
    noise: Array  # standard deviation of the difference of a perfect forecaster

    @property
    def difference(self) -> Array:
        """Mean forecast less observed; above 0 where forecasts lie below outcomes."""
        return self.forecast - self.observed

    @property
    def largest(self) -> float:
        """Largest absolute difference, between 0 and 1."""
        return float(np.abs(self.difference).max())

    @property
    def integrated(self) -> float:
        """Area between the two, in units of the outcome: how far mass would have to be moved."""
        return float(np.trapezoid(np.abs(self.difference), self.points))

    @property
    def squared(self) -> float:
        """Integral of the squared difference."""
        return float(np.trapezoid(np.square(self.difference), self.points))


def marginal_calibration(
    y_true: Numbers, dist: Any, *, points: Numbers = 256, sample_weight: Weights = None
) -> MarginalCalibration:
    r"""Mean forecast distribution function and the outcomes' empirical one, as functions of y.

    .. math:: \bar F(y) = \frac1T \sum_t F_t(y), \qquad \hat G(y) = \frac1T \#\{t : y_t \le y\}

    Marginally calibrated forecasts (Gneiting, Balabdaoui and Raftery 2007) have the first converge to the
    second. It is weak: the same law for every row, that of all outcomes, has it; and not implied by PIT values that are
    uniform, nor implying them. Forecasts with the wrong climate do not have it.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`.
    points : int or array-like (K,)
        Where to look; an integer K stands for K quantiles of the outcomes, all of them where there are no more, and
        K of the forecasts. T times as many probabilities are worked out, in blocks.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> curve = metrics.marginal_calibration([0.0, 1.0], Normal([0.0, 0.0], 1.0), points=[0.0, 1.0])
    >>> curve.forecast, curve.observed
    (array([0.5   , 0.5   , 0.8413, 0.8413]), array([0. , 0.5, 0.5, 1. ]))
    """
    y, law, weights = paired(y_true, dist, sample_weight)
    mass = np.ones(len(y)) if weights is None else weights
    if isinstance(points, (int, np.integer)):
        at = _points(count(points, "points"), y, law, mass)
    else:
        at = np.unique(nonempty(column(np.atleast_1d(to_array(points, "points")), "points"), "points"))
    forecast, spread = _mean_forecast(law, at, mass)
    order = np.argsort(y, kind="stable")
    upper = np.append(0.0, np.cumsum(mass[order]))
    observed = np.array([upper[np.searchsorted(y[order], at, side=side)] for side in ("left", "right")]) / upper[-1]
    return MarginalCalibration(np.repeat(at, 2), forecast.T.ravel(), observed.T.ravel(), spread.T.ravel())


def marginal_calibration_error(
    y_true: Numbers, dist: Any, *, distance: Distance = "largest", points: Numbers = 256, sample_weight: Weights = None
) -> float:
    r"""Distance between the mean forecast and the outcomes as distributions of y; 0 is perfect.

    .. math:: \sup_y |\bar F(y) - \hat G(y)|, \quad \int |\bar F - \hat G|\,dy, \quad \int (\bar F - \hat G)^2\,dy

    Gneiting et al. (2007) draw the difference; the distances are ours. A perfect forecaster's comes down as
    :math:`T^{-1/2}` (the squared one as 1/T), as outcomes are random.

    Parameters
    ----------
    y_true, dist, points, sample_weight
        As in :func:`marginal_calibration`.
    distance : {"largest", "integrated", "squared"}
        The largest difference, a probability; or the area between both, or that of squares, in units of the outcome.
        Areas are taken by trapezoids between the points.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.marginal_calibration_error([0.0, 1.0], Normal([0.0, 0.0], 1.0))
    0.5
    """
    one_of(distance, "distance", ("largest", "integrated", "squared"))
    return float(getattr(marginal_calibration(y_true, dist, points=points, sample_weight=sample_weight), distance))


def _points(number: int, y: Array, law: Distribution, mass: Array) -> Array:
    distinct = np.unique(y)
    own = distinct if len(distinct) <= number else outcome_quantiles(number, y, mass)
    pooled = law.quantiles(_LEVELS).ravel()
    others = outcome_quantiles(number, pooled, np.repeat(mass, len(_LEVELS)))
    ends = [y.min(), y.max(), pooled.min(), pooled.max()]
    at = np.unique(np.concatenate([own, others, ends]))
    return np.asarray(at[np.isfinite(at)])


def _mean_forecast(law: Distribution, at: Array, mass: Array) -> tuple[Array, Array]:
    """Mean probability below and up to each point, (2, K), and the standard deviation of the share of outcomes."""
    mean, variance = np.zeros((2, 2, len(at)))
    sides = ("left", "right") if law.has_atoms else ("right",)
    for rows in row_blocks(len(mass), len(at)):
        part = law[rows]
        for k, side in enumerate(sides):
            p = ndtr(part.to_normal(at[None, :], side))  # type: ignore[arg-type]
            mean[k] += mass[rows] @ p
            variance[k] += mass[rows] @ (p * (1 - p))
    if not law.has_atoms:
        mean[1], variance[1] = mean[0], variance[0]
    return mean / mass.sum(), np.sqrt(variance) / mass.sum()
