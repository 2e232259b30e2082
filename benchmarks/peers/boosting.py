"""A booster that forecasts distributions: NGBoost, and LightGBM's points with a calibrator that sees the features."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .job import OURS, Data, Job, Quality

SIZES, NEW = (2_000, 20_000), 10_000


def friedman(n: int) -> Data:
    """Friedman's mean, deviations in proportion to it, t with 5 degrees of freedom; five more features say nothing."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n + NEW, 10))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    y = mean + 0.2 * mean * rng.standard_t(5, n + NEW)
    return Data(X=X[:n], y=y[:n], new=X[n:], new_y=y[n:])


def _ours(d: Data) -> Any:
    from lightgbm import LGBMRegressor

    from calibrant import BoostedCalibrator, CalibratedRegressor

    base = LGBMRegressor(n_jobs=1, verbosity=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        law = CalibratedRegressor(base, BoostedCalibrator(), cv=5).fit(d.X, d.y).predict_dist(d.new)
    return -law.logpdf(d.new_y), law.crps(d.new_y)


def _ngboost(d: Data) -> Any:
    from ngboost import NGBRegressor

    from .laws import normal_crps

    law = NGBRegressor(random_state=0, verbose=False).fit(d.X, d.y).pred_dist(d.new)
    mu, sigma = law.params["loc"], law.params["scale"]
    z = (d.new_y - mu) / sigma
    return 0.5 * z**2 + np.log(sigma) + 0.5 * np.log(2 * np.pi), normal_crps(d.new_y, mu, sigma)


JOBS = (
    Job(
        "boosting nll",
        "A booster's distributions of 10 000 rows",
        SIZES,
        friedman,
        Quality("NLL", lambda d, result: np.asarray(result[0])),
        {OURS: _ours, "NGBoost": _ngboost},
        "sort",
        {"CRPS": lambda d, result: float(np.mean(result[1]))},
    ),
)
