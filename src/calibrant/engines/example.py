"""A table to try things on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold


def diabetes_forecasts() -> pa.Table:
    """Bayesian ridge forecasts of the progress of diabetes in patients that the model has not seen, with outcomes.

    Examples
    --------
    >>> diabetes_forecasts().column_names
    ['mu', 'sigma', 'y', 'sex', 'age']
    """
    X, y = load_diabetes(return_X_y=True)
    raw, _ = load_diabetes(return_X_y=True, scaled=False)
    mu, sigma = np.empty(len(y)), np.empty(len(y))
    for train, test in KFold(10, shuffle=True, random_state=0).split(X):
        mu[test], sigma[test] = BayesianRidge().fit(X[train], y[train]).predict(X[test], return_std=True)
    age = np.where(raw[:, 0] < 40, "under 40", np.where(raw[:, 0] < 60, "40 to 59", "60 and over"))
    sex = np.where(raw[:, 1] == 1, "1", "2")
    return pa.table({"mu": mu.round(2), "sigma": sigma.round(2), "y": y, "sex": sex, "age": age})
