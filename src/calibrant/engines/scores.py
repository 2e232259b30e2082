"""Fits to normal scores: all that some calibrators learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from .._checks import Array
from ..calibration import normal_scores
from ..distributions import Distribution
from ..maps.base import Side
from ..maps.cells import FAR, cells_of
from ..regression import QuantileCalibrator, ScaleCalibrator
from ..tables.columns import Columns
from ..tables.rows import TableRows, forecasts_of

MOST = 2_000_000  # scores that are kept as they are
FINE = 1024  # cells per unit of asinh((z - median) / scale), four times as many as a fit to all rows takes
BLOCK = 16_384 * 4  # scores worked on at a time


class Standard(Distribution):
    """Standard normal laws, n of them, without a number of their own: outcomes are their normal scores."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, rows: Any) -> Standard:
        return Standard(len(range(self.rows)[rows]) if isinstance(rows, slice) else int(np.count_nonzero(rows)))

    @property
    def has_heavy_tails(self) -> bool:
        """Normal laws have none, nor have quantiles and samples."""
        return False

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        return y

    def from_normal(self, z: Array) -> Array:
        return z

    def log_slope(self, y: Array) -> Array:
        return np.zeros_like(y)

    def _by_blocks(self, compute: Callable[[Any, Array], Array], y: Array, block: int = 0) -> Array:
        return compute(self, y)


def sees_scores(calibrator: Any, columns: Columns) -> bool:
    """Whether normal scores of the outcomes are all that a calibrator learns from."""
    if columns.kind in ("classes", "points"):
        return False
    if type(calibrator) is QuantileCalibrator:
        return bool(calibrator.atoms == "spread")
    return type(calibrator) is ScaleCalibrator and calibrator.method != "bins"


class Scores:
    """Normal scores and their weights, as they come; of very many, cells of a fine grid if these will do.

    The grid is even in asinh((z − median)/scale), median and scale being those of the first scores; a cell holds its
    weight and the mean of its scores, so that memory does not grow with the rows.

    Parameters
    ----------
    cells : bool
        Whether cells will do.
    """

    def __init__(self, cells: bool) -> None:
        self.cells = cells
        self.span = (np.inf, -np.inf)
        self._kept: list[tuple[Array, Array | None]] = []
        self._grid: _Grid | None = None

    def add(self, z: Array, weights: Array | None) -> None:
        """Take in some more."""
        self.span = (min(self.span[0], float(z.min())), max(self.span[1], float(z.max())))
        if self._grid is not None:
            return self._grid.add(z, weights)
        self._kept.append((z, weights))
        if self.cells and sum(len(scores) for scores, _ in self._kept) > MOST:
            first, w = self.all()
            centre, scale = cells_of(first, w).centre_scale()
            if scale > 0:
                self._grid = _Grid(centre, scale)
                self._grid.add(first, w)
                self._kept = []
        return None

    def all(self) -> tuple[Array, Array | None]:
        """Scores and weights, one after another."""
        if self._grid is not None:
            return self._grid.cells()
        scores = np.concatenate([z for z, _ in self._kept])
        if all(w is None for _, w in self._kept):
            return scores, None
        return scores, np.concatenate([np.ones(len(z)) if w is None else w for z, w in self._kept])


class _Grid:
    def __init__(self, centre: float, scale: float) -> None:
        self.centre, self.scale = centre, scale
        self.edge = int(np.ceil(np.arcsinh(FAR) * FINE)) + 1
        self.mass, self.moment = np.zeros(2 * self.edge + 2), np.zeros(2 * self.edge + 2)

    def add(self, z: Array, weights: Array | None) -> None:
        for start in range(0, len(z), BLOCK):
            u = (z[start : start + BLOCK] - self.centre) / self.scale
            np.clip(u, -FAR, FAR, out=u)
            cell = (np.arcsinh(u) * FINE + self.edge).astype(np.intp)
            w = None if weights is None else weights[start : start + BLOCK]
            self.mass += np.bincount(cell, w, minlength=self.mass.size)
            self.moment += np.bincount(cell, u if w is None else w * u, minlength=self.mass.size)

    def cells(self) -> tuple[Array, Array]:
        there = self.mass > 0
        return self.centre + self.scale * (self.moment[there] / self.mass[there]), self.mass[there]


def fit_to_scores(pieces: Iterable[TableRows], columns: Columns, calibrator: Any) -> Any:
    """The same fit as to the rows together: to standard normal laws whose outcomes are the normal scores."""
    scores, count = Scores(cells=getattr(calibrator, "map", None) == "spline"), 0
    for rows in filter(len, pieces):
        used = rows if rows.weights is None or rows.weights.all() else rows.take(rows.weights > 0)
        if not len(used):
            continue
        law: Any = forecasts_of(columns, used)
        scores.add(*normal_scores(law, np.asarray(used.y), used.weights))
        count += len(used)
    if not count:
        raise ValueError(f"column `{columns.target}` must have an outcome in some row; it has none.")
    z, w = scores.all()
    fitted = clone(calibrator).fit(Standard(len(z)), z, sample_weight=w)
    fitted.n_rows_, fitted.span_ = count, scores.span
    return fitted
