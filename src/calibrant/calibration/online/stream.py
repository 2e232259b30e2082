"""One sequence of scores, calibrated as it comes: a mixture of maps and levels, weighed by what came."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from ..._checks import Array
from ...maps import ComposedMap, Map, MixedMap, identity
from ...numerics.soundness import check_finite
from .decay import BLOCK
from .guarantee import Guarantee
from .levels import SPREADS, Levels
from .looks import HEAVY, Laws, Look, Scores, scores_of
from .mending import Mending, Waiting
from .shapes import Shape
from .shares import Shares

SPLINED = 500.0  # half-life from which a map is a spline; below it is affine, and a level as well
BASE, OUTER = 0.25, 0.35  # prior weights of the forecast as it is, and of what all streams together say
EXACT = 1024  # last rows of a batch that are weighed one by one
LEAST = 1e-6  # weight of a forecaster that takes part in forecasts
MENDED = 200.0  # half-life of what is left in the mixture's own scores
_FARTHEST = 40.0
_NEVER = 1e12  # scores at which no outcome is believed: a promised end beyond is infinite, and says so


class Seen(NamedTuple):
    """What a mixture said of n outcomes before they came: log densities, what mending added, scores at both sides."""

    logs: Array
    gains: Array
    left: Array
    right: Array

    @classmethod
    def none(cls, rows: int) -> Seen:
        """Nothing yet, of so many rows."""
        return cls(*np.zeros((4, rows)))

    def take(self, rows: Any) -> Seen:
        """Of these rows."""
        return Seen(*(column[rows] for column in self))

    def put(self, rows: Any, part: Seen) -> None:
        """Fill in these rows."""
        for column, values in zip(self, part, strict=True):
            column[rows] = values


@dataclass(eq=False)
class Stream:
    """What is known of one sequence of scores: all that a forecast needs, whatever the history.

    Parameters
    ----------
    levels : Levels
    shapes : Waiting
        Maps of the scores.
    shares : Shares
        Of the forecast as it is, of all streams together where there are several, of the shapes, and of the levels.
    mending : Mending
        Map of the mixture's own scores.
    guarantee : Guarantee, optional
        Levels that are kept whatever comes.
    has_outer : bool
        Whether one of the forecasters is the mixture of all streams together.
    rows : int
        Rows learned.
    span : tuple of float
        Smallest and largest score.
    """

    levels: Levels
    shapes: Waiting
    shares: Shares
    mending: Mending
    guarantee: Guarantee | None = None
    has_outer: bool = False
    heavy_tails: bool = False
    rows: int = 0
    span: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def new(
        cls,
        half_lives: tuple[float, ...],
        fast: tuple[float, ...],
        *,
        coverages: Any = None,
        lag: int = 0,
        has_outer: bool = False,
    ) -> Stream:
        """One that knows nothing."""
        slow = tuple(h for h in half_lives if h < SPLINED)
        levels, shapes = Levels(fast, slow, lag), [Shape(h) for h in half_lives if h >= SPLINED]
        promised = None if coverages is None else Guarantee.of(coverages)
        others = len(shapes) + len(HEAVY) * len(SPREADS) * levels.n_middles
        first = [BASE] + [OUTER] * has_outer
        prior = np.array([*first, *[(1 - sum(first)) / others] * others])
        return cls(levels, Waiting(shapes), Shares.of(prior), Mending.new(MENDED), promised, has_outer)

    def _check_sound(self) -> None:
        """Raise ValueError if this cannot be what was learned."""
        check_finite(self, "rows", "span")
        n = self.levels.n_middles
        wanted = 1 + self.has_outer + len(self.shapes.shapes) + len(HEAVY) * len(SPREADS) * n
        if self.levels.widths.shape[1:] != (len(SPREADS), n) or self.shares.prior.shape != (wanted,):
            raise ValueError("a stream's parts do not belong together.")

    # ---- learning ----
    def learn(self, scores: Scores, step: float, outer: Seen | None = None, *, most: int = EXACT) -> Seen:
        """What was said of the scores before they came, nothing of all but the last ``most``; then learn from them."""
        if scores.size == 1 <= most:
            return self._learn(scores, step, outer)
        found = Seen.none(scores.size)
        start = max(0, scores.size - most)
        if start:
            self.absorb(scores.take(slice(start)), step)
        while start < scores.size:
            wait = min(self.shapes.wait, self.mending.scores.wait) / step
            rows = slice(start, min(start + max(1, math.ceil(min(wait, BLOCK))), scores.size))
            found.put(rows, self._learn(scores.take(rows), step, None if outer is None else outer.take(rows)))
            start = rows.stop
        return found

    def absorb(self, scores: Scores, step: float) -> None:
        """Learn from rows that are many, without weighing the forecasters by them."""
        reach = int(40 * max(self.levels.half_lives) / step)
        for start in range(max(0, scores.size - reach), scores.size, BLOCK):
            part = scores.take(slice(start, start + BLOCK))
            self.levels.follow(part.middle, part.weights, step)
        self._count(scores)
        self.shapes.add(scores, step, heavy_tails=self.heavy_tails, always=True)

    def _learn(self, scores: Scores, step: float, outer: Seen | None) -> Seen:
        """Learn from a few rows, none of which but the last makes a map due."""
        maps = [shape.map for shape in self.shapes.shapes]
        laws = Laws(maps, *self.levels.follow(scores.middle, scores.weights, step))
        logs, looks = laws.log_densities(scores)
        if outer is not None:
            logs = np.insert(logs, 1, outer.logs, axis=1)
        found, weights = self.shares.learn(logs, scores.weights, step)
        sides = [_own_scores(look, weights, outer, side) for side, look in enumerate(looks)]
        own = Scores.between(sides[0], np.maximum(sides[0], sides[-1]) if len(sides) > 1 else sides[0], scores.weights)
        gains = self.mending.learn(own, step)
        self._count(scores)
        self.shapes.add(scores, step, heavy_tails=self.heavy_tails)
        return Seen(found, gains, own.left, own.right)

    def _count(self, scores: Scores) -> None:
        low, high = float(scores.left.min()), float(scores.right.max())
        self.span = (min(self.span[0], max(low, -_FARTHEST)), max(self.span[1], min(high, _FARTHEST)))
        self.rows += scores.size

    # ---- forecasting ----
    def law(self, outer: Map | None = None) -> Map:
        """The map of the next row's score, mended."""
        mended = ComposedMap(self.mixture(outer), self.mending.map)
        return mended if self.guarantee is None else ComposedMap(mended, self.guarantee.map)

    def promised(self, outer: Map | None = None) -> Array:
        """Scores of the next row at which the promised levels are read, (P,)."""
        if self.guarantee is None:
            return np.empty(0)
        with np.errstate(invalid="ignore"):
            read = self.guarantee.met(self.law(outer).inverse(ndtri(self.guarantee.levels)))
        return np.where(np.abs(read) > _NEVER, np.copysign(np.inf, read), read)

    def ends(self, outer: Map | None = None) -> dict[float, tuple[float, float]]:
        """Scores of the next row at the ends of the promised intervals, by coverage."""
        if self.guarantee is None:
            return {}
        read, levels = self.promised(outer), self.guarantee.levels
        return {float(levels[b] - levels[a]): (float(read[a]), float(read[b])) for a, b in self.guarantee.pairs}

    def mixture(self, outer: Map | None = None) -> Map:
        """The map of the next row's score as the forecasters together say."""
        if not self.rows:
            return identity() if outer is None else outer
        maps = [identity(), *([] if outer is None else [outer]), *(shape.map for shape in self.shapes.shapes)]
        weights = self.shares.weights
        first, (plain, heavy) = weights[: len(maps)], np.split(weights[len(maps) :], len(HEAVY))
        middles, widths = np.tile(self.levels.middles[-1], len(SPREADS)), self.levels.widths[-1].ravel()
        share = np.concatenate([plain, *(part * heavy for part, _ in HEAVY)])
        scale = np.concatenate([widths, *(width * widths for _, width in HEAVY)])
        kept, used = share > LEAST, first > LEAST
        total = share[kept].sum() + first[used].sum()
        some = tuple(part for part, is_used in zip(maps, used, strict=True) if is_used)
        places = np.tile(middles, 1 + len(HEAVY))
        return MixedMap(share[kept] / total, places[kept], scale[kept], some, first[used] / total)

    def named_weights(self) -> dict[str, float]:
        """Weights of the forecasters, those of one map or level together."""
        w, levels = self.shares.weights, self.levels
        first = ["base", *["common"] * self.has_outer, *(f"map {shape.half_life:g}" for shape in self.shapes.shapes)]
        names = [f"level {h:g}" for h in levels.fast] + [f"map {h:g}" for h in levels.slow]
        names = ["spread", *names, *(f"returning level {h:g}" for h in levels.fast)]
        normal = w[len(first) :].reshape(-1, levels.n_middles).sum(axis=0)
        return dict(zip([*first, *names], [*w[: len(first)].tolist(), *normal.tolist()], strict=True))


def _own_scores(look: Look, weights: Array, outer: Seen | None, side: int) -> Array:
    """Scores under the mixture with the weights before each row."""
    if outer is None:
        return scores_of(look, weights)
    known = outer.right if side else outer.left
    return scores_of(look, weights, (ndtr(known), ndtr(-known)))
