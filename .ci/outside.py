"""A program of somebody else: run with the installed package alone, and checked by mypy in its strict mode."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibrant import CalibratedRegressor, Normal, PlattCalibrator, QuantileCalibrator, load, metrics, save

rng = np.random.default_rng(0)
mean: NDArray[np.float64] = rng.normal(size=1000)
y: NDArray[np.float64] = mean + 2 * rng.normal(size=1000)

calibrator: QuantileCalibrator = QuantileCalibrator().fit(Normal(mean[:500], 1.0), y[:500])
law = calibrator.transform(Normal(mean[500:], 1.0))
ends: NDArray[np.float64] = law.interval(0.9)
held = float(np.mean((ends[:, 0] <= y[500:]) & (y[500:] <= ends[:, 1])))
before = metrics.crps(y[500:], Normal(mean[500:], 1.0))
after = metrics.crps(y[500:], law)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "shop.calibrant"
    save(calibrator, path)
    again: NDArray[np.float64] = load(path).transform(Normal(mean[500:], 1.0)).interval(0.9)

model = CalibratedRegressor().fit(mean[:500, None], y[:500])
points: NDArray[np.float64] = model.predict(mean[500:, None])
label: NDArray[np.bool_] = y > 0
chances: NDArray[np.float64] = PlattCalibrator(scores_are="margins").fit(mean, label).transform(mean)

if not (abs(held - 0.9) < 0.06 and after < before and np.array_equal(ends, again)):
    raise SystemExit(f"calibrated intervals hold {held}; CRPS before {before}, after {after}")
if points.shape != (500,) or not np.allclose(chances.sum(axis=1), 1.0):
    raise SystemExit("predictions have another shape")
print(f"held {held:.3f}, CRPS {before:.3f} to {after:.3f}")
