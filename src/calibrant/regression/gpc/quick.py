"""Quantiles of many calibrated laws at once, from a table of the classifier."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array
from ...distributions import Distribution
from ...maps.base import Map
from ...numerics.blocks import row_blocks
from ...numerics.tails import score_of
from .inputs import FARTHEST
from .projection import BASE_SHARE, band, blurred, made_to_rise, reach_of
from .score_table import ScoreTable, score_table

_BLOCK = 2_000_000  # rows times thresholds worked on at a time; lines of no power of 2 share the cache better
_STRIP = 256  # rows whose masses stay in the cache
_TINY = np.finfo(float).tiny
Rows = NDArray[np.intp]
Made = TypeVar("Made")


_KNOWN: WeakKeyDictionary[Any, dict[str, tuple[tuple[Any, ...], Any]]] = WeakKeyDictionary()


def remembered(owner: Any, what: str, known: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """What was made for an owner when the same was known, as long as the owner lives; calibrators stay as they are.

    It must not refer to the owner, who would live as long as the program.

    >>> owner = band
    >>> remembered(owner, "list", (1,), lambda: [2]) is remembered(owner, "list", (1,), lambda: [3])
    True
    """
    mine = _KNOWN.setdefault(owner, {})
    kept = mine.get(what)
    if kept is None or not all(a is b or np.array_equal(a, b) for a, b in zip(kept[0], known, strict=True)):
        kept = mine[what] = known, make()
    return cast("Made", kept[1])


class _Sums(NamedTuple):
    """Of n rows at the thresholds of a window (W, n): calibrated probabilities, and signed tails of the base."""

    level: Array
    tail: Array


@dataclass(frozen=True, eq=False)
class QuickQuantiles:
    """As the quantiles of the laws that `projection.log_masses` gives, to 1e-6 in probability.

    Work goes threshold by threshold over many rows, whose forecasts are near one another, so that tables and
    intermediate results stay in the cache, and thresholds far off all of them are left out.

    Parameters
    ----------
    table : ScoreTable
    grid : array (K,)
        Thresholds, evenly spaced.
    common : Map or None
        That which comes first in all rows.
    """

    table: ScoreTable
    grid: Array
    common: Map | None

    def __call__(self, forecasts: Distribution, levels: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Scores (n, L) after the common map at levels (L,), and rows (n,) of which these are not to be had so."""
        low, high = forecasts.from_normal(np.array([list(self.table.ends)])).T
        order = np.argsort(low + high)
        out, doubt = np.empty((len(order), len(levels))), np.zeros(len(order), dtype=bool)
        space = np.empty((2, len(self.grid), min(len(order), max(1, _BLOCK // len(self.grid)))))
        for part in row_blocks(len(order), len(self.grid), _BLOCK):
            rows = order[part]
            window = self._window(float(low[rows].min()), float(high[rows].max()))
            inside = (low[rows].max() < self.grid) & (self.grid < high[rows].min())
            sums = self._sums(forecasts[rows], window, inside, space)
            whole = window.start == 0, window.stop == len(self.grid)
            for j, level in enumerate(levels):
                out[rows, j], unsure = _scores(sums, float(level), whole)
                doubt[rows] |= unsure
        return out, doubt

    def _window(self, low: float, high: float) -> slice:
        """Thresholds that matter to outcomes between, with those that are averaged with them."""
        reach = reach_of(band(len(self.grid))) + 2
        start, stop = np.searchsorted(self.grid, [low, high])
        start = min(max(int(start) - reach, 0), len(self.grid) - 2)
        return slice(start, max(min(int(stop) + reach, len(self.grid)), start + 2))

    def _sums(self, forecasts: Distribution, window: slice, inside: NDArray[np.bool_], space: Array) -> _Sums:
        places = range(window.start, window.stop)
        cdf, tail = space[:, : len(places), : len(forecasts)]
        at = np.empty(len(forecasts))
        for k, probability, below in zip(places, cdf, tail, strict=True):
            at.fill(self.grid[k])
            self.table.both(k, forecasts.to_normal(at), probability, below, beyond=not inside[k])
        weights = band(len(self.grid))
        for part in row_blocks(len(forecasts), block=_STRIP):
            cdf[:, part] = _masses(cdf[:, part], tail[:, part], weights)
        for before, here in itertools.pairwise(cdf):  # line by line, as columns are read one number at a time
            here += before
        return _Sums(cdf, tail)


def quick_quantiles(common: Map | None, classify: Callable[[Array], Array], grid: Array) -> QuickQuantiles | None:
    """From the map that comes first and the classifier, of scores after it (m,) at all thresholds, (m, K)."""
    if common is not None and common.has_steps:
        return None
    table = score_table(common, classify, np.array([-FARTHEST, FARTHEST]))
    return None if table is None else QuickQuantiles(table, grid, common)


def _masses(cdf: Array, tail: Array, weights: Array) -> Array:
    """As `log_masses`: up to the first threshold and between these, from the classifier and the signed tails (W, n)."""
    mass = cdf[1:] - cdf[:-1]
    falls = np.flatnonzero(mass.min(axis=0) < 0)
    if len(falls):
        cdf[:, falls] = made_to_rise(cdf[:, falls].T).T
        np.subtract(cdf[1:], cdf[:-1], out=mass)
    base = tail[1:] - tail[:-1]
    np.add(base, 1, out=base, where=base < 0)  # from one tail to the other
    out = np.empty(tail.shape)
    out[0] = (1 - BASE_SHARE) * cdf[0] + BASE_SHARE * (tail[0] + (tail[0] < 0))
    smooth = blurred(mass, weights, out[1:])
    smooth *= base
    near = blurred(base, weights, mass)
    smooth /= np.maximum(near, _TINY, out=near)
    with np.errstate(divide="ignore", invalid="ignore"):
        smooth *= (1 - BASE_SHARE) * (cdf[-1] - cdf[0]) / smooth.sum(axis=0)
    base *= BASE_SHARE
    smooth += base
    return out


def _scores(sums: _Sums, level: float, whole: tuple[bool, bool]) -> tuple[Array, NDArray[np.bool_]]:
    """Scores of the base at one level in each column, and where these are in doubt."""
    found, last = _count_below(sums.level, level), len(sums.level)
    places = found + np.arange(-2, 2)[:, None]  # the ends of the segment, and the far ones of its neighbours
    new, base = (_ends(each, places) for each in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        rises, parts = (_gaps(each, places, last) for each in (new, base))
        share = np.clip((level - new[1]) / rises[1], 0.0, 1.0)
        rises /= parts
        a, b = np.sqrt(rises[0] / rises[1]), np.sqrt(rises[2] / rises[1])
        inside = _solved(share, np.where(found == 0, 1.0, a), np.where(found == last, 1.0, b))
        low, high = np.where(base[1] < 0, 1 + base[1], base[1]), np.where(base[2] < 0, -base[2], 1 - base[2])
        score = score_of(low + inside * parts[1], np.where(found == last, 0.0, high) + (1 - inside) * parts[1])
    edge = ((found <= 1) & (not whole[0])) | ((found >= last - 1) & (not whole[1]))
    return score, np.asarray(edge | ~np.isfinite(score))


def _ends(table: Array, places: Rows) -> Array:
    """Signed tails or probabilities at places in each column; those of -inf and inf beyond."""
    out = np.asarray(table[np.clip(places, 0, len(table) - 1), np.arange(places.shape[1])])
    out[places < 0], out[places >= len(table)] = 0.0, -0.0
    return out


def _gaps(ends: Array, places: Rows, last: int) -> Array:
    """Probabilities between these ends."""
    out = np.asarray(ends[1:] - ends[:-1])
    np.add(out, 1, out=out, where=(out < 0) | (places[1:] == last) & (ends[:-1] >= 0))
    return out


def _count_below(table: Array, level: float) -> Rows:
    """Entries of each rising column that are below a level."""
    width, n = table.shape
    found, columns = np.zeros(n, dtype=np.intp), np.arange(n)
    step = 1 << (width.bit_length() - 1)
    while step:
        tried = found + step
        passed = (tried <= width) & (table[np.minimum(tried, width) - 1, columns] < level)
        found = np.where(passed, tried, found)
        step >>= 1
    return found


def _solved(share: Array, a: Array, b: Array) -> Array:
    r"""The :math:`\xi` of `SmoothRows` that has this share of a segment below it."""
    middle = a - share * (a + b - 2)
    root = np.sqrt(np.maximum(np.square(middle) + 4 * (1 - middle) * share, 0.0))
    direct = 2 * share / (middle + root)
    across = (root - middle) / (2 * (1 - middle))
    return np.clip(np.where(middle >= 0, direct, across), 0.0, 1.0)
