"""
Two modes out of one
====================

Figures 1 and 2 of Song et al. (2019): outcomes follow one of two lines, and the base fits a third between them. One map
for all forecasts cannot help; maps that depend on the forecast can. The paper tells of two modes by GP-Beta; on data as
it describes them three parameters do not make them, and the stack does.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from calibrant import GPBetaCalibrator, Normal, QuantileCalibrator, StackCalibrator, metrics
from calibrant.displays import BetaParametersDisplay, CalibrationMapDisplay, DensityDisplay

rng = np.random.default_rng(0)


def toy(n):
    x = rng.uniform(-10, 40, n)
    return x, np.where(rng.random(n) < 0.5, 0.5 * x, 0.0) + rng.normal(scale=np.sqrt(2.0), size=n)


x, y = toy(360)
line = np.polyfit(x, y, 1)
base = Normal(np.polyval(line, x), np.std(y - np.polyval(line, x)))
x_new, y_new = toy(1000)
base_new = Normal(np.polyval(line, x_new), base.scale[0])

# GP-Beta as in the paper, on the base itself
calibrators = {
    "quantile": QuantileCalibrator(),
    "GP-Beta": GPBetaCalibrator(base_map=None),
    "stack": StackCalibrator(),
}
laws = {"least squares": base_new}
with warnings.catch_warnings(record=True) as told:  # GP-Beta says what it did to the PIT values
    warnings.simplefilter("always")
    for name, calibrator in calibrators.items():
        laws[name] = calibrator.fit(base, y).transform(base_new)
print(*(each.message for each in told), sep="\n")

fig, axes = plt.subplots(2, 2, figsize=(9, 6.5), sharex=True, sharey=True, layout="constrained")
for ax, (name, law) in zip(axes.flat, laws.items(), strict=True):
    DensityDisplay.from_predictions(y_new[:200], law[:200], x=x_new[:200]).plot(ax=ax)
    ax.set_title(f"{name}: NLL {metrics.nll(y_new, law):.2f}")

# %%
# The same as distribution functions, the lower row of the first figure, with the isotonic map of the paper.

isotonic = QuantileCalibrator(map="isotonic").fit(base, y)
shown = {
    "least squares": base_new,
    "isotonic": isotonic.transform(base_new),
    "GP-Beta": laws["GP-Beta"],
    "stack": laws["stack"],
}
fig, axes = plt.subplots(1, 4, figsize=(11, 3), sharex=True, sharey=True, layout="constrained")
for ax, (name, law) in zip(axes, shown.items(), strict=True):
    DensityDisplay.from_predictions(None, law[:200], x=x_new[:200], what="cdf").plot(ax=ax)
    ax.set_title(name)
    ax.label_outer()

# %%
# The parameters of GP-Beta along the forecasts, with one standard deviation, and the maps of three forecasts beside the
# isotonic one: the second figure.

BetaParametersDisplay.from_calibrator(calibrators["GP-Beta"], base[np.argsort(x)]).plot()

# %%

fig, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for ax, name in zip(axes, ("GP-Beta", "isotonic"), strict=True):
    CalibrationMapDisplay.from_forecasts(base_new, shown[name], rows=3, name=name).plot(ax=ax)
