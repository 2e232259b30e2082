"""
One forecast by many methods
============================

Figure 3 of Song et al. (2018): what each method makes of a single forecast, as a density, and the map from the
probability before to that after. Outcomes are of two kinds, which the base does not know.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import DensityCalibrator, FlowCalibrator, Normal, QuantileCalibrator, ScaleCalibrator
from calibrant.displays import CalibrationMapDisplay, SingleForecastDisplay

rng = np.random.default_rng(0)
x = rng.uniform(-2, 2, 800)
y = x + np.where(rng.random(800) < 0.4, 2.0, -1.0) + rng.normal(scale=0.5, size=800)
base, new = Normal(x, 1.8), Normal([0.5], 1.8)

methods = {
    "scale": ScaleCalibrator(),
    "quantile": QuantileCalibrator(),
    "density": DensityCalibrator(),
    "flow": FlowCalibrator(),
}
laws = {"before": new} | {name: each.fit(base, y).transform(new) for name, each in methods.items()}

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
SingleForecastDisplay.from_predictions(None, laws).plot(ax=left)
CalibrationMapDisplay.from_forecasts(new, laws["quantile"]).plot(ax=right)
