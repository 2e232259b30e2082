"""Normal laws that follow the level and the spread of scores, one for each way of following."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._checks import Array
from .decay import decayed_sums

SPREADS = (12.0, 50.0, 200.0)  # half-lives of squared errors
LONG, SLOPE = 200.0, 100.0  # half-lives of the mean that levels return to, and of how far they do
FEW, START = 0.5, 3.0  # rows that the beginning counts for in a level and in a spread
RETURNS = 2.0  # rows' worth of trust in a level that half persists
NARROWEST, WIDEST = 1e-3, 1e8  # widths that are believed, and scores


@dataclass(eq=False)
class Levels:
    r"""Where scores are expected, and how far they stray, after each row.

    .. math:: \ell = \frac{\sum_i 2^{-a_i/h} z_i}{\sum_i 2^{-a_i/h}}, \qquad
        s^2 = \frac{\sum_i 2^{-a_i/g} (z_i - m_i)^2}{\sum_i 2^{-a_i/g}}

    a is the age of a row in steps. The middles m that are tried are 0, the levels :math:`\ell` themselves, and
    levels that return to the long-run mean, :math:`\bar\ell + \varphi (\ell - \bar\ell)`, with :math:`\varphi` by least
    squares.

    Parameters
    ----------
    fast, slow : tuple of float
        Half-lives h of the levels: those tried both as they are and returning, and those tried as they are.
    lag : int
        Rows between what was known when a row was forecast and the row before it.
    """

    fast: tuple[float, ...]
    slow: tuple[float, ...]
    lag: int = 0
    sums: Array = field(default_factory=lambda: np.empty(0))
    weights: Array = field(default_factory=lambda: np.empty(0))
    slopes: Array = field(default_factory=lambda: np.empty(0))
    squares: Array = field(default_factory=lambda: np.empty(0))
    counts: Array = field(default_factory=lambda: np.empty(0))
    known: Array = field(default_factory=lambda: np.empty(0))
    middles: Array = field(default_factory=lambda: np.empty(0))
    widths: Array = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        """Know nothing yet, unless told."""
        if self.sums.size:
            return
        levels, laws, back = len(self.half_lives), self.n_middles, self.lag + 1
        self.sums, self.weights = np.zeros((levels, 1)), np.full((levels, 1), FEW)
        self.slopes = np.tile([[0.5 * RETURNS, RETURNS]], (len(self.fast), 1))
        self.squares, self.counts = np.full((len(SPREADS), laws), START), np.full((len(SPREADS), 1), START)
        self.known = np.zeros((back, levels))
        self.middles, self.widths = np.zeros((back, laws)), np.ones((back, len(SPREADS), laws))

    @property
    def half_lives(self) -> tuple[float, ...]:
        """Of all levels, the long-run mean last."""
        return (*self.fast, *self.slow, LONG)

    @property
    def n_middles(self) -> int:
        """Number of middles that are tried."""
        return 1 + 2 * len(self.fast) + len(self.slow)

    def follow(self, z: Array, w: Array, step: float) -> tuple[Array, Array]:
        """Middles (n, M) and widths (n, S, M) that were expected of a few rows; then learn from these."""
        n, fast, z = len(z), len(self.fast), np.minimum(np.maximum(z, -WIDEST), WIDEST)
        weighted = np.array([w * z, w]).T
        sums = decayed_sums(self.half_lives, step, np.hstack([self.sums, self.weights]), weighted)
        level = (sums[..., 0] / sums[..., 1]).T
        before = np.concatenate([self.known, level])
        mean, away = before[:n, -1:], before[:n, :fast] - before[:n, -1:]
        pairs = np.stack([w[:, None] * away * (z[:, None] - mean), w[:, None] * away**2], axis=2)
        slopes = decayed_sums((SLOPE,), step, self.slopes.ravel()[None], pairs.reshape(n, -1))[0].reshape(n, fast, 2)
        returned = level[:, -1:] + slopes[..., 0] / slopes[..., 1] * (level[:, :fast] - level[:, -1:])
        middles = np.concatenate([self.middles, np.concatenate([np.zeros((n, 1)), level[:, :-1], returned], axis=1)])
        errors = w[:, None] * np.square(z[:, None] - middles[:n])
        both = np.concatenate([errors, w[:, None]], axis=1)
        squares = decayed_sums(SPREADS, step, np.hstack([self.squares, self.counts]), both)
        width = np.sqrt(squares[..., :-1] / squares[..., -1:]).transpose(1, 0, 2)
        widths = np.concatenate([self.widths, np.maximum(width, NARROWEST)])
        self.sums, self.weights = sums[:, -1, :1], sums[:, -1, 1:]
        self.slopes, self.squares, self.counts = slopes[-1], squares[:, -1, :-1], squares[:, -1, -1:]
        self.known, self.middles, self.widths = before[n:], middles[n:], widths[n:]
        return middles[:n], widths[:n]
