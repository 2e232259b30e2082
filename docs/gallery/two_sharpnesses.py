"""
Calibrated, and how sharp?
==========================

Figure 4 of Kuleshov et al. (2018): two forecasts of the same series that are both calibrated. One has a single width
for all rows; the other knows where it is unsure, and is sharper on average. Calibration alone does not tell them apart;
proper scores do.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import ResidualCalibrator, metrics
from calibrant.displays import FanDisplay, SharpnessDisplay

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 1200))
unsure = 0.15 + 0.8 * (np.sin(x) > 0.2)
y = np.sin(x) + rng.normal(scale=unsure)
learn = rng.random(1200) < 0.5
point = np.sin(x)

one_width = ResidualCalibrator().fit(point[learn], y[learn]).transform(point[~learn])
calibrator = ResidualCalibrator().fit((point[learn], unsure[learn]), y[learn])
varying = calibrator.transform((point[~learn], unsure[~learn]))

fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, law) in zip(axes, {"one width": one_width, "varying width": varying}.items(), strict=False):
    FanDisplay.from_predictions(y[~learn], law, x=x[~learn], coverages=(0.9,)).plot(ax=ax)
    ax.set_title(f"{name}: {metrics.coverage(y[~learn], law, coverage=0.9):.0%} inside", pad=24)
    SharpnessDisplay.from_forecasts(law, name=name).plot(ax=axes[2])
    print(f"{name}: CRPS {metrics.crps(y[~learn], law):.3f}, NLL {metrics.nll(y[~learn], law):.3f}")
