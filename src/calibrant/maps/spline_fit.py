"""The default map: a convex spline, as flexible as the evidence allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
_FALLEN = 6.0  # nats below the best after which no softer or stiffer penalty is tried
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
    """Return the stiffest and the most evident fits: decades of penalties, then parts of one around the best."""
    groups = len(problem.knots)
    many = bool((problem.mass.sum(axis=(1, 2)) > MANY).all())
    digits = _ROUGHLY if many else DIGITS
    line = problem.straight() if many else problem.start()
    stiff = newton(problem, line, np.full(groups, 10.0**STIFFEST), digits=digits)
    walk = _Walk.of(stiff, digits)
    stiffer, softer = range(MIDDLE, STIFFEST), range(MIDDLE - 1, SOFTEST - 1, -1)
    if many:
        walk.go(problem, problem.through_ranks(), stiffer)
        for end, decades in ((MIDDLE, softer), (STIFFEST, stiffer[:0:-1])):
            back = np.flatnonzero(walk.at == end)
            if back.size:
                walk.go(problem, walk.best, decades, back)
        walk.try_aside(problem, walk.peaks())
    else:
        walk.go(problem, stiff, range(STIFFEST - 1, SOFTEST - 1, -1))
        _halve(problem, walk)
    best = walk.best
    _finish(problem, best, best.won >= DIGITS)
    _finish(problem, stiff, (stiff.won >= DIGITS) & (best.evidence < stiff.evidence + _SURE))
    return stiff, best


class _Walk(NamedTuple):
    """The most evident fits so far, their penalties, and how evident all decades were: NaN where they were not tried.

    Penalties are decimal logarithms; rows of ``seen`` (g, decades) begin with the stiffest.
    """

    best: SplineSolution
    at: Array
    seen: Array
    digits: float

    @classmethod
    def of(cls, stiff: SplineSolution, digits: float) -> _Walk:
        """That has been at the stiffest only."""
        seen = np.full((len(stiff.offset), STIFFEST - SOFTEST + 1), np.nan)
        seen[:, 0] = stiff.evidence
        best = SplineSolution(*(part.copy() for part in stiff))
        return cls(best, np.full(len(seen), float(STIFFEST)), seen, digits)

    def go(
        self,
        problem: SplineProblem,
        start: SplineSolution,
        decades: Iterable[int],
        rows: NDArray[np.intp] | None = None,
    ) -> None:
        """Go through penalties of some problems until evidence falls, from fits on."""
        going = np.arange(len(self.at)) if rows is None else rows
        fit = start if rows is None else start.of(rows)
        for decade in decades:
            fit = self._tried(problem, fit, going, np.full(len(going), float(decade)))
            self.seen[going, STIFFEST - decade] = fit.evidence
            on = ~(fit.evidence < self.best.evidence[going] - _FALLEN)
            if not on.any():
                break
            going, fit = going[on], fit.of(on)

    def try_aside(self, problem: SplineProblem, aside: Array) -> NDArray[np.bool_]:
        """Try penalties so far from those of the best, where that is not 0; which were better."""
        going = np.flatnonzero(aside)
        before = self.at.copy()
        if going.size:
            self._tried(problem, self.best.of(going), going, self.at[going] + aside[going])
        return np.asarray(self.at != before)

    def peaks(self) -> Array:
        """How far from the best decades parabolas through them and their neighbours peak, in quarters."""
        rows, place = np.arange(len(self.at)), STIFFEST - self.at.astype(np.intp)
        padded = np.pad(self.seen, ((0, 0), (1, 1)), constant_values=np.nan)
        stiffer, here, softer = (padded[rows, place + step] for step in range(3))
        fall = 2 * here - stiffer - softer
        aside = np.divide(0.5 * (stiffer - softer), fall, out=np.zeros(len(rows)), where=fall > 0)
        return np.where(self.at < STIFFEST, np.round(4 * aside) / 4, 0.0)

    def _tried(
        self, problem: SplineProblem, start: SplineSolution, going: NDArray[np.intp], powers: Array
    ) -> SplineSolution:
        """Fits with these penalties; those that are better are kept."""
        fit = newton(problem.of(going), start, 10.0**powers, digits=self.digits)
        better = fit.evidence > self.best.evidence[going]
        self.best.put(going[better], fit.of(better))
        self.at[going[better]] = powers[better]
        return fit


def _halve(problem: SplineProblem, walk: _Walk) -> None:
    """Half and quarter decades: evidence falls on either side of the best, so where one is better, the other is not."""
    found = walk.at < STIFFEST
    for step in (0.5, 0.25):
        better = walk.try_aside(problem, np.where(found, step, 0.0))
        walk.try_aside(problem, np.where(found & ~better, -step, 0.0))


def _finish(problem: SplineProblem, fit: SplineSolution, rough: NDArray[np.bool_]) -> None:
    """Go on with fits that are rough yet."""
    rows = np.flatnonzero(rough)
    if rows.size:
        fit.put(rows, newton(problem.of(rows), fit.of(rows), np.exp(fit.penalty[rows])))
