"""Proper scores of predictive laws: log score, CRPS, Dawid-Sebastiani score, pinball loss, interval score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, by_row, nonempty, probabilities, probability
from .._types import Numbers, Weights
from ..adapters import as_distribution
from ..distributions import Censored
from ..distributions.base import Distribution
from ..distributions.scores import score_intervals
from ..numerics.quiet import OVERFLOWS
from ._inputs import Score, average, by_blocks, mean_score, no_weights_per_row, paired
from .stated import Stated, interval_ends, is_stated, quantile_columns, stated_ends, stated_intervals, stated_quantiles

Mask = NDArray[np.bool_]
VIGINTILES = tuple(np.arange(1, 20) / 20)  # 0.05, 0.10, ..., 0.95
HUB_COVERAGES = (*np.arange(1, 10) / 10, 0.95, 0.98)


def nll(y_true: Numbers, dist: Any, *, sample_weight: Weights = None, per_row: bool = False) -> float | Array:
    r"""Negative log likelihood, in nats; smaller is better.

    .. math:: \frac1T \sum_t -\log f_t(y_t)

    The density becomes the probability :math:`P_t(Y = y_t)` where that is above 0: counts, tied quantiles, zeros.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes.
    dist : Distribution, or what ``as_distribution`` accepts
        n forecasts.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.
    per_row : bool
        Return the n values instead of their mean.

    Returns
    -------
    float, or array (n,)
        Infinite where an outcome is impossible under its forecast.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.nll([0.0, 1.0], Normal([0.0, 0.0], 1.0))
    1.1689
    """
    return mean_score(_negative_log, y_true, dist, sample_weight, per_row)


def crps(y_true: Numbers, dist: Any, *, sample_weight: Weights = None, per_row: bool = False) -> float | Array:
    r"""Continuous ranked probability score, in the unit of y; smaller is better.

    .. math:: \frac1T \sum_t \int (F_t(u) - 1\{u \ge y_t\})^2\,du

    Parameters
    ----------
    y_true, dist, sample_weight, per_row
        As in :func:`nll`.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.crps([0.0, 1.0], Normal([0.0, 0.0], 1.0))
    0.4181
    """
    return mean_score(lambda law, y: law.crps(y), y_true, dist, sample_weight, per_row)


def threshold_weighted_crps(
    y_true: Numbers,
    dist: Any,
    *,
    low: Numbers = -np.inf,
    high: Numbers = np.inf,
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""CRPS in which only what lies between two thresholds counts, in the unit of y; smaller is better.

    .. math:: \frac1T \sum_t \int_{a_t}^{b_t} (F_t(u) - 1\{u \ge y_t\})^2\,du

    Gneiting & Ranjan (2011), with the weight 1 between the thresholds: the score of those who care for heat waves,
    floods or stock-outs. It is proper, unlike scoring only the rows whose outcome was extreme. It is the CRPS of the
    `Censored` law at the censored outcome; what lies below a threshold and what lies above add up to the CRPS.

    Parameters
    ----------
    y_true, dist, sample_weight, per_row
        As in :func:`nll`.
    low, high : float or array-like (n,)
        Thresholds a and b; a side that is not named counts to its end.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.threshold_weighted_crps([0.0, 1.0], Normal([0.0, 0.0], 1.0), low=1.0)
    0.0072
    """
    dist = as_distribution(dist)
    n = len(paired(y_true, dist)[0])
    cuts = {name: by_row(value, name, n) for name, value in (("low", low), ("high", high))}
    y, law, weights = paired(y_true, Censored(dist, cuts["low"], cuts["high"]), sample_weight)
    no_weights_per_row(sample_weight, per_row)
    scores = law.crps(np.clip(y, law.lower, law.upper))  # type: ignore[attr-defined]
    return scores if per_row else average(scores, weights)


def dawid_sebastiani(
    y_true: Numbers, dist: Any, *, sample_weight: Weights = None, per_row: bool = False
) -> float | Array:
    r"""Dawid & Sebastiani's score, which asks for means and deviations only; smaller is better.

    .. math:: \frac1T \sum_t \Bigl(\frac{y_t - \mu_t}{\sigma_t}\Bigr)^2 + 2 \log \sigma_t

    Of normal laws twice the :func:`nll`, but for :math:`\log 2\pi`.

    Parameters
    ----------
    y_true, dist, sample_weight, per_row
        As in :func:`nll`.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.dawid_sebastiani([0.0, 1.0], Normal([0.0, 0.0], 1.0))
    0.5
    """

    def score(law: Distribution, y: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            deviation = law.std()
            return np.asarray(np.square((y - law.mean()) / deviation) + 2 * np.log(deviation))

    return mean_score(score, y_true, dist, sample_weight, per_row)


def pinball_loss(
    y_true: Numbers,
    dist: Any = None,
    *,
    quantiles: Any = None,
    levels: Numbers | None = None,
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Pinball (quantile) loss, mean over rows and levels, in the unit of y; smaller is better.

    .. math:: \frac1{TL} \sum_{t,l} (\tau_l - 1\{y_t < q_{tl}\})(y_t - q_{tl}), \quad q_{tl} = F_t^{-1}(\tau_l)

    Twice its mean over all levels in (0, 1) is the CRPS.

    Parameters
    ----------
    y_true, dist, sample_weight, per_row
        As in :func:`nll`.
    quantiles : array-like (n, L), or dict or frame of columns, optional
        Plain quantiles instead of ``dist``: at ``levels``, or at those that the names tell, as {0.1: ..., 0.9: ...}.
    levels : float or array-like (L,), optional
        Quantile levels; 0.05, 0.10, ..., 0.95 of laws unless told.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.pinball_loss([3.0], Normal([1.0], 1.0), levels=[0.5])
    1.0
    >>> metrics.pinball_loss([3.0], quantiles={0.1: [2.0], 0.5: [4.0]})
    0.3
    """
    if is_stated(dist, ("quantiles",), quantiles=quantiles):
        tau, dist = stated_quantiles(quantiles, levels)
    else:
        tau = nonempty(probabilities(VIGINTILES if levels is None else levels, "levels"), "levels")
    return _mean_pinball(tau, y_true, dist, sample_weight, per_row)


def _mean_pinball(tau: Array, y_true: Any, dist: Any, sample_weight: Any, per_row: bool) -> float | Array:
    """Pinball loss at checked levels; level by level, for a table's rows are short and its columns long."""

    def score(law: Distribution, y: Array) -> Array:
        total = np.zeros(len(y))
        for level, quantile in zip(tau, quantile_columns(law, tau), strict=True):
            excess = y - quantile
            below = (level - 1) * excess
            excess *= level
            total += np.maximum(excess, below, out=excess)
        total /= len(tau)
        return total

    return _mean_of_differences(score, y_true, dist, sample_weight, per_row, len(tau))


def weighted_interval_score(
    y_true: Numbers,
    dist: Any = None,
    *,
    low: Numbers | None = None,
    high: Numbers | None = None,
    coverage: Numbers | None = None,
    median: Numbers | None = None,
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Interval scores of several central intervals and the error of the median, weighted; smaller is better.

    .. math:: \frac1{K + 1/2}\Bigl(\tfrac12 |y - m| + \sum_{k=1}^K \tfrac{\alpha_k}2 \operatorname{IS}_{\alpha_k}\Bigr),
        \quad \alpha_k = 1 - c_k

    Bracher et al. (2021); IS is the :func:`interval_score`. It is twice the mean :func:`pinball_loss` at the
    2K + 1 levels, and nears the CRPS as they get more. Without a median, which only named intervals may lack, the
    sum is divided by K.

    Parameters
    ----------
    y_true, dist, sample_weight, per_row
        As in :func:`nll`.
    low, high : array-like (n, K), or (n,) for one interval, optional
        Plain ends of intervals instead of ``dist``.
    coverage : float or array-like (K,)
        Nominal coverages c; of laws 0.1, 0.2, ..., 0.9, 0.95 and 0.98 unless told, as in forecast hubs.
    median : array-like (n,), optional
        With ``low`` and ``high``.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.weighted_interval_score([1.0], low=[2.0], high=[4.0], coverage=0.5, median=[3.0])
    1.6667
    >>> metrics.weighted_interval_score([0.0, 1.0], Normal([0.0, 0.0], 1.0))
    0.3737
    """
    if is_stated(dist, ("low", "high"), low=low, high=high, median=median):
        levels, dist = stated_intervals(low, high, coverage, median)
    else:
        c = nonempty(probabilities(HUB_COVERAGES if coverage is None else coverage, "coverage"), "coverage")
        levels = np.concatenate([0.5 - c / 2, 0.5 + c / 2, [0.5]])
    tau, pairs = nonempty(levels, "levels"), len(levels) // 2

    def score(law: Distribution, y: Array) -> Array:
        columns = tuple(quantile_columns(law, tau))
        total = y - (columns[-1] if len(tau) > 2 * pairs else y)  # from the median, if there is one
        np.abs(total, out=total)
        total *= 0.5
        for level, low, high in zip(tau, columns[:pairs], columns[pairs:], strict=False):
            loss, minus_width = _misses(low, high, y)  # pinball losses of both ends
            minus_width *= level
            loss -= minus_width
            total += loss
        total *= 2 / len(tau)
        return total

    return _mean_of_differences(score, y_true, dist, sample_weight, per_row, len(tau))


def _mean_of_differences(
    score: Score, y_true: Any, dist: Any, sample_weight: Any, per_row: bool, levels: int
) -> float | Array:
    """The mean of a score that adds up differences, which may overflow, of outcomes and quantiles of so many levels."""

    def by_row(law: Distribution, y: Array) -> Array:
        if isinstance(law, Stated):  # plain columns, of which only differences take room
            return OVERFLOWS.copy().run(by_blocks, score, law, y, 4)
        with np.errstate(over="ignore"):  # a law may be anybody's, and sees what its owner has set
            return by_blocks(score, law, y, levels)

    return mean_score(by_row, y_true, dist, sample_weight, per_row)


def _misses(low: Array, high: Array, y: Array) -> tuple[Array, Array]:
    """How far outcomes are outside their intervals, and the widths of these with a minus sign; two new arrays."""
    out, above = low - y, y - high
    minus_width = out + above  # ends may be columns of a table, which are read slowly
    np.maximum(out, above, out=out)
    np.maximum(out, 0.0, out=out)
    return out, minus_width


def interval_score(
    y_true: Numbers,
    dist: Any = None,
    *,
    low: Numbers | None = None,
    high: Numbers | None = None,
    coverage: float | None = None,
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Winkler's score of central intervals :math:`[l_t, u_t]`, in the unit of y; smaller is better.

    .. math:: \frac1T \sum_t (u_t - l_t) + \tfrac2\alpha (l_t - y_t)_+ + \tfrac2\alpha (y_t - u_t)_+,
        \quad \alpha = 1 - \text{coverage}

    Gneiting & Raftery (2007), eq. 43.

    Parameters
    ----------
    y_true, dist, sample_weight, per_row
        As in :func:`nll`.
    low, high : array-like (n,), optional
        Plain ends of intervals instead of ``dist``.
    coverage : float
        Nominal coverage of the intervals; of laws 0.9 unless told.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.interval_score([0.0], Normal([0.0], 1.0), coverage=0.9)
    3.2897
    >>> metrics.interval_score([5.0], low=[1.0], high=[4.0], coverage=0.9)
    23.0
    """
    if is_stated(dist, ("low", "high"), low=low, high=high):
        dist = stated_ends(low, high, coverage)
    alpha = 1 - probability(0.9 if coverage is None else coverage, "coverage")

    def score(law: Distribution, y: Array) -> Array:
        low, high = interval_ends(law, 1 - alpha)
        out, minus_width = _misses(low, high, y)
        out *= 2 / alpha
        out -= minus_width
        return out

    return _mean_of_differences(score, y_true, dist, sample_weight, per_row, 2)


def log_scores(law: Distribution, y: Array, has_mass: Mask, by_mass: Mask | None = None) -> Array:
    """Minus the log mass of outcomes that are scored by mass, minus the log density of the others, (n,).

    Parameters
    ----------
    law : Distribution, n rows
    y : ndarray (n,)
    has_mass : ndarray of bool (n,)
        Which outcomes sit on an atom of their law: these have no density.
    by_mass : ndarray of bool (n,), optional
        Which are scored by mass; those that have one unless told. An outcome that is scored by density but sits on an
        atom costs infinity, as does one that is scored by mass and has none.
    """
    by_mass = has_mass if by_mass is None else by_mass
    out = np.full(len(y), np.inf)
    if by_mass.any():
        out[by_mass] = -law[by_mass].logpmf(y[by_mass])
    smooth = ~by_mass & ~has_mass
    if smooth.any() and not law.is_discrete:
        out[smooth] = -(law.logpdf(y) if smooth.all() else law[smooth].logpdf(y[smooth]))
    return out


def _negative_log(law: Distribution, y: Array) -> Array:
    if not law.has_atoms:
        return law._log_loss(y)
    if law.is_discrete:
        return -law.logpmf(y)
    left, right = score_intervals(law, y)
    return log_scores(law, y, left < right)
