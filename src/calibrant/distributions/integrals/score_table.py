r"""CRPS of one standard law as a table of polynomials, for laws with many rows.

:math:`C(u) = \int_{-\infty}^u F^2 + \int_u^\infty (1-F)^2` has the slope :math:`C' = 2F - 1`. On cells so narrow that
F is a polynomial through five Gauss points to rounding, C is one of degree five: each score is a look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre, polynomial
from numpy.typing import NDArray
from scipy.special import ndtr

from ..._checks import Array
from ...numerics.blocks import BLOCK, joined, row_blocks
from ...numerics.lookup import KnotIndex

Scores = Callable[[Array], Array]  # normal scores of a standard law, at points of any shape

_NODES, _WEIGHTS = legendre.leggauss(5)
_COEFFICIENTS = np.linalg.inv(legendre.legvander(_NODES, 4)).T  # values at the nodes to Legendre coefficients
_LAST = _COEFFICIENTS[:, -1]
_TO_POWERS = np.stack([np.pad(legendre.leg2poly(row), (0, 5))[:5] for row in np.eye(5)])
_POWERS = _COEFFICIENTS @ _TO_POWERS  # values at the nodes to coefficients of powers
_LEFT_OUT = 1e-9  # of the score: the last coefficient; the first that is left out is far smaller
_ROUNDS, _MOST = 12, 2**18  # halvings of cells, and the most of these

Cells = tuple[Array, Array, Array, Array]  # edges, F and 1 - F at the nodes of each cell, half its width


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores between the first and the last edge, beyond which F is 0 or 1."""

    index: KnotIndex
    rate: Array
    shift: Array
    pieces: tuple[Array, ...]  # one line a power, highest first

    @classmethod
    def of(cls, scores: Scores, edges: Array) -> ScoreTable | None:
        """The table on cells between these edges, halved where F bends much; None where that never ends."""
        for _ in range(_ROUNDS):
            cells = _cells(scores, edges)
            left, rough = _starts(cells)
            if not rough.any():
                return cls._made(cells, left)
            ends = np.arcsinh(edges)
            middle = np.clip(np.sinh(0.5 * (ends[:-1] + ends[1:])), edges[:-1], edges[1:])
            edges = np.unique(np.concatenate([edges, middle[rough]]))
            if len(edges) > _MOST:
                break
        return None

    @classmethod
    def _made(cls, cells: Cells, left: Array) -> ScoreTable:
        edges, cdf, sf, half = cells
        slopes = half * ((cdf - sf) @ _POWERS).T
        powers = np.concatenate([np.zeros((1, len(half))), slopes / np.arange(1, 6)[:, None]])
        powers[0] = left - polynomial.polyval(-1.0, powers)
        rate = 1 / half
        shift = -0.5 * (edges[:-1] * rate + edges[1:] * rate)
        return cls(KnotIndex(edges), rate, shift, tuple(np.ascontiguousarray(line) for line in powers[::-1]))

    def __call__(self, u: Array) -> Array:
        """Scores of standardised outcomes, (n,)."""
        return joined(self._block(u[rows]) for rows in row_blocks(len(u), block=BLOCK // 2))

    def _block(self, u: Array) -> Array:
        edges = self.index.knots
        inside = np.clip(u, edges[0], edges[-1])
        cell = self.index.segment(inside)
        cell -= 1
        np.minimum(cell, len(edges) - 2, out=cell)
        s = self.rate.take(cell)
        s *= inside
        s += self.shift.take(cell)
        out = self.pieces[0].take(cell)
        for piece in self.pieces[1:]:
            out *= s
            out += piece.take(cell)
        inside -= u
        out += np.abs(inside, out=inside)
        return out


def _cells(scores: Scores, edges: Array) -> Cells:
    half = 0.5 * np.diff(edges)
    z = scores((edges[:-1] + half)[:, None] + half[:, None] * _NODES)
    return edges, ndtr(z), ndtr(-z), half


def _starts(cells: Cells) -> tuple[Array, NDArray[np.bool_]]:
    """Scores at the left end of each cell, and which cells are too wide for a polynomial."""
    _, cdf, sf, half = cells
    below = np.concatenate([[0.0], np.cumsum(half * (np.square(cdf) @ _WEIGHTS))])
    above = np.concatenate([np.cumsum((half * (np.square(sf) @ _WEIGHTS))[::-1])[::-1], [0.0]])
    start = (below + above)[:-1]
    return start, np.abs(cdf @ _LAST) * half > _LEFT_OUT * start
