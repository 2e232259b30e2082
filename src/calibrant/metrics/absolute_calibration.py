"""Absolute distances between nominal and observed shares: their mean, their area, and in groups made at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._brief import Brief
from .._checks import Array, complain, count, nonempty, one_of, to_array
from .._types import Numbers, Weights
from ..distributions.scores import score_intervals
from ._inputs import level_grid, paired
from .quantile_calibration import observed_levels

Of = Literal["intervals", "quantiles"]
_HUNDRED = tuple(np.linspace(0.0, 1.0, 101))


def mean_absolute_calibration_error(
    y_true: Numbers,
    dist: Any,
    *,
    of: Of = "intervals",
    levels: Numbers = _HUNDRED,
    sample_weight: Weights = None,
) -> float:
    r"""Mean distance between nominal and observed shares, MACE; 0 is perfect, a perfect forecaster has some noise.

    .. math:: \frac1m \sum_j |p_j - \hat p_j|, \quad \hat p_j = \tfrac1T \#\{t : y_t \in I_t(p_j)\}

    with the central intervals :math:`I_t(p)` of probability p, or what lies below the quantile at p.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`.
    of : {"intervals", "quantiles"}
        Whether the shares are those of central intervals, or those below quantiles.
    levels : int or array-like (m,)
        Nominal shares :math:`p_j`; 0, .01, ..., 1 unless told.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.mean_absolute_calibration_error([-1.0, 0.0, 3.0, 0.1], Normal([0.0] * 4, 1.0), levels=[0.2, 0.5, 0.9])
    0.15
    """
    grid, observed = _observed(y_true, dist, of, levels, sample_weight)
    return float(np.abs(grid - observed).mean())


def miscalibration_area(
    y_true: Numbers,
    dist: Any,
    *,
    of: Of = "intervals",
    levels: Numbers = _HUNDRED,
    sample_weight: Weights = None,
) -> float:
    r"""Area between the curve of observed over nominal shares and the diagonal; 0 is perfect, 1/2 the worst.

    .. math:: \int_0^1 |p - \hat p(p)|\,dp

    The curve is a line between the levels (Tran et al. 2020), and crosses the diagonal where that does.

    Parameters
    ----------
    y_true, dist, of, levels, sample_weight
        As in :func:`mean_absolute_calibration_error`.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> rng = np.random.default_rng(0)
    >>> metrics.miscalibration_area(2 * rng.normal(size=1000), Normal(np.zeros(1000), 1.0))
    0.1991
    """
    grid, observed = _observed(y_true, dist, of, levels, sample_weight)
    gap, step = observed - grid, np.diff(grid)
    one, two = gap[:-1], gap[1:]
    crossed = one * two < 0
    whole = np.abs(one) + np.abs(two)
    areas = np.where(crossed, (one**2 + two**2) / np.where(whole > 0, whole, 1.0), whole)
    return float(0.5 * (step * areas).sum())


@dataclass(frozen=True, slots=True, repr=False)
class AdversarialGroups(Brief):
    """Worst mean absolute calibration errors of groups made at random, by the groups' share of the rows.

    Attributes
    ----------
    shares : array (s,)
    errors : array (s,)
        Mean over the trials of the worst of the groups.
    deviations : array (s,)
        Standard error of that mean.
    """

    shares: Array
    errors: Array
    deviations: Array


def adversarial_group_calibration(
    y_true: Numbers,
    dist: Any,
    *,
    of: Of = "intervals",
    shares: Numbers = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0),
    groups: int = 10,
    trials: int = 10,
    levels: Numbers = _HUNDRED,
    random_state: Any = 0,
) -> AdversarialGroups:
    """How wrong forecasts are in the worst of some groups made at random: individual calibration lies at small groups.

    Zhao, Ma & Ermon (2020). Even a perfect forecaster is wrong in small groups, by noise: compare forecasters, or see
    `find_segments`, which looks for groups that have a meaning and tells noise.

    Parameters
    ----------
    y_true, dist, of, levels
        As in :func:`mean_absolute_calibration_error`.
    shares : array-like (s,)
        Sizes of groups, as shares of the rows; a group has two rows at least.
    groups, trials : int
        The worst of so many groups is looked for so many times.
    random_state : int or Generator

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> rng = np.random.default_rng(0)
    >>> metrics.adversarial_group_calibration(rng.normal(size=1000), Normal(np.zeros(1000), 1.0), shares=[0.1, 1.0])
    AdversarialGroups(shares=[0.1, 1], errors=[0.04926, 0.009822], deviations=[0.001943, 0])
    """
    some = nonempty(np.atleast_1d(to_array(shares, "shares")), "shares")
    complain("shares", "above 0 and at most 1", some, ~((some > 0) & (some <= 1)))
    y, law, _ = paired(y_true, dist)
    grid, edges = _edges(of, levels)
    scores, rng = score_intervals(law, y), np.random.default_rng(random_state)
    tries, each, n = count(trials, "trials"), count(groups, "groups"), len(y)
    worst = np.empty((len(some), tries))
    for place, share in enumerate(some):
        size = max(2, round(share * n))
        for trial in range(tries):
            errors = []
            for _ in range(each if size < n else 1):
                rows = rng.choice(n, min(size, n), replace=False)
                part = (scores[0][rows],) * 2 if scores[0] is scores[1] else (scores[0][rows], scores[1][rows])
                errors.append(float(np.abs(_shares(part, edges, None) - grid).mean()))
            worst[place, trial] = max(errors)
    return AdversarialGroups(some, worst.mean(axis=1), worst.std(axis=1, ddof=1 if tries > 1 else 0) / np.sqrt(tries))


def _observed(y_true: Any, dist: Any, of: Of, levels: Any, sample_weight: Any) -> tuple[Array, Array]:
    """Nominal and observed shares."""
    grid, edges = _edges(of, levels)
    y, law, weights = paired(y_true, dist, sample_weight)
    return grid, _shares(score_intervals(law, y), edges, weights)


def _edges(of: str, levels: Any) -> tuple[Array, Array]:
    """Nominal shares (m,), and the levels (2, m) between which they lie."""
    one_of(of, "of", ("intervals", "quantiles"))
    grid = level_grid(levels)
    low = 0.5 - 0.5 * grid if of == "intervals" else np.zeros(len(grid))
    return grid, np.array([low, low + grid])


def _shares(scores: tuple[Array, Array], edges: Array, weights: Array | None) -> Array:
    """Observed shares between levels; outcomes on atoms count with the part of their interval that lies there."""
    places, where = np.unique(edges, return_inverse=True)
    below = observed_levels(scores, places, weights).frequency[0]
    low, high = below[where.reshape(edges.shape)]
    return np.asarray(np.where(edges[0] > 0, high - low, high))
