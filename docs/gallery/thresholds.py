"""
Reliability at many thresholds
==============================

Figures 2 and 5 of Song et al. (2018): at each of 16 thresholds, how often outcomes were below it, against how often
that was forecast. Forecasts of one shape leave lines away from the diagonal; calibrators of densities bring them back.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import DensityCalibrator, GPCCalibrator, Normal
from calibrant.displays import ThresholdMapDisplay, ThresholdReliabilityDisplay

rng = np.random.default_rng(1)
x = rng.uniform(-2, 2, 1200)
y = np.abs(x) * rng.choice([-1.0, 1.0], 1200) + rng.normal(scale=0.3, size=1200)  # a gap in the middle
base = Normal(0.2 * x, np.full(1200, 1.3))

density = DensityCalibrator().fit(base[:600], y[:600])
laws = {"before": base[600:], "e-beta": density.transform(base[600:])}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for ax, (name, law) in zip(axes, laws.items(), strict=True):
    ThresholdReliabilityDisplay.from_predictions(y[600:], law, name=name).plot(ax=ax)

# %%
# What GPC has learned: the calibrated probability as a function of the forecast's probability q and the threshold t.

gpc = GPCCalibrator().fit(base[:300], y[:300])
ThresholdMapDisplay.from_calibrator(gpc, base[:300], y[:300]).plot()

# %%
# And of the forecasts as they are, without the common quantile map first, as the paper draws it.

raw = GPCCalibrator(quantile_map=False).fit(base[:300], y[:300])
ThresholdMapDisplay.from_calibrator(raw, base[:300], y[:300]).plot()
