"""Fits by chunks: adding up summaries costs little more than one pass over the rows."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from calibrant import Normal, QuantileCalibrator
from calibrant.calibration import normal_scores

from .timing import Line, Measure, cpu_seconds

_PER_UNIT, _CELLS = 256, 8192


def lines(n: int = 10_000_000, chunks: tuple[int, ...] = (1_000_000, 131_072)) -> Iterator[Line | Measure]:
    """One pass: normal scores, their cells of asinh z, counts and sums. Then ours, with the fit at the end."""
    rng = np.random.default_rng(0)
    mu, sigma = rng.standard_normal(n), rng.uniform(0.5, 2.0, n)
    y = mu + sigma * (rng.gamma(3.0, 1.0, n) - 3)
    rows = QuantileCalibrator().fit(Normal(mu, sigma), y)
    for size in chunks:
        floor = cpu_seconds(lambda s=size: _one_pass(mu, sigma, y, s), 3)
        seconds = cpu_seconds(lambda s=size: _by_chunks(mu, sigma, y, s).map_, 3)
        yield Line(f"partial_fit, {n:.0e} rows by {size:.0e}", seconds, "one pass", floor, 2.0)
    z = np.linspace(-4, 6, 2001)
    apart = np.abs(ndtr(_by_chunks(mu, sigma, y, chunks[0]).map_(z)) - ndtr(rows.map_(z))).max()
    yield Measure("  largest distance from the fit to all rows", float(apart), "in probability", 1e-6)
    parts = [QuantileCalibrator().summarise(Normal(*c[:2]), c[2]) for c in _cut(mu, sigma, y, 131_072)]
    start = time.process_time()
    sum(parts[1:], parts[0])
    yield Measure("  merge of two summaries", (time.process_time() - start) / (len(parts) - 1) * 1e3, "ms")


def _one_pass(mu: np.ndarray, sigma: np.ndarray, y: np.ndarray, size: int) -> None:
    counts, sums = np.zeros((2, _CELLS))
    for m, s, v in _cut(mu, sigma, y, size):
        z, _ = normal_scores(Normal(m, s), v)
        for start in range(0, len(z), 32_768):
            block = z[start : start + 32_768]
            cell = (np.arcsinh(block) * _PER_UNIT).astype(np.intp) + _CELLS // 2
            counts += np.bincount(cell, minlength=_CELLS)
            sums += np.bincount(cell, block, _CELLS)


def _by_chunks(mu: np.ndarray, sigma: np.ndarray, y: np.ndarray, size: int) -> QuantileCalibrator:
    calibrator = QuantileCalibrator()
    for m, s, v in _cut(mu, sigma, y, size):
        calibrator.partial_fit(Normal(m, s), v)
    return calibrator


def _cut(mu: np.ndarray, sigma: np.ndarray, y: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, ...]]:
    for start in range(0, len(y), size):
        yield tuple(column[start : start + size] for column in (mu, sigma, y))
