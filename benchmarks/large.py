"""Calibrators of whole distributions on many rows: time in proportion to them, and the memory it takes."""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Iterator

import numpy as np

from calibrant import DensityCalibrator, FlowCalibrator, GPBetaCalibrator, GPCCalibrator, Normal, StackCalibrator

from .timing import Line

CALIBRATORS = {
    "density": DensityCalibrator(),
    "GPC": GPCCalibrator(),
    "GP-Beta": GPBetaCalibrator(),
    "flow": FlowCalibrator(),
    "stack": StackCalibrator(),
}


def lines(few: int = 100_000, many: int = 1_000_000) -> Iterator[Line]:
    """Ten times the rows take at most about ten times the time; the peak of memory is that of all runs so far."""
    forecasts, y = _rows(many)
    for name, calibrator in CALIBRATORS.items():
        floor = _seconds(calibrator, forecasts[:few], y[:few])
        seconds = _seconds(calibrator, forecasts, y)
        task = f"fit {name}, {many:.0e} rows (peak so far {_peak():.1f} GiB)"
        yield Line(task, seconds, f"{few:.0e} rows: {floor:.2f} s", floor, 1.4 * many / few)


def _rows(n: int) -> tuple[Normal, np.ndarray]:
    """Forecasts with the right means whose outcomes are skewed and wider where the mean is large."""
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(0, 1, n), np.exp(0.4 * rng.standard_normal(n))
    return Normal(mu, sigma), mu + sigma * np.exp(0.3 * mu) * (rng.gamma(3.0, 1.0, n) - 3)


def _seconds(calibrator: object, forecasts: Normal, y: np.ndarray) -> float:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*made the probabilistic")
        calibrator.fit(forecasts, y)  # type: ignore[attr-defined]
    return time.process_time() - start


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
