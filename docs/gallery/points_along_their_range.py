"""
Points along their range
========================

Predicted against real values, as in figure 2 of Bella et al. (2010): predictions shrunk to the middle are too high for
small outcomes and too low for large ones. A calibrated regressor is right along its range.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import PointCalibrator, metrics
from calibrant.displays import PointCalibrationDisplay, RECDisplay

rng = np.random.default_rng(0)
real = rng.gamma(5.0, 20.0, 1000)
predicted = 40 + 0.5 * real + 0.001 * real**2 + rng.normal(scale=10, size=1000)
calibrated = PointCalibrator(method="local").fit(predicted[:500], real[:500]).predict(predicted[500:])
sides = {"before": predicted[500:], "after": calibrated}

fig, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, (name, points) in zip(axes, sides.items(), strict=False):
    PointCalibrationDisplay.from_predictions(real[500:], points, name=name).plot(ax=ax)
    RECDisplay.from_predictions(real[500:], points, name=name).plot(ax=axes[2])
    print(f"{name}: mean error {metrics.mean_error(real[500:], points):.1f},",
          f"relative squared error {metrics.relative_mse(real[500:], points):.2f}")  # fmt: skip
