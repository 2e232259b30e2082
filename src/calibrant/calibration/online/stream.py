"""One sequence of scores, calibrated as it comes: a mixture of maps and levels, weighed by what came."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..._checks import Array
from ...distributions.scores import log_pits, spread_scores
from ...maps import Map, MixedMap, identity
from ...numerics.soundness import check_finite
from ...numerics.tails import HALF_LOG_2PI, log_between, score_of_logs
from .decay import BLOCK
from .levels import SPREADS, Levels
from .shapes import Shape
from .shares import Shares

SPLINED = 100.0  # half-life from which a map is a spline; below it is affine, and a level as well
HEAVY = ((0.8, 0.7), (0.2, 1.75))  # shares and widths of two normal laws that are one of variance 1 with heavy tails
BASE, OUTER = 0.25, 0.35  # prior weights of the forecast as it is, and of what all streams together say
EXACT = 1024  # last rows of a batch that are weighed one by one
LEAST = 1e-6  # weight of a forecaster that takes part in forecasts


class Scores(NamedTuple):
    """Scores of outcomes: of what lies below and of what lies below or at them, one in between, and weights."""

    left: Array
    right: Array
    middle: Array
    weights: Array

    def take(self, rows: Any) -> Scores:
        """Those of these rows."""
        return Scores(*(column[rows] for column in (self.left, self.right, self.middle, self.weights)))

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.middle)


@dataclass(eq=False)
class Stream:
    """What is known of one sequence of scores: all that a forecast needs, whatever the history.

    Parameters
    ----------
    levels : Levels
    shapes : list of Shape
    shares : Shares
        Of the forecast as it is, of all streams together where there are several, of the shapes, and of the levels.
    rows : int
        Rows learned.
    span : tuple of float
        Smallest and largest score.
    waited : float
        Steps since all scores were added to the summaries.
    waiting : array (3, m)
        Scores, weights and ages that have not been added yet.
    """

    levels: Levels
    shapes: list[Shape]
    shares: Shares
    has_outer: bool = False
    heavy_tails: bool = False
    rows: int = 0
    span: tuple[float, float] = (0.0, 0.0)
    waited: float = 0.0
    waiting: Array = field(default_factory=lambda: np.empty((3, 0)))

    @classmethod
    def new(
        cls, half_lives: tuple[float, ...], fast: tuple[float, ...], *, lag: int = 0, has_outer: bool = False
    ) -> Stream:
        """One that knows nothing."""
        slow = tuple(h for h in half_lives if h < SPLINED)
        levels, shapes = Levels(fast, slow, lag), [Shape(h) for h in half_lives if h >= SPLINED]
        others = len(shapes) + len(HEAVY) * len(SPREADS) * levels.n_middles
        first = [BASE] + [OUTER] * has_outer
        prior = np.array([*first, *[(1 - sum(first)) / others] * others])
        return cls(levels, shapes, Shares.of(prior), has_outer)

    def _check_sound(self) -> None:
        """Raise ValueError if this cannot be what was learned."""
        check_finite(self, "rows", "span")
        n = self.levels.n_middles
        if self.levels.widths.shape[1:] != (len(SPREADS), n) or self.shares.prior.shape != (
            1 + self.has_outer + len(self.shapes) + len(HEAVY) * len(SPREADS) * n,
        ):
            raise ValueError("a stream's parts do not belong together.")

    def learn(
        self, scores: Scores, step: float, outer: Array | None = None, *, heavy_tails: bool = False, most: int = EXACT
    ) -> Array:
        """Log densities that were forecast of the scores, (n,), 0 of all but the last ``most``; learn from them."""
        self.heavy_tails |= heavy_tails
        found = np.zeros(scores.size)
        start = max(0, scores.size - most)
        if start:
            self.absorb(scores.take(slice(start)), step)
        while start < scores.size:
            rows = slice(start, min(start + self._room(step), scores.size))
            found[rows] = self._learn(scores.take(rows), step, None if outer is None else outer[rows])
            start = rows.stop
        return found

    def absorb(self, scores: Scores, step: float) -> None:
        """Learn from rows that are many, without weighing the forecasters by them."""
        reach = int(40 * max(self.levels.half_lives) / step)
        for start in range(max(0, scores.size - reach), scores.size, BLOCK):
            part = scores.take(slice(start, start + BLOCK))
            self.levels.follow(part.middle, part.weights, step)
        self._count(scores)
        self._wait(scores, step)
        self._fit(self.shapes)

    def _count(self, scores: Scores) -> None:
        low, high = float(scores.left.min()), float(scores.right.max())
        self.span = (min(self.span[0], max(low, -40.0)), max(self.span[1], min(high, 40.0)))
        self.rows += scores.size

    def _room(self, step: float) -> int:
        """Rows until a map is due, up to a block."""
        wait = min((shape.wait for shape in self.shapes), default=np.inf) - self.waited
        return int(np.clip(np.ceil(wait / step), 1, BLOCK))

    def _learn(self, scores: Scores, step: float, outer: Array | None) -> Array:
        middles, widths = self.levels.follow(scores.middle, scores.weights, step)
        logs = _log_densities(scores, middles, widths, [identity(), *(shape.map for shape in self.shapes)])
        if outer is not None:
            logs = np.insert(logs, 1, outer, axis=1)
        found = self.shares.learn(logs, scores.weights, step)
        self._count(scores)
        self._wait(scores, step)
        return found

    def _wait(self, scores: Scores, step: float) -> None:
        """Put scores beside those that no map has been fitted to."""
        if not self.shapes:
            return
        age = step * np.arange(scores.size - 1, -1, -1.0)
        points = np.stack([scores.middle, scores.weights, age])
        if (split := scores.left < scores.right).any():
            parts = spread_scores(scores.left[split], scores.right[split])
            many = parts.shape[1]
            spread = [parts.ravel(), *(np.repeat(column, many) for column in (points[1, split] / many, age[split]))]
            points = np.hstack([points[:, ~split], np.stack(spread)])
        self.waited += step * scores.size
        self.waiting = np.hstack([self.waiting + np.array([[0.0], [0.0], [step * scores.size]]), points])
        due = [shape for shape in self.shapes if shape.wait <= self.waited]
        if due:
            self._fit(due)

    def _fit(self, due: list[Shape]) -> None:
        """All that waits goes to all shapes; maps of those that are due are fitted."""
        for shape in self.shapes:
            shape.absorb(self.waiting, self.waited)
        for shape in due:
            shape.fit(heavy_tails=self.heavy_tails)
        self.waiting, self.waited = np.empty((3, 0)), 0.0

    def law(self, outer: Map | None = None) -> Map:
        """The map of the next row's score."""
        if not self.rows:
            return identity() if outer is None else outer
        maps = [identity(), *([] if outer is None else [outer]), *(shape.map for shape in self.shapes)]
        weights = self.shares.weights
        middles, widths = self.levels.middles[-1], self.levels.widths[-1]
        normal = weights[len(maps) :].reshape(len(HEAVY), *widths.shape)
        plain, heavy = normal
        shares = [plain, *(share * heavy for share, _ in HEAVY)]
        scales = [widths, *(width * widths for _, width in HEAVY)]
        share, scale = (np.concatenate([part.ravel() for part in parts]) for parts in (shares, scales))
        place = np.tile(middles, len(shares) * len(SPREADS))
        kept, used = share > LEAST, weights[: len(maps)] > LEAST
        total = share[kept].sum() + weights[: len(maps)][used].sum()
        return MixedMap(
            share[kept] / total,
            place[kept],
            scale[kept],
            tuple(part for part, is_used in zip(maps, used, strict=True) if is_used),
            weights[: len(maps)][used] / total,
        )

    def named_weights(self) -> dict[str, float]:
        """Weights of the forecasters, those of one map or level together."""
        w = self.shares.weights
        first = ["base", *["common"] * self.has_outer, *(f"map {shape.half_life:g}" for shape in self.shapes)]
        levels = self.levels
        names = [f"level {h:g}" for h in levels.fast] + [f"map {h:g}" for h in levels.slow]
        names = ["spread", *names, *(f"returning level {h:g}" for h in levels.fast)]
        normal = w[len(first) :].reshape(-1, levels.n_middles).sum(axis=0)
        return dict(zip([*first, *names], [*w[: len(first)].tolist(), *normal.tolist()], strict=True))


def _log_densities(scores: Scores, middles: Array, widths: Array, maps: list[Map]) -> Array:
    """Log densities (n, K) of the scores under maps and normal laws, or log probabilities of what lies between."""
    n = scores.size
    atoms = (scores.left < scores.right).any()
    if atoms:
        ends = [np.concatenate([scores.left, scores.right])]
        mapped = [log_between(*np.split(part(ends[0]), 2)) for part in maps]
        u = [(side[:, None, None] - middles[:, None, :]) / widths for side in (scores.left, scores.right)]
        plain, heavy = log_between(*u), _mixed([log_between(*(side / width for side in u)) for _, width in HEAVY])
        points = scores.left == scores.right
        if not points.any():
            return np.column_stack([*mapped, plain.reshape(n, -1), heavy.reshape(n, -1)])
    dense = [part.log_density(scores.middle) - HALF_LOG_2PI for part in maps]
    centred = (scores.middle[:, None, None] - middles[:, None, :]) / widths
    square, log_width = -0.5 * np.square(centred), np.log(widths) + HALF_LOG_2PI
    bell = square - log_width
    tails = _mixed([square / width**2 - np.log(width) for _, width in HEAVY]) - log_width
    whole = np.column_stack([*dense, bell.reshape(n, -1), tails.reshape(n, -1)])
    if not atoms:
        return whole
    return np.where(points[:, None], whole, np.column_stack([*mapped, plain.reshape(n, -1), heavy.reshape(n, -1)]))


def _mixed(logs: list[Array]) -> Array:
    """Log of the mixture of two laws with heavy tails."""
    one, two = (np.log(share) + part for (share, _), part in zip(HEAVY, logs, strict=True))
    return np.asarray(np.logaddexp(one, two))


def scores_between(left: Array, right: Array, weights: Array) -> Scores:
    """Scores of outcomes with the middle of each atom, by probability."""
    if left is right:
        return Scores(left, right, right, weights)
    middle = np.where(left < right, score_of_logs(*log_pits(left, right, "mid")), right)
    return Scores(left, right, middle, weights)
