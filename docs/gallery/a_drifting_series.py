"""
A drifting series
=================

The spread of the errors jumps from 1 to 3 to 0.5. A calibrator that was fitted once is wrong twice; one that learns
from each outcome follows. The monitor names the dates.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import DriftMonitor, Normal, OnlineCalibrator, QuantileCalibrator, metrics
from calibrant.displays import DriftDisplay

rng = np.random.default_rng(0)
spread = np.repeat([1.0, 3.0, 0.5], 400)
y = rng.normal(scale=spread)
base = Normal(np.zeros(1200), 1.0)

once = QuantileCalibrator().fit(base[:200], y[:200]).transform(base)
online = OnlineCalibrator()
widths, inside, losses = [], [], []
for day in np.split(np.arange(1200), 120):
    law = online.transform(base[day])
    low, high = law.interval(0.9).T
    widths.extend(high - low)
    inside.extend((low <= y[day]) & (y[day] <= high))
    losses.append(metrics.nll(y[day], law))
    online.update(base[day], y[day])

print(f"fitted once: {metrics.coverage(y, once, coverage=0.9):.2f} inside, NLL {metrics.nll(y, once):.2f}")
print(f"followed:    {np.mean(inside):.2f} inside, NLL {np.mean(losses):.2f}")
fig, ax = plt.subplots(figsize=(9, 3.6), layout="constrained")
ax.plot(y, ".", color="0.6", markersize=3)
ax.plot(np.array(widths) / 2, label="followed: half of the 90 % interval")
ax.plot(1.645 * spread, linestyle="--", label="what it should be")
ax.legend()

# %%
# What the monitor makes of the forecasts as they came.

monitor = DriftMonitor().update(base, y)
print(monitor)
DriftDisplay.from_monitor(monitor).plot()
