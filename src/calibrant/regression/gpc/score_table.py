"""What a classifier says of every score at each threshold of a grid, as cubic pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ..._checks import Array
from ...maps.base import Map
from ...numerics.blocks import row_blocks

_FARTHEST = (5.5, 6.0, 6.5, 7.0)  # mapped scores that are tabulated: the first beyond which there is nothing
_STEP = 0.025  # of a piece, in mapped scores, at most
_SLOTS = 65_536  # to which the ends of pieces are rounded
_MOST_PIECES = 2_000
_PIECES = 32  # worked on at a time
_NOTHING = 1e-7  # probability that may lie beyond the table
_PLACES = np.array([0.0, 0.5 - np.sqrt(0.05), 0.5 + np.sqrt(0.05), 1.0])  # in a piece: Lobatto's
_POWERS = np.linalg.inv(np.vander(_PLACES, 4))  # from values there to coefficients, the highest power first


@dataclass(frozen=True, eq=False)
class ScoreTable:
    r"""Cubics in the score x of the forecast before the map M that is common to all: of the classifier and the tails.

    Pieces end where M bends, so that each is smooth; which piece a score is in is read off a fine even grid.

    Parameters
    ----------
    ends : pair of float
        Scores between which it holds; beyond them there is no mass to speak of.
    piece : array of int (slots,)
        The piece of each slot.
    left : array (P,)
        Where pieces begin, in slots.
    tails : array (4, P)
        Of Φ(M(x)), or of -Φ(-M(x)) where M(x) > 0.
    classifier : array (K, 4, P)
        Of the probabilities at each threshold.
    """

    ends: tuple[float, float]
    piece: NDArray[np.intp]
    left: Array
    tails: Array
    classifier: Array

    @property
    def density(self) -> float:
        """Slots to a unit of the score."""
        return len(self.piece) / (self.ends[1] - self.ends[0])

    def both(self, k: int, x: Array, probability: Array, tail: Array, *, beyond: bool = True) -> None:
        """Write the classifier at the k-th threshold and the signed tail, at scores (n,), which may lie beyond."""
        x = x - self.ends[0]
        x *= self.density
        if beyond:
            np.minimum(np.maximum(x, 0.0, out=x), len(self.piece) - 1e-6, out=x)
        piece = self.piece.take(x.astype(np.intp), mode="clip")
        x -= self.left.take(piece, mode="clip")
        _horner(self.classifier[k], piece, x, probability)
        _horner(self.tails, piece, x, tail)


def _horner(coefficients: Array, piece: NDArray[np.intp], x: Array, out: Array) -> None:
    coefficients[0].take(piece, out=out, mode="clip")
    part = np.empty_like(out)
    for line in coefficients[1:]:
        out *= x
        out += line.take(piece, out=part, mode="clip")


def score_table(common: Map | None, classify: Callable[[Array], Array], bends: Array) -> ScoreTable | None:
    """Tabulate ``classify``, from mapped scores (m,) to probabilities (m, K), which is smooth but for these bends.

    None where the map has too many pieces, or too much would lie beyond the table.
    """
    mapped, across, kinks = (_same, _same, np.empty(0)) if common is None else (common, common.inverse, common.bends)
    far = _reach(classify)
    if far is None:
        return None
    first, last = (float(x) for x in across(np.array([-far, far])))
    even = np.linspace(-far, far, int(np.ceil(2 * far / _STEP)) + 1)
    cuts = np.concatenate([across(np.concatenate([even, bends])), kinks])
    slots = np.unique(np.clip(np.round((cuts - first) / (last - first) * _SLOTS), 0, _SLOTS))
    if len(slots) > _MOST_PIECES or not np.isfinite(slots).all():
        return None
    left, width = slots[:-1], np.diff(slots)
    places = np.append(left[:, None] + width[:, None] * _PLACES[:3], _SLOTS)  # a piece ends where the next begins
    z = mapped(places * (last - first) / _SLOTS + first)
    ends = _by_piece(z[:, None])[0]
    tails = np.where(ends.mean(axis=0) > 0, -ndtr(-ends), ndtr(ends))
    piece = np.repeat(np.arange(len(left)), width.astype(np.intp))
    return ScoreTable((first, last), piece, left, _cubics(tails, width), _classifier(classify, z, width))


def _classifier(classify: Callable[[Array], Array], z: Array, width: Array) -> Array:
    """Coefficients (K, 4, P) of the classifier; some pieces at a time, so that the same memory serves all."""
    out = np.empty((len(classify(z[:1])[0]), 4, len(width)))
    for some in row_blocks(len(width), block=_PIECES):
        out[:, :, some] = _cubics(_by_piece(classify(z[3 * some.start : 3 * some.stop + 1])), width[some])
    return out


def _by_piece(values: Array) -> Array:
    """Values (3P + 1, K) at the places of all pieces in order, as (K, 4, P)."""
    pieces, columns = len(values) // 3, values.T
    out = np.empty((len(columns), 4, pieces))
    for place in range(4):
        out[:, place] = columns[:, place : 3 * pieces - 2 + place : 3]
    return out


def _reach(classify: Callable[[Array], Array]) -> float | None:
    """Scores beyond which the classifier leaves nothing at any threshold."""
    for far in _FARTHEST:
        below, above = classify(np.array([-far, far]))
        if max(below.max(), 1 - above.min()) < _NOTHING:
            return far
    return None


def _cubics(values: Array, width: Array) -> Array:
    """Coefficients (..., 4, P) in slots from values at the places of the pieces."""
    found = np.asarray(_POWERS @ values)
    found /= width ** np.arange(3, -1, -1)[:, None]
    return found


def _same(z: Array) -> Array:
    return z
