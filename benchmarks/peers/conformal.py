"""Conformal intervals and predictive systems."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from .job import OURS, Data, Entry, Job, Quality, exact
from .laws import forecasts

SIZES = (10_000, 1_000_000)
COVERAGE, FOLDS, FEW = 0.9, 5, 1_000
TAILS = (0.05, 0.95, 0.5)


# ---- arrays ----
class Column(RegressorMixin, BaseEstimator):
    """A fitted regressor whose prediction is a column of the features."""

    def __init__(self, column: int = 0) -> None:
        self.column = column
        self.is_fitted_ = True

    def fit(self, X: Any, y: Any) -> Column:
        return self

    def predict(self, X: Any) -> Any:
        return X[:, self.column]


def columns(n: int) -> Data:
    """Forecasts with a group for each row, and as columns of a table: mean and three quantiles."""
    d = forecasts(n)
    for new, mu, sigma in (("", d.mu, d.sigma), ("new_", d.new_mu, d.new_sigma)):
        ends = np.column_stack([mu - 1.2 * sigma, mu + 1.2 * sigma, mu])
        setattr(d, f"{new}ends", ends)
        setattr(d, f"{new}X", np.column_stack([mu, ends]))
        setattr(d, f"{new}group", (np.floor(mu) % 4).astype(np.int64))
    return d


def regression(n: int) -> Data:
    """Five features with a linear mean; a thousand new rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + FEW, 5))
    y = X @ np.array([1.0, -1.0, 0.5, 0.0, 0.0]) + np.exp(0.3 * X[:, 4]) * rng.standard_t(5, n + FEW)
    return Data(X=X[:n], y=y[:n], new=X[n:], new_y=y[n:])


def for_few(n: int) -> Data:
    """Forecasts, and a thousand new ones."""
    d = forecasts(n)
    return Data(**{name: value[:FEW] if name.startswith("new") else value for name, value in vars(d).items()})


# ---- quality ----
def _score(d: Data, ends: Any) -> np.ndarray:
    low, high = np.asarray(ends, dtype=np.float64).T
    beyond = np.maximum(low - d.new_y, 0) + np.maximum(d.new_y - high, 0)
    return high - low + 2 / (1 - COVERAGE) * beyond


def _covered(d: Data, ends: Any) -> float:
    low, high = np.asarray(ends, dtype=np.float64).T
    return float(np.mean((low <= d.new_y) & (d.new_y <= high)))


SCORE = Quality("interval score", _score)
BESIDE = {"coverage": _covered, "width": lambda d, ends: float(np.diff(np.asarray(ends)).mean())}


def _true_crps(d: Data) -> float:
    """Of the means of new rows plus the residuals, each with the same probability: E|X - y| - E|X - X'| / 2."""
    r = np.sort(d.y - d.mu)
    n = len(r)
    spread = 2 * np.sum((2 * np.arange(1, n + 1) - n - 1) * r) / n**2
    return float(np.mean([np.mean(np.abs(m + r - y)) for m, y in zip(d.new_mu, d.new_y, strict=True)]) - spread / 2)


# ---- entries ----
def _ours(*, scaled: bool = False, **settings: Any) -> Entry:
    def entry(d: Data) -> Any:
        from calibrant import ConformalCalibrator

        old, new = ((d.mu, d.sigma), (d.new_mu, d.new_sigma)) if scaled else (d.mu, d.new_mu)
        return ConformalCalibrator(**settings).fit(old, d.y).transform(new).interval(COVERAGE)

    return entry


def _our_groups(d: Data) -> Any:
    from calibrant import ConformalCalibrator

    calibrator = ConformalCalibrator(by="groups").fit((d.mu, d.sigma), d.y, groups=d.group)
    return calibrator.transform((d.new_mu, d.new_sigma), groups=d.new_group).interval(COVERAGE)


def _our_cqr(d: Data) -> Any:
    from calibrant import ConformalCalibrator, Quantiles

    calibrator = ConformalCalibrator(score="cqr").fit(Quantiles(TAILS, d.ends), d.y)
    return calibrator.transform(Quantiles(TAILS, d.new_ends)).interval(COVERAGE)


def _our_cross(cv: Any) -> Entry:
    def entry(d: Data) -> Any:
        from sklearn.linear_model import LinearRegression
        from sklearn.model_selection import LeaveOneOut

        from calibrant import CalibratedRegressor, ConformalCalibrator

        splits = LeaveOneOut() if cv is None else cv
        model = CalibratedRegressor(LinearRegression(), ConformalCalibrator(), cv=splits, ensemble=True)
        return model.fit(d.X, d.y).predict_interval(d.new, COVERAGE)

    return entry


def _our_crps(d: Data) -> Any:
    from calibrant import ResidualCalibrator

    return ResidualCalibrator("step", ranks="T").fit(d.mu, d.y).transform(d.new_mu).crps(d.new_y).mean()


def _mapie_split(d: Data) -> Any:
    from mapie.regression import SplitConformalRegressor

    model = SplitConformalRegressor(Column(), confidence_level=COVERAGE, prefit=True).conformalize(d.X, d.y)
    return model.predict_interval(d.new_X)[1][:, :, 0]


def _mapie_cqr(d: Data) -> Any:
    from mapie.regression import ConformalizedQuantileRegressor

    models = [Column(1), Column(2), Column(3)]
    model = ConformalizedQuantileRegressor(models, confidence_level=COVERAGE, prefit=True).conformalize(d.X, d.y)
    return model.predict_interval(d.new_X, symmetric_correction=True)[1][:, :, 0]


def _mapie_cross(cv: Any) -> Entry:
    def entry(d: Data) -> Any:
        from mapie.regression import CrossConformalRegressor
        from sklearn.linear_model import LinearRegression
        from sklearn.model_selection import KFold, LeaveOneOut

        splits = LeaveOneOut() if cv is None else KFold(cv)
        model = CrossConformalRegressor(LinearRegression(), confidence_level=COVERAGE, method="plus", cv=splits)
        return model.fit_conformalize(d.X, d.y).predict_interval(d.new)[1][:, :, 0]

    return entry


def _crepes(*, scaled: bool = False, groups: bool = False) -> Entry:
    def entry(d: Data) -> Any:
        from crepes import ConformalRegressor

        old = {**({"sigmas": d.sigma} if scaled else {}), **({"bins": d.group} if groups else {})}
        new = {**({"sigmas": d.new_sigma} if scaled else {}), **({"bins": d.new_group} if groups else {})}
        return ConformalRegressor().fit(d.y - d.mu, **old).predict_int(d.new_mu, confidence=COVERAGE, **new)

    return entry


def _crepes_system(d: Data) -> Any:
    from crepes import ConformalPredictiveSystem

    model = ConformalPredictiveSystem().fit(d.y - d.mu, sigmas=d.sigma)
    return model.predict_int(d.new_mu, sigmas=d.new_sigma, confidence=COVERAGE)


def _crepes_crps(d: Data) -> Any:
    from crepes import ConformalPredictiveSystem

    model = ConformalPredictiveSystem().fit(d.y - d.mu)
    return model.evaluate(d.new_mu, y=d.new_y, metrics=["CRPS"])["CRPS"]


# ---- jobs ----
def _intervals(name: str, words: str, entries: dict[str, Entry]) -> Job:
    return Job(f"conformal {name}", words, SIZES, columns, SCORE, entries, "sort", BESIDE)


def _cross(name: str, words: str, cv: Any, sizes: tuple[int, ...]) -> Job:
    entries = {OURS: _our_cross(cv), "MAPIE": _mapie_cross(cv)}
    return Job(f"conformal {name}", words, sizes, regression, SCORE, entries, "sort", BESIDE)


JOBS = (
    _intervals("split", "Intervals of 90 % around points", {OURS: _ours(), "MAPIE": _mapie_split, "crepes": _crepes()}),
    _intervals(
        "normalised",
        "Intervals of 90 %, widths in proportion to deviations",
        {OURS: _ours(scaled=True), "crepes": _crepes(scaled=True)},
    ),
    _intervals(
        "mondrian", "The same within four groups", {OURS: _our_groups, "crepes": _crepes(scaled=True, groups=True)}
    ),
    _intervals("cqr", "Conformalised quantiles", {OURS: _our_cqr, "MAPIE": _mapie_cqr}),
    _intervals(
        "system",
        "Intervals of a predictive system",
        {OURS: _ours(scaled=True, score="signed", map="step"), "crepes": _crepes_system},
    ),
    Job(
        "conformal crps",
        "CRPS of a predictive system, 1 000 rows",
        (1_000, 10_000),
        for_few,
        exact(_true_crps),
        {OURS: _our_crps, "crepes": _crepes_crps},
        "sort",
    ),
    _cross("cv+", f"CV+ of a linear model, {FOLDS} folds, 1 000 rows", FOLDS, (1_000, 10_000)),
    _cross("jackknife+", "Jackknife+ of a linear model, 1 000 rows", None, (500,)),
)
