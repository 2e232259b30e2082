"""Fits to normal scores: all that some calibrators learn from, eight bytes a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from .._checks import Array
from ..calibration.scores import normal_scores
from ..distributions import Distribution
from ..maps.base import Side
from ..regression import QuantileCalibrator, ScaleCalibrator
from ..store.columns import Columns
from ..store.rows import Rows, forecasts_of


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


def fit_to_scores(pieces: Iterable[Rows], columns: Columns, calibrator: Any) -> Any:
    """The same fit as to the rows together: to standard normal laws whose outcomes are the normal scores."""
    scores: list[Array] = []
    weights: list[Array] = []
    count = 0
    for rows in filter(len, pieces):
        law: Any = forecasts_of(columns, rows)
        z, w = normal_scores(law, np.asarray(rows.y), rows.weights)
        scores.append(z)
        weights.append(np.broadcast_to(1.0, z.shape) if w is None else w)
        count += len(rows) if rows.weights is None else int(np.count_nonzero(rows.weights))
    if not count:
        raise ValueError(f"column `{columns.target}` must have an outcome in some row; it has none.")
    n, weighted = sum(map(len, scores)), any(w.strides != (0,) for w in weights)
    w = _joined(weights, n) if weighted else None
    fitted = clone(calibrator).fit(Standard(n), _joined(scores, n), sample_weight=w)
    fitted.n_rows_ = count
    return fitted


def _joined(pieces: list[Array], n: int) -> Array:
    """One array of n numbers; each piece is let go as soon as it is copied."""
    out, end = np.empty(n), n
    while pieces:
        piece = pieces.pop()
        out[end - len(piece) : end] = piece
        end -= len(piece)
    return out
