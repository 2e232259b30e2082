"""What a score is made of: miscalibration, and what no recalibration can change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._brief import Brief
from .._checks import Array, complain, count
from .._types import Numbers, Weights
from ..distributions.base import Distribution
from ..distributions.tables.ensemble import Ensemble
from ..numerics.blocks import row_blocks
from ._inputs import average, paired
from .scores import nll

DEFAULT_MEMBERS = 100


@dataclass(frozen=True, slots=True, repr=False)
class NLLDecomposition(Brief):
    """Negative log likelihood = calibration loss + refinement loss."""

    nll: float
    calibration_loss: float
    refinement_loss: float


@dataclass(frozen=True, slots=True, repr=False)
class CRPSDecomposition(Brief):
    """CRPS = reliability - resolution + uncertainty."""

    crps: float
    reliability: float
    resolution: float
    uncertainty: float

    @property
    def potential(self) -> float:
        """The CRPS that perfectly reliable forecasts of the same resolution would have."""
        return self.uncertainty - self.resolution


def nll_decomposition(
    y_true: Numbers, dist: Any, calibrated: Any, *, sample_weight: Weights = None
) -> NLLDecomposition:
    r"""Split the negative log likelihood into a part that recalibration removes and a part that it cannot.

    .. math:: E[-\ln s_X(Y)] = E\big[\mathrm{KL}(p(Y \mid s_X),\, s_X(Y))\big] + E[-\ln p(Y \mid s_X)]

    Song et al. (2019), eq. 5: calibration loss plus refinement loss. The law :math:`p(Y \mid s)` of the outcomes that
    received forecast s is unknown; ``calibrated`` stands in for it. The refinement loss is then the mean of
    :math:`-\ln \hat p(y_t \mid s_t)` and the calibration loss the mean of
    :math:`\ln \hat p(y_t \mid s_t) - \ln s_t(y_t)`. Take recalibrated laws that were fitted on other rows: with these
    rows the calibration loss would be overestimated. It is negative where recalibration did harm.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes.
    dist, calibrated : Distribution, or what ``as_distribution`` accepts
        n forecasts, before and after recalibration.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.nll_decomposition([-2.0, 2.0], Normal([0.0, 0.0], 1.0), Normal([0.0, 0.0], 2.0))
    NLLDecomposition(nll=2.919, calibration_loss=0.807, refinement_loss=2.112)
    """
    y, law, weights = paired(y_true, dist, sample_weight)
    _, better, _ = paired(y_true, calibrated, sample_weight)
    if law.is_discrete != better.is_discrete:
        raise ValueError("`dist` and `calibrated` must both have densities or both consist of atoms.")
    before, after = np.asarray(nll(y, law, per_row=True)), np.asarray(nll(y, better, per_row=True))
    complain("calibrated", "positive at every outcome (its negative log finite)", after, ~np.isfinite(after))
    total = average(before, weights)
    return NLLDecomposition(total, average(before - after, weights), average(after, weights))


def crps_decomposition(
    y_true: Numbers, dist: Any, *, members: int | None = None, sample_weight: Weights = None
) -> CRPSDecomposition:
    r"""Hersbach's decomposition of the CRPS into reliability, resolution and uncertainty.

    Each law is seen through m equally likely members: an ensemble through its own, any other law through its quantiles
    :math:`x_i = F^{-1}((i - \frac12)/m)`. Between two members its cdf is :math:`p_i = i/m`; :math:`\bar g_i` is the
    mean width of that bin and :math:`\bar o_i` the share of it that lies above the outcome. (In the outer bins
    :math:`\bar o_i` is the frequency of y below the member, :math:`\bar g_i` the mean distance of the outliers.) Then

    .. math:: \text{reliability} = \sum_i \bar g_i (\bar o_i - p_i)^2, \quad
        \text{potential} = \sum_i \bar g_i \bar o_i (1 - \bar o_i), \quad
        \text{resolution} = \text{uncertainty} - \text{potential},

    and uncertainty is the CRPS of the law of all outcomes together, :math:`\int \hat F(1 - \hat F)\,dy`. Hersbach
    (2000). The parts add up exactly to the CRPS of the members (``Ensemble.ensemble_crps``), which is close to that of
    the law. Resolution is what the forecasts gain over always issuing the same law.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`.
    members : int, optional
        Number m of quantiles; by default the members of an unweighted ensemble, 100 quantiles of other laws.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> parts = metrics.crps_decomposition([0.1, 4.8], Normal([0.0, 5.0], 0.2))
    >>> parts.uncertainty
    1.175
    """
    if members is not None:
        count(members, "members")
    y, law, weights = paired(y_true, dist, sample_weight)
    below, above, outliers = _bins(law, y, members, np.ones(len(y)) if weights is None else weights)
    p = np.linspace(0, 1, len(below))
    width = below + above
    frequency = np.divide(above, width, out=np.zeros(len(width)), where=width > 0)
    frequency[0], frequency[-1] = outliers[0], 1 - outliers[1]  # an outlier bin is only there when an outcome is in it
    width[0] = above[0] / outliers[0] if outliers[0] > 0 else 0.0
    width[-1] = below[-1] / outliers[1] if outliers[1] > 0 else 0.0
    reliability = float(np.dot(width, np.square(frequency - p)))
    potential = float(np.dot(width, frequency * (1 - frequency)))
    uncertainty = _climatology(y, weights)
    return CRPSDecomposition(reliability + potential, reliability, uncertainty - potential, uncertainty)


def _bins(law: Distribution, y: Array, members: int | None, weights: Array) -> tuple[Array, Array, Array]:
    """Mean widths of the m + 1 bins below and above the outcome, and the frequencies of outliers on either side."""
    own = law.samples if isinstance(law, Ensemble) and law.weights is None and members is None else None
    m = own.shape[1] if own is not None else members or DEFAULT_MEMBERS
    levels = (np.arange(m) + 0.5) / m
    below, above, outliers = np.zeros(m + 1), np.zeros(m + 1), np.zeros(2)
    for rows in row_blocks(len(y), m):
        x = law[rows].quantiles(levels) if own is None else own[rows]
        inside = np.clip(y[rows, None], x[:, :-1], x[:, 1:])
        w = weights[rows]
        low, high = x[:, 0] - y[rows], y[rows] - x[:, -1]
        below[1:-1] += w @ (inside - x[:, :-1])
        above[1:-1] += w @ (x[:, 1:] - inside)
        above[0] += w @ np.maximum(low, 0)
        below[-1] += w @ np.maximum(high, 0)
        outliers += w @ (low > 0), w @ (high > 0)
    n = weights.sum()
    return below / n, above / n, outliers / n


def _climatology(y: Array, weights: Array | None) -> float:
    """CRPS of the empirical law of the outcomes, averaged over them."""
    order = np.argsort(y)
    upper = np.arange(1, len(y) + 1) / len(y) if weights is None else np.cumsum(weights[order]) / weights.sum()
    return float(np.dot(np.diff(y[order]), upper[:-1] * (1 - upper[:-1])))
