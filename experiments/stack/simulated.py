"""Forecasts that are right, a linear model that has learned its training rows by heart, and the time of a fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

from calibrant import CalibratedRegressor, GPBetaCalibrator, Normal, QuantileCalibrator, StackCalibrator, metrics
from calibrant.calibration import Calibrator

Array = NDArray[np.float64]
FRESH = 10_000
COST = {100: 0.01, 300: 0.007, 1000: 0.003}
ROWS, FEATURES, MOST_NLL = 120, 60, 1.83
SECONDS = {1_000: 1.5, 10_000: 5.0, 100_000: 15.0}


def harmless(draws: int = 20) -> Iterator[tuple[bool, str]]:
    r"""Forecasts are the truth, :math:`y \sim N(\mu, \sigma^2)`: means N(0, 1) and one σ, or log σ ~ N(0, 0.5²) too."""
    for n, limit in COST.items():
        for kind, spread in (("one width", 0.0), ("many widths", 0.5)):
            costs = np.array([cost(n, draw, spread) for draw in range(draws)])
            error = costs.std(ddof=1) / np.sqrt(draws)
            text = (
                f"n {n:5d}  {kind:12s} cost {costs.mean():+.4f} ± {error:.4f} (limit {limit}), worst {costs.max():.3f}"
            )
            yield bool(costs.mean() <= limit), text


def cost(n: int, draw: int, spread: float) -> float:
    """Rise of the NLL on fresh rows by a stack that learned from n."""
    rng = np.random.default_rng([n, draw])
    mu, sigma = rng.normal(size=n + FRESH), np.exp(spread * rng.standard_normal(n + FRESH))
    y = mu + sigma * rng.standard_normal(n + FRESH)
    law, seen = Normal(mu, sigma), slice(n)
    old, new = law[seen], law[slice(n, None)]
    return float(metrics.nll(y[n:], StackCalibrator().fit(old, y[seen]).transform(new)) - metrics.nll(y[n:], new))


def overfitted(seeds: int = 10) -> Iterator[tuple[bool, str]]:
    r"""Least squares with 60 features on 120 rows, :math:`y = x^T\beta + N(0, 1)`, x and β standard normal.

    Fitted on the same rows, σ is the residual RMS of the training rows and the calibrator learns from them; else
    everything comes from five folds.
    """
    for cv in ("same", 5):
        for name, calibrator in (
            ("none", None),
            ("quantile", QuantileCalibrator()),
            ("GP-Beta", GPBetaCalibrator()),
            ("stack", StackCalibrator()),
        ):
            nll = np.array([_overfitted(seed, calibrator, cv) for seed in range(seeds)])
            counts = name == "stack" and cv == 5
            rows = "the same rows" if cv == "same" else "five folds"
            text = f"{rows:14s} {name:9s} NLL {nll.mean():.3f} ± {nll.std(ddof=1) / np.sqrt(seeds):.3f}"
            yield not counts or bool(nll.mean() <= MOST_NLL), text + (f" (limit {MOST_NLL})" if counts else "")


def _overfitted(seed: int, calibrator: Calibrator | None, cv: int | str) -> float:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS + FRESH, FEATURES))
    y = X @ rng.normal(size=FEATURES) + rng.standard_normal(len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same rows, and that it does harm: the table shows it
        model = CalibratedRegressor(LinearRegression(), calibrator, cv=cv).fit(X[:ROWS], y[:ROWS])
    return float(metrics.nll(y[ROWS:], model.predict_dist(X[ROWS:], calibrated=calibrator is not None)))


def speed(most: int = 100_000) -> Iterator[tuple[bool, str]]:
    """CPU seconds of one thread; widths and shapes follow the forecast."""
    for n, limit in SECONDS.items():
        if n <= most:
            rng = np.random.default_rng(n)
            mu, sigma = rng.normal(size=n), np.exp(0.5 * rng.standard_normal(n))
            y = mu + sigma * (1 + 0.5 * np.tanh(mu)) * (rng.gamma(2.0, 1.0, n) - 2.0)
            seconds = min(_seconds(Normal(mu, sigma), y) for _ in range(3 if n < 10_000 else 1))
            yield seconds <= limit, f"n {n:6d}  {seconds:6.2f} s (limit {limit})"


def _seconds(law: Normal, y: Array) -> float:
    with threadpool_limits(1):
        start = time.process_time()
        StackCalibrator().fit(law, y)
        return time.process_time() - start
