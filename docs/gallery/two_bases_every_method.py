"""
Two bases, every method
=======================

Figures 1 and 4 of Song et al. (2018): outcomes follow one of two lines, and two models see neither, least squares and a
Gaussian process. Densities along x before and after each method, with the predicted mean in white; the truth is first.
One map for all forecasts (isotonic) moves and stretches; methods that look at the forecast tell the lines apart.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge

from calibrant import (
    DensityCalibrator,
    FlowCalibrator,
    GPCCalibrator,
    Mixture,
    Normal,
    QuantileCalibrator,
    StackCalibrator,
    metrics,
)
from calibrant.displays import DensityDisplay

rng = np.random.default_rng(0)


def toy(n):
    x = rng.uniform(-10, 40, n)
    return x, np.where(rng.random(n) < 0.5, 0.5 * x, 0.0) + rng.normal(scale=np.sqrt(2.0), size=n)


x, y = toy(300)
x_new, y_new = toy(300)
bases = {
    "Bayesian ridge": BayesianRidge(),
    "Gaussian process": GaussianProcessRegressor(RBF(20.0) + WhiteKernel(0.5), optimizer=None, normalize_y=True),
}
methods = {
    "isotonic": QuantileCalibrator(map="isotonic"),
    "e-beta": DensityCalibrator(),
    "GPC": GPCCalibrator(),
    "flow": FlowCalibrator(),
    "stack": StackCalibrator(),
}
truth = Mixture([Normal(0 * x_new, np.sqrt(2.0)), Normal(0.5 * x_new, np.sqrt(2.0))], [0.5, 0.5])

fig, axes = plt.subplots(2, len(methods) + 2, figsize=(13, 5), sharex=True, sharey=True, layout="constrained")
for row, (base_name, model) in zip(axes, bases.items(), strict=True):
    model.fit(x[:, None], y)
    known, new = (Normal(*model.predict(each[:, None], return_std=True)) for each in (x, x_new))
    laws = {"truth": truth, base_name: new}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what conditional calibrators say of the PIT values
        laws |= {name: method.fit(known, y).transform(new) for name, method in methods.items()}
    for ax, (name, law) in zip(row, laws.items(), strict=True):
        DensityDisplay.from_predictions(None, law, x=x_new, mean=True).plot(ax=ax)
        ax.set_title(f"{name}: {metrics.nll(y_new, law):.2f}", fontsize=9)
        ax.label_outer()
fig.suptitle("Density along x; the number is the negative log-likelihood of unseen outcomes")
