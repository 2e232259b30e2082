r"""What a calibrator does to calibration on average, seen on rows that it has not learned from."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._checks import Array
from ..distributions import Distribution
from ..metrics import pit
from .base import RegressionCalibrator

FEWEST_ROWS = 40  # different ones; fewer say nothing when halved
MOST_ROWS = 2_000
NOISE = 1.0  # over the root of the number of rows: a larger growth of the distance is clear
_PARTS = 9  # the mass of an outcome on an atom is laid evenly on that many points of its interval
_watched = ContextVar("watched", default=True)


class Unseen(NamedTuple):
    """PIT intervals (n, 2) of unseen outcomes before and after calibration, their weights, how many rows they equal."""

    before: Array
    after: Array
    weights: Array
    rows: float


class PitWatched(RegressionCalibrator):
    """A calibrator that has looked at the PIT values of unseen outcomes, before and after."""

    _renamed: ClassVar[dict[str, str]] = {"marginal_": "pit_distances_"}  # in files of earlier versions

    pit_distances_: tuple[float, float]

    @property
    def marginal_(self) -> tuple[float, float]:
        """Earlier name of ``pit_distances_``; it is not the marginal calibration of Gneiting et al. (2007)."""
        return self.pit_distances_


class ConditionalCalibrator(PitWatched):
    """A calibrator that treats forecasts differently: better for each may be worse on average, so `fit` has a look.

    Attributes
    ----------
    pit_distances_ : tuple of float
        Largest distance of the PIT values of unseen outcomes from uniform, before and after: two halves of at most
        2 000 rows, each calibrated by a fit to the other. NaN with fewer than 40 different rows. A warning tells if
        it grew by more than chance explains, one over the root of the number of rows.
    """

    def _look_back(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        if not _watched.get():
            return
        w = np.ones(len(y)) if weights is None else weights
        self.pit_distances_ = pit_distances(self, self._unseen(forecasts, y, w))

    def _unseen(self, forecasts: Distribution, y: Array, w: Array) -> Unseen | None:
        """PITs of rows by a calibrator that has learned from the others."""
        copies = _copies(forecasts, y)
        half = halves(int(copies.max()) + 1)[copies]
        first, second = np.flatnonzero(half == 0), np.flatnonzero(half == 1)
        chosen = np.concatenate([second, first])
        rows = effective_rows(np.asarray(np.bincount(copies[chosen], w[chosen]), dtype=float))
        if rows < FEWEST_ROWS:
            return None
        after = []
        for train, test in ((first, second), (second, first)):
            fitted = self._refitted(forecasts[train], y[train], w[train])
            after.append(pit(y[test], fitted._transform(forecasts[test]), kind="interval"))
        return Unseen(pit(y[chosen], forecasts[chosen], kind="interval"), np.concatenate(after), w[chosen], rows)

    def _refitted(self, forecasts: Distribution, y: Array, w: Array) -> RegressionCalibrator:
        """A copy that has learned from these rows only."""
        with unwatched():
            fitted: RegressionCalibrator = clone(self).fit(forecasts, y, sample_weight=w)
        return fitted


@contextmanager
def unwatched() -> Iterator[None]:
    """Context in which fits do not look back: those of a part of something that is looked at as a whole."""
    token = _watched.set(False)
    try:
        yield
    finally:
        _watched.reset(token)


def pit_distances(calibrator: Any, unseen: Unseen | None) -> tuple[float, float]:
    """Distances from uniform before and after; warn if the second is clearly larger."""
    if unseen is None:
        return (np.nan, np.nan)
    before, after = (distance_from_uniform(pits, unseen.weights) for pits in unseen[:2])
    if _watched.get() and after > before + NOISE / np.sqrt(unseen.rows):
        warnings.warn(
            f"{type(calibrator).__name__} made the probabilistic calibration worse: on unseen rows the largest "
            f"distance of the PIT values from uniform went from {before:.3f} to {after:.3f}. The density may still be "
            "better: compare nll and calibration_error on held-out rows, with StackCalibrator and QuantileCalibrator "
            "too.",
            stacklevel=4,
        )
    return before, after


def distance_from_uniform(pits: Array, weights: Array) -> float:
    r"""Kolmogorov distance :math:`\sup_p |\hat F(p) - p|` of PIT intervals (n, 2), mass spread evenly over each.

    Examples
    --------
    >>> distance_from_uniform(np.array([[0.5, 0.5], [0.9, 0.9]]), np.ones(2))
    0.5
    """
    p, w = pits[:, 1], weights
    if (pits[:, 0] < p).any():
        shares = (np.arange(_PARTS) + 0.5) / _PARTS
        p = (pits[:, :1] + shares * np.diff(pits)).ravel()
        w = np.repeat(weights / _PARTS, _PARTS)
    order = np.argsort(p, kind="stable")
    p, reached = p[order], np.concatenate([[0.0], np.cumsum(w[order])]) / w.sum()
    return float(max((reached[1:] - p).max(), (p - reached[:-1]).max()))


def effective_rows(weights: Array) -> float:
    r"""Number of rows of weight 1 that say as much on average: :math:`(\sum w)^2 / \sum w^2` (Kish), at most the sum.

    >>> effective_rows(np.array([2.0, 2.0, 2.0]))
    3.0
    """
    total, shares = weights.sum(), weights / weights.max()
    return float(min(shares.sum() ** 2 / np.square(shares).sum(), total))


def halves(n: int) -> NDArray[np.intp]:
    """0 or 1 for at most 2 000 of n rows, drawn always the same way, -1 for the rest."""
    order = np.random.default_rng(0).permutation(n)
    out = np.full(n, -1)
    out[order[:MOST_ROWS]] = np.arange(min(n, MOST_ROWS)) % 2
    return out


def _copies(forecasts: Distribution, y: Array) -> NDArray[np.intp]:
    """The place of each row among those that differ, in sorted order: copies of a row have one place."""
    z = forecasts._row_scores(y)
    order = np.lexsort((y, z))
    z, y, out = z[order], y[order], np.empty(len(y), dtype=np.intp)
    new = (z[1:] != z[:-1]) | (y[1:] != y[:-1])
    out[order] = np.concatenate([[0], np.cumsum(new)])
    return out
