"""The default map: a convex spline, as flexible as the evidence allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._checks import MOST_EACH, Array
from .cells import Cells, cells_of, spread_ties
from .insurance import alike, insured_each
from .shrunken import shrunken_affine
from .spline import SplineMap, heights_through, rising
from .spline_problem import DIGITS, SplineProblem, SplineSolution, newton, reduced, stacked

STIFFEST, MIDDLE, SOFTEST = 7, 0, -6  # decimal logarithms of the penalties tried, from the stiffest on
MANY = 1e5  # rows, with more of which the walk begins in the middle: the soft ones are hardly ever right then
DOUBT = 2.0  # nats of evidence a spline must have over an affine map to be trusted by half
ENOUGH = 8  # rows below which only an affine map is fitted
_ROUGHLY = 0.05  # nats to which penalties are compared of so many rows
_SURE = 40.0  # nats by which a spline is better than a line without a doubt
_AT_ONCE = 256  # maps
_ENTRIES = 1 << 20  # of the Hessians of problems that are solved at once


def fit_spline(z: Array, weights: Array | None = None, *, heavy_tails: bool = False) -> SplineMap:
    r"""Fit the increasing map that makes scores standard normal, as flexible as they justify and no more.

    .. math:: \min_{a, c > 0} \sum_i w_i \big[\tfrac12 T(z_i)^2 - \log T'(z_i)\big]
        + \tfrac\lambda2 \int (c''^2 + c'^2)\,dv + 0.2 \sum_k (c_k - \log c_k - 1)

    T' is linear between its values c at the knots, which lie equally spaced in
    :math:`v = \tfrac12\Phi^{-1}(\text{mid-rank}) + \tfrac12\operatorname{asinh}((z - \text{median})/r)`. The problem is
    convex. :math:`\lambda` maximises Laplace's approximation of the evidence; the more that exceeds the evidence of an
    affine map, the more the result is the spline and not the shrunken affine map. Far outliers are insured against.

    On scores that are standard normal already this costs .007, .005, .001 and .0003 nats at 30, 50, 200 and 500 rows;
    of what can be won by mending a wrong scale, bias, skew, heavy tails or two modes it wins nine tenths at 200 rows
    and 98 % at 2000 (``python -m experiments.harmless``).

    Parameters
    ----------
    z : array
        Normal scores, any number and order of them; rounded and repeated ones act like intervals.
    weights : array, optional
        Frequencies: 2 is the row twice.
    heavy_tails : bool
        The base has a finite tail index, which the map must keep: its tails then have slope 1.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(0.0, 2.0, 1000)  # sigma was half of what it should be
    >>> fit_spline(z)(np.array([-2.0, 0.0, 2.0])).round(1) + 0.0
    array([-1.,  0.,  1.])
    """
    return fit_splines([(z, weights)], heavy_tails=heavy_tails)[0]


def fit_splines(
    samples: Sequence[tuple[Array, Array | None]], *, heavy_tails: bool = False, again: bool = False
) -> list[SplineMap]:
    """The maps that `fit_spline` makes of each of many lots of scores and weights, several times as fast.

    Scores that come from forecasts with such a map are mapped ``again``: as far outliers are insured against already,
    what is added is a little of the forecasts as they are, not of wider ones.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> maps = fit_splines([(rng.normal(0.0, scale, 1000), None) for scale in (1.0, 2.0)])
    >>> [float(fitted(np.array([2.0]))[0].round(1)) for fitted in maps]
    [2.0, 1.0]
    """
    made: list[SplineMap] = []
    for start in range(0, len(samples), _AT_ONCE):
        lots = [_capped(cells_of(z, weights)) for z, weights in samples[start : start + _AT_ONCE]]
        locations, scales = np.array([shrunken_affine(cells) for cells in lots]).T
        maps = _blended(lots, [_straight(*line) for line in zip(locations, scales, strict=True)])
        rows = np.array([cells.total for cells in lots])
        made += insured_each(maps, locations, rows, heavy_tails=heavy_tails, again=again)
    return made


def _capped(cells: Cells) -> Cells:
    """Cells with no more than so many rows each on average."""
    most = MOST_EACH * cells.z.size
    return cells if cells.total <= most else Cells(cells.z, cells.mass * (most / cells.total))


def _straight(location: float, scale: float) -> SplineMap:
    heights = np.array([-1.0, 0.0, 1.0])
    return SplineMap(location + scale * heights, np.full(3, 1 / scale), heights)


def _blended(lots: Sequence[Cells], affine: Sequence[SplineMap]) -> list[SplineMap]:
    """Weight the most evident spline of each lot of cells and the affine map by the evidence, where rows are enough."""
    made = list(affine)
    many = [place for place, cells in enumerate(lots) if cells.total >= ENOUGH and cells.z.size > 1]
    units = {place: lots[place].centre_scale() for place in many}
    parts = {place: reduced(_standard(lots[place], *units[place])) for place in many}
    for places in alike({place: part.knots.size for place, part in parts.items()}):
        step = max(1, _ENTRIES // parts[places[0]].knots.size ** 2)
        for start in range(0, len(places), step):
            some = places[start : start + step]
            problem = stacked([parts[place] for place in some])
            stiff, best = _most_evident(problem)
            trust = (expit(best.evidence - stiff.evidence - DOUBT) - expit(-DOUBT)) / expit(DOUBT)
            heights = heights_through(problem.knots, best.slopes, best.offset, problem.knots.shape[1] // 2)
            for number, place in enumerate(some):
                spline = SplineMap(problem.knots[number], best.slopes[number], heights[number])
                made[place] = _mixed(spline, affine[place], units[place], float(trust[number]))
    return made


def _standard(cells: Cells, median: float, unit: float) -> Cells:
    """Cells with ties spread, and median 0 and scale 1."""
    spread = spread_ties(cells)
    return Cells((spread.z - median) / unit, spread.mass)


def _mixed(spline: SplineMap, affine: SplineMap, unit: tuple[float, float], trust: float) -> SplineMap:
    """The mean of a spline of scores in units and of an affine map."""
    median, scale = unit
    knots = median + scale * spline.knots
    kept = rising(knots)
    knots, location, slope = knots[kept], affine.knots[1], affine.slopes[0]
    slopes = trust * spline.slopes[kept] / scale + (1 - trust) * slope
    return SplineMap(knots, slopes, trust * spline.values[kept] + (1 - trust) * slope * (knots - location))


def _most_evident(problem: SplineProblem) -> tuple[SplineSolution, SplineSolution]:
    """Return the stiffest and the most evident fits: decades of penalties, then halves and quarters around the best."""
    groups = len(problem.knots)
    many = bool((problem.mass.sum(axis=(1, 2)) > MANY).all())
    digits = _ROUGHLY if many else DIGITS
    line = problem.straight() if many else problem.start()
    stiff = newton(problem, line, np.full(groups, 10.0**STIFFEST), digits=digits)
    best, at = SplineSolution(*(part.copy() for part in stiff)), np.full(groups, float(STIFFEST))
    stiffer, softer = range(MIDDLE, STIFFEST), range(MIDDLE - 1, SOFTEST - 1, -1)
    if many:
        _walk(problem, problem.through_ranks(), stiffer, best, at, digits)
    else:
        _walk(problem, stiff, range(STIFFEST - 1, SOFTEST - 1, -1), best, at, digits)
    for end, decades in ((MIDDLE, softer), (STIFFEST, stiffer[:0:-1])) if many else ():
        back = np.flatnonzero(at == end)
        if back.size:
            some, places = best.of(back), at[back]
            _walk(problem.of(back), best.of(back), decades, some, places, digits)
            best.put(back, some)
            at[back] = places
    found = np.flatnonzero(at < STIFFEST)
    for step in (0.5, 0.25):
        left = found
        for aside in (step, -step):  # evidence falls on either side of the best: where one is better, the other is not
            if left.size:
                power = at[left] + aside
                fit = newton(problem.of(left), best.of(left), 10.0**power, digits=digits)
                better = fit.evidence > best.evidence[left]
                best.put(left[better], fit.of(better))
                at[left[better]] = power[better]
                left = left[~better]
    _finish(problem, best, best.won >= DIGITS)
    _finish(problem, stiff, (stiff.won >= DIGITS) & (best.evidence < stiff.evidence + _SURE))
    return stiff, best


def _finish(problem: SplineProblem, fit: SplineSolution, rough: NDArray[np.bool_]) -> None:
    """Go on with fits that are rough yet."""
    rows = np.flatnonzero(rough)
    if rows.size:
        fit.put(rows, newton(problem.of(rows), fit.of(rows), np.exp(fit.penalty[rows])))


def _walk(
    problem: SplineProblem, fit: SplineSolution, decades: Iterable[int], best: SplineSolution, at: Array, digits: float
) -> None:
    """Go through penalties until evidence falls, and keep the best fits, and where they are."""
    going = np.arange(len(at))
    for decade in decades:
        fit = newton(problem, fit, np.full(len(going), 10.0**decade), digits=digits)
        better = fit.evidence > best.evidence[going]
        best.put(going[better], fit.of(better))
        at[going[better]] = decade
        on = better | ~(fit.evidence < best.evidence[going] - 6)
        if not on.any():
            break
        if not on.all():
            going, fit, problem = going[on], fit.of(on), problem.of(np.flatnonzero(on))
