"""One cell: a model on one split, as it comes and calibrated in each way."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import (
    BoostedCalibrator,
    CalibratedRegressor,
    Chain,
    Normal,
    QuantileCalibrator,
    StackCalibrator,
    as_distribution,
    metrics,
)
from calibrant.calibration.contract import fit_with, transform_with
from calibrant.distributions import Distribution

from .sets import Array, Part, part

FOLDS = 5
NONE, BOTH = "none", "both"
WAYS = {
    NONE: None,
    "quantile": QuantileCalibrator,
    "stack": StackCalibrator,
    "features": BoostedCalibrator,
    BOTH: lambda: Chain([StackCalibrator(), BoostedCalibrator()]),
}
BASES = {
    "ridge": "Bayesian ridge", "forest": "random forest", "extra": "extra trees", "booster": "gradient boosting",
    "net": "deep ensemble",
}  # fmt: skip
PEERS = {"ngboost": "NGBoost", "xgbdist": "XGBDistribution"}
NEEDS = {"net": "torch", "ngboost": "ngboost", "xgbdist": "xgboost_distribution"}
NGBOOST = {"learning_rate": 0.01, "random_state": 0, "verbose": False}  # of Duan et al. (2020)
XGBDIST = {"distribution": "normal", "natural_gradient": True, "random_state": 0, "n_jobs": 1}
DEPTHS, RATES = (3, 6), (0.3, 0.1)  # of XGBDistribution: its documentation's and its package's, and slower
BOOSTER = {"learning_rate": 0.05, "max_iter": 300, "min_samples_leaf": 5}  # good for small sets, seen on others
_LEAST_MASS = 1e-12


def is_here(model: str) -> bool:
    """Whether the package of a model is installed."""
    return model not in NEEDS or find_spec(NEEDS[model]) is not None


def cell(folder: Path | None, name: str, model: str, split: int, trees: int) -> dict[str, Any]:
    """Measures of the test rows, by way of calibrating; peers come as they are."""
    rows = part(folder, name, split)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows, and what peers say while they train
        if model in PEERS:
            return {NONE: measures(rows, _PEERS[model](rows))}
        old, y_old, X_old, new = forecasts(base(model, trees), rows)
        laws = {way: calibrated(way, old, y_old, X_old, new, rows.X_new) for way in WAYS}
        return {way: measures(rows, law) for way, law in laws.items()}


def base(model: str, trees: int) -> Any:
    """The model before it is fitted."""
    if model == "net":
        from calibrant import DeepEnsemble

        return DeepEnsemble()
    known: dict[str, Any] = {
        "ridge": make_pipeline(StandardScaler(), BayesianRidge()),
        "forest": RandomForestRegressor(trees, random_state=0),
        "extra": ExtraTreesRegressor(trees, random_state=0),
        "booster": HistGradientBoostingRegressor(**BOOSTER, random_state=0),
    }
    return known[model]


def forecasts(model: Any, rows: Part) -> tuple[Distribution, Array, Array, Distribution]:
    """Forecasts of each training row by a model that has not seen it, its outcome and features; those of new rows."""
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    fitted = CalibratedRegressor(model, cv=folds).fit(rows.X, rows.y)
    seen = fitted.oof_rows_
    return fitted.oof_forecasts_, rows.y[seen], rows.X[seen], fitted.predict_dist(rows.X_new, calibrated=False)


def calibrated(way: str, old: Distribution, y: Array, X: Array, new: Distribution, X_new: Array) -> Distribution:
    """New forecasts, calibrated by what out-of-fold forecasts show."""
    make: Any = WAYS[way]
    if make is None:
        return new
    law: Distribution = transform_with(fit_with(make(), old, y, X=X), new, X=X_new)
    return law


def measures(rows: Part, law: Distribution) -> dict[str, float]:
    """NLL, CRPS, coverage of 90 % intervals, and of whole numbers minus the log mass of half a unit on each side."""
    y = rows.y_new
    found = {
        "nll": float(metrics.nll(y, law)),
        "crps": float(metrics.crps(y, law)),
        "covered": float(metrics.coverage(y, law, coverage=0.9)),
    }
    if rows.whole:
        mass = law.cdf(y + 0.5) - law.cdf(y - 0.5)
        found["log mass"] = float(-np.log(np.maximum(mass, _LEAST_MASS)).mean())
    return found


def _ngboost(rows: Part) -> Distribution:
    """As in its paper: a fifth of the rows tells the likeliest number of rounds, then all rows are learned from."""
    from ngboost import NGBRegressor

    X, X_held, y, y_held = train_test_split(rows.X, rows.y, test_size=0.2, random_state=0)
    first = NGBRegressor(n_estimators=2000, **NGBOOST).fit(X, y, X_val=X_held, Y_val=y_held, early_stopping_rounds=200)
    model = NGBRegressor(n_estimators=first.best_val_loss_itr + 1, **NGBOOST).fit(rows.X, rows.y)
    return as_distribution(model.pred_dist(rows.X_new))


def _xgbdist(rows: Part) -> Distribution:
    """As in its documentation: a tenth of the rows stops it; they also choose depth and rate; then all are used."""
    from xgboost_distribution import XGBDistribution

    X, X_held, y, y_held = train_test_split(rows.X, rows.y, test_size=0.1, random_state=0)
    tried = []
    for depth, rate in product(DEPTHS, RATES):
        how = {"max_depth": depth, "learning_rate": rate, **XGBDIST}
        first = XGBDistribution(n_estimators=500, early_stopping_rounds=10, **how)
        first.fit(X, y, eval_set=[(X_held, y_held)], verbose=False)
        tried.append((first.best_score, first.best_iteration + 1, how))
    _, rounds, how = min(tried, key=lambda each: each[0])
    said = XGBDistribution(n_estimators=rounds, **how).fit(rows.X, rows.y).predict(rows.X_new)
    return Normal(said.loc, said.scale)


_PEERS = {"ngboost": _ngboost, "xgbdist": _xgbdist}
