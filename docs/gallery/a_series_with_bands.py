"""
A series with 90 % bands
========================

The first figure of Kuleshov et al. (2018): forecasts of a series, whose band misses most outcomes before recalibration.
The series is made.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Normal, QuantileCalibrator, metrics
from calibrant.displays import FanDisplay

rng = np.random.default_rng(0)
days = np.arange(500)
level = 100 + 20 * np.sin(2 * np.pi * days / 7) + 0.05 * days
sales = level + rng.gamma(4.0, 6.0, 500) - 24
forecasts = Normal(level, 4.0)

calibrator = QuantileCalibrator().fit(forecasts[:400], sales[:400])
later = slice(440, 500)
stages = {"before": forecasts[later], "after": calibrator.transform(forecasts[later])}

fig, axes = plt.subplots(2, 1, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
for ax, (name, law) in zip(axes, stages.items(), strict=True):
    FanDisplay.from_predictions(sales[later], law, x=days[later], coverages=(0.5, 0.9)).plot(ax=ax)
    ax.set_title(f"{name}: {metrics.coverage(sales[later], law, coverage=0.9):.0%} in the 90 % band")
