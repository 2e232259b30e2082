"""Ten times five folds; inside each, three base models, each calibrated on the fold it has not seen, and averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from calibrant import DensityCalibrator, GPCCalibrator, Normal, StackCalibrator
from calibrant.calibration import Calibrator
from calibrant.distributions import Distribution

from ..data import Dataset, Split

Array = NDArray[np.float64]
SETS = ("diabetes", "boston_housing", "airfoil_self_noise", "forest_fires", "concrete")
BASES = ("OLS", "BRR", "GPR")
THRESHOLDS = (8, 16, 32, 48, 64)
OUTER, INNER, REPEATS = 5, 3, 10
POINTS = 1024  # at which GPC's densities are finite differences
GPC = {
    "mean": "zero", "inputs": "q", "lengths": "learn", "quantile_map": False, "kernel": "rbf", "n_grid": POINTS,
    "n_basis": None, "n_pairs": 5_000,
}  # fmt: skip
EMPIRICAL = {"base_map": None, "penalty": 0, "within": "uniform"}

# The paper's methods learn from thresholds over the training targets; ours, defaults but for K, stand beside them
Make = Callable[[Array], Calibrator]
PUBLISHED: dict[str, Make] = {
    "e-logistic": lambda t: DensityCalibrator("logistic", thresholds=t, **EMPIRICAL),
    "e-beta": lambda t: DensityCalibrator("beta", thresholds=t, **EMPIRICAL),
    "GPC": lambda t: GPCCalibrator(len(t), **GPC),
}
PROBIT: dict[str, Make] = {"GPC, probit": lambda t: GPCCalibrator(len(t), link="probit", **GPC)}  # the paper names both
DEFAULTS: dict[str, Make] = {
    "ours, e-beta": lambda t: DensityCalibrator(n_thresholds=len(t)),
    "ours, GPC": lambda t: GPCCalibrator(len(t)),
}
WITHOUT: dict[str, Callable[[], Calibrator]] = {"ours, stack": StackCalibrator}  # thresholds
PARTS: dict[str, dict[str, Make]] = {"published": PUBLISHED, "probit": PROBIT, "ours": {}, "defaults": DEFAULTS}
WANTED = ("published", "ours")  # the defaults of the paper's methods are told where they are done
ON_A_GRID = ("GPC", *PROBIT)


class Part(NamedTuple):
    """Forecasts of the calibration fold with their outcomes, and of the test rows, by one base model."""

    old: Normal
    y: Array
    new: Normal


def folds(dataset: Dataset, repeat: int) -> Iterator[Split]:
    """Five random folds."""
    for train, test in KFold(OUTER, shuffle=True, random_state=repeat).split(dataset.y):
        yield Split(train, test)


def thresholds(y: Array, count: int) -> Array:
    """Evenly over the training targets and half their range more on both sides."""
    low, high = y.min(), y.max()
    return np.linspace(low - 0.5 * (high - low), high + 0.5 * (high - low), count)


def forecast(base: str, X: Array, y: Array, X_new: Array) -> Normal:
    """Forecasts of new rows by a base model; GPR sees the one feature of largest variance."""
    if base == "GPR":
        widest = [int(np.argmax(X.var(axis=0)))]
        X, X_new = X[:, widest], X_new[:, widest]
    scaler = StandardScaler().fit(X)
    X, X_new = scaler.transform(X), scaler.transform(X_new)
    if base == "OLS":
        line = LinearRegression().fit(X, y)
        freedom = max(len(y) - X.shape[1] - 1, 1)
        sigma = np.sqrt(np.square(y - line.predict(X)).sum() / freedom)
        return Normal(line.predict(X_new), float(sigma))
    if base == "BRR":
        return Normal(*BayesianRidge().fit(X, y).predict(X_new, return_std=True))
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(X, y)
    return Normal(*process.predict(X_new, return_std=True))


def parts(dataset: Dataset, base: str, split: Split) -> list[Part]:
    """The three base models of a split."""
    X, y, X_new = dataset.X[split.train], dataset.y[split.train], dataset.X[split.test]
    inner = KFold(INNER, shuffle=True, random_state=0).split(y)
    made = ((forecast(base, X[fit], y[fit], np.vstack([X[held], X_new])), held) for fit, held in inner)
    return [Part(law[: len(held)], y[held], law[len(held) :]) for law, held in made]


def log_likelihood(laws: list[Distribution], y: Array, grid: Array | None) -> float:
    """Mean log of the averaged densities, on a grid by finite differences of the distribution functions."""
    logs = [law.logpdf(y) if grid is None else _differences(law, y, grid) for law in laws]
    return float(np.mean(logsumexp(logs, axis=0) - np.log(len(laws))))


def _differences(law: Distribution, y: Array, grid: Array) -> Array:
    cell = np.clip(np.searchsorted(grid, y) - 1, 0, len(grid) - 2)
    mass = law.cdf(grid[cell + 1]) - law.cdf(grid[cell])
    inside = (y > grid[0]) & (y <= grid[-1])
    with np.errstate(divide="ignore"):
        return np.where(inside, np.log(mass) - np.log(grid[1] - grid[0]), law.logpdf(y))
