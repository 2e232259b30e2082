"""Measures of class probabilities against the sorting and counting they cannot do without."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibrant import metrics

from .timing import Line, cpu_seconds

N_BINS = 15


def lines() -> Iterator[Line]:
    """CalBin and ECE of a million rows, then the measures without a promise."""
    rng = np.random.default_rng(0)
    p = rng.random(1_000_000)
    y = (rng.random(len(p)) < p).astype(np.intp)
    sort = cpu_seconds(lambda: np.argsort(p))
    yield Line("CalBin, 1e6 rows", cpu_seconds(lambda: metrics.calbin(y, p)), "argsort", sort, 1.5)
    ties = np.round(p, 4)
    tied_sort = cpu_seconds(lambda: np.argsort(ties))
    yield Line("  1e4 different forecasts", cpu_seconds(lambda: metrics.calbin(y, ties)), "argsort", tied_sort, 1.5)
    weights = rng.integers(1, 4, len(p)).astype(np.float64)
    yield Line("  with weights", cpu_seconds(lambda: metrics.calbin(y, p, sample_weight=weights)), "argsort", sort)
    yield Line("  by example", cpu_seconds(lambda: metrics.calbin(y, p, form="example")), "argsort", sort)
    yield Line("CalLoss, 1e6 rows", cpu_seconds(lambda: metrics.calloss(y, p)), "argsort", sort)
    counting = cpu_seconds(lambda: _count(p, y))
    yield Line("ECE, 1e6 rows", cpu_seconds(lambda: metrics.ece(y, p)), "index, two bincounts", counting, 2)
    yield Line("SmoothECE, 1e6 rows", cpu_seconds(lambda: metrics.smooth_ece(y, p)), "index, two bincounts", counting)
    yield Line(
        "Brier score, 1e6 rows", cpu_seconds(lambda: metrics.brier_score(y, p)), "index, two bincounts", counting
    )
    yield Line("log loss, 1e6 rows", cpu_seconds(lambda: metrics.log_loss(y, p)), "index, two bincounts", counting)


def _count(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    labels = np.minimum((p * N_BINS).astype(np.intp), N_BINS - 1)
    return np.bincount(labels, p), np.bincount(labels, y)
