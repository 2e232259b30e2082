r"""Standard deviation and CRPS of laws without closed forms, both from one evaluation of F at some points of each row.

With some c near the median, :math:`E(Y-c) = \int_c^\infty (1-F) - \int_{-\infty}^c F`,
:math:`E(Y-c)^2 = 2\int_c^\infty (y-c)(1-F) + 2\int_{-\infty}^c (c-y) F` and
:math:`\mathrm{CRPS}(y) = \int_{-\infty}^y F^2 + \int_y^\infty (1-F)^2`, by Gauss-Kronrod (7, 15) on panels between some
quantiles, c and y. Rows for which the two rules differ by more than half a hundredth of the spread, as laws with many
kinks do, get three times as many panels; those that still do are integrated adaptively, as :meth:`Distribution.std` and
:meth:`Distribution.crps` do for all. What is left of the error is rounding for smooth laws; for those with dozens of
kinks it is a few thousandths of the spread in a row, of either sign, and about a ten thousandth in the mean.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from .._checks import Array
from ..distributions import Mixture, Normal
from ..distributions.base import Distribution
from ..distributions.integrals.quadrature import GAUSS, KRONROD, NODES
from ..distributions.joined import Joined
from ..distributions.recalibrated import Recalibrated
from ..distributions.segmented import Segmented
from ..numerics.blocks import row_blocks

SCORES = np.array([-8.5, -4.0, -2.2, -1.0, 0.0, 1.0, 2.2, 4.0, 8.5])  # panels end at these normal scores
TOLERANCE = 5e-3  # of the spread, between the two rules; the better one is nearer to the truth
SPLIT = 3  # panels for one, where one is not enough


def needs_integrals(law: Distribution) -> bool:
    """Whether standard deviation and CRPS of a law have no closed form.

    >>> from calibrant import Normal
    >>> needs_integrals(Normal([0.0], 1.0))
    False
    """
    if isinstance(law, Joined):
        return any(needs_integrals(part) for part in law.parts)
    if law.has_atoms:
        return False
    if isinstance(law, Mixture):
        return not all(isinstance(component, Normal) for component in law.components)
    if isinstance(law, Recalibrated):
        return isinstance(law, Segmented) or law._standard() is None  # the sums of segments are no quicker
    return type(law).crps is Distribution.crps


def std_and_crps(law: Distribution, y: Array) -> tuple[Array, Array]:
    """Standard deviations and CRPS of one outcome per row."""
    if isinstance(law, Joined):
        both = law._spread(lambda part, v: np.stack(std_and_crps(part, v), axis=-1), y, results=(2,))
        return both[:, 0], both[:, 1]
    if not needs_integrals(law):
        return law.std(), law.crps(y)
    std, score, again = np.empty(len(law)), np.empty(len(law)), law.tail_index < np.inf
    left = np.flatnonzero(~again)
    for split in (1, SPLIT):
        std[left], score[left], error = _by_blocks(law[left], y[left], split)
        again[left] = ~(error <= TOLERANCE * std[left])
        left = left[again[left]]
    left = np.flatnonzero(again)
    if len(left):
        std[left], score[left] = law[left].std(), law[left].crps(y[left])
    return std, score


def _by_blocks(law: Distribution, y: Array, split: int) -> Array:
    """Standard deviations, scores and errors (3, n), some rows at a time."""
    out = np.empty((3, len(law)))
    with np.errstate(all="ignore"):  # rows that go wrong are integrated again
        for rows in row_blocks(len(law), split * len(SCORES) * len(NODES)):
            out[:, rows] = _integrated(law[rows], y[rows], split)
    return out


def _integrated(law: Distribution, y: Array, split: int) -> tuple[Array, Array, Array]:
    """Standard deviations, scores, and estimates of the error of both."""
    ends = _ends(law)
    centre = ends[:, len(SCORES) // 2]
    edges = np.sort(np.column_stack([ends, y]), axis=1)
    shares = np.arange(split) / split
    inner = edges[:, :-1, None] + np.diff(edges, axis=1)[:, :, None] * shares
    edges = np.column_stack([inner.reshape(len(y), -1), edges[:, -1]])
    half = 0.5 * np.diff(edges, axis=1)
    points = edges[:, :-1, None] + half[:, :, None] * (1 + NODES)
    z = law.to_normal(points.reshape(len(y), -1)).reshape(points.shape)
    low, high = ndtr(z), ndtr(-z)
    u = points - centre[:, None, None]
    first = np.where(u < 0, -low, high)
    parts = (first, 2 * u * first, np.square(np.where(points < y[:, None, None], low, high)))
    kronrod, gauss = ([np.sum(half * (part @ rule), axis=1) for part in parts] for rule in (KRONROD, GAUSS))
    std = np.sqrt(np.maximum(kronrod[1] - np.square(kronrod[0]), 0.0))
    off = [np.abs(a - b) for a, b in zip(kronrod, gauss, strict=True)]
    return std, kronrod[2], np.maximum(off[2], off[1] / (2 * std) + off[0])


def _ends(law: Distribution) -> Array:
    """Quantiles at the scores (n, m); of mixtures something between those of the components, which are cheaper."""
    if not isinstance(law, Mixture):
        return law.from_normal(np.broadcast_to(SCORES, (len(law), len(SCORES))))
    each = np.stack([_ends(component) for component in law.components])
    middle = each.mean(axis=0)
    middle[:, 0], middle[:, -1] = each[:, :, 0].min(axis=0), each[:, :, -1].max(axis=0)
    return np.asarray(middle)
