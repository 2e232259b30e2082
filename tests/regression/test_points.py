"""Calibration of point predictions, of numbers and of laws."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.polynomial import Polynomial
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from calibrant import (
    CalibratedRegressor,
    Chain,
    Ensemble,
    Gamma,
    GroupedCalibrator,
    Normal,
    Poisson,
    QuantileCalibrator,
    Recalibrated,
    ResidualCalibrator,
    StudentT,
)
from calibrant.maps import AffineMap
from calibrant.regression.points.calibrator import PointCalibrator
from calibrant.regression.points.curves import _local_lines

METHODS = ("linear", "isotonic", "ratio", "local", "mean-ratio", "inverse")
every = pytest.mark.parametrize("method", METHODS)
without_bias = pytest.mark.parametrize("method", [method for method in METHODS if method != "mean-ratio"])


@pytest.fixture
def data(rng):
    x = rng.uniform(1, 9, 400)
    return x, 2 + 0.5 * x + np.sin(x) + rng.normal(0, 0.5, 400)


# ---- against independent libraries and by hand ----
def test_linear_is_weighted_least_squares(data, rng):
    (x, y), w, new = data, rng.random(400) * 3, np.linspace(-5, 20, 50)
    for weight in (None, w):
        theirs = LinearRegression().fit(x[:, None], y, sample_weight=weight).predict(new[:, None])
        ours = PointCalibrator("linear").fit(x, y, sample_weight=weight).transform(new)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("decimals", [0, 1, 9])  # many ties, some, none
def test_isotonic_is_scikit_learns(data, rng, decimals):
    (x, y), w, new = data, rng.random(400) * 3, np.linspace(-5, 20, 500)
    x = np.round(x, decimals)
    for weight in (None, w):
        theirs = IsotonicRegression(out_of_bounds="clip").fit(x, y, sample_weight=weight).predict(new)
        ours = PointCalibrator("isotonic").fit(x, y, sample_weight=weight).transform(new)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_ratio_by_hand():
    calibrator = PointCalibrator("ratio").fit([1.0, 2.0, 7.0], [3.0, 4.0, 8.0])
    np.testing.assert_allclose(calibrator.transform([10.0, 0.0, -2.0]), [15.0, 0.0, -3.0], rtol=1e-12)
    weighted = PointCalibrator("ratio").fit([1.0, 2.0, 7.0], [3.0, 4.0, 8.0], sample_weight=[2, 1, 0])
    np.testing.assert_allclose(weighted.transform([4.0]), [10.0], rtol=1e-12)
    below = PointCalibrator("ratio").fit([-1.0, -3.0], [-2.0, -6.0])
    np.testing.assert_allclose(below.transform([-5.0]), [-10.0], rtol=1e-12)


def test_mean_ratio_as_printed(data, rng):
    """Bella et al. (2010): "the quotient between the estimated value and the real value should be near to one"."""
    (x, y), w = data, rng.integers(0, 4, 400)
    for weight in (np.ones(400), w):
        calibrated = PointCalibrator("mean-ratio").fit(x, y, sample_weight=weight).transform(x)
        assert sum(weight * calibrated / y) / sum(weight) == pytest.approx(1, rel=1e-12)
    by_hand = PointCalibrator("mean-ratio").fit([1.0, 4.0], [2.0, 1.0])  # ratios 1/2 and 4
    np.testing.assert_allclose(by_hand.transform([9.0, 0.0]), [4.0, 0.0], rtol=1e-12)
    y = x * rng.lognormal(0, 0.5, 400)
    left = {
        method: np.mean(PointCalibrator(method).fit(x, y).transform(x) / y)
        for method in ("ratio", "linear", "mean-ratio")
    }
    assert left.pop("mean-ratio") == pytest.approx(1, rel=1e-12) and min(left.values()) > 1.2


def test_inverse_is_the_line_of_predictions_on_outcomes_turned_round(data, rng):
    (x, y), w, new = data, rng.random(400) * 3, np.linspace(-5, 20, 50)
    for weight in (None, w):
        line = LinearRegression().fit(y[:, None], x, sample_weight=weight)
        calibrator = PointCalibrator("inverse").fit(x, y, sample_weight=weight)
        np.testing.assert_allclose(calibrator.transform(new), (new - line.intercept_) / line.coef_, rtol=1e-9)
        errors = calibrator.transform(x) - y
        assert np.average(errors * (y - y.mean()), weights=weight) == pytest.approx(0, abs=1e-9)


def test_which_line_may_raise_the_squared_error(rng):
    """As the chapter says of its calibration, of "inverse" alone: by the square of the correlation."""
    signal = rng.normal(10, 2, 50_000)
    y, x = signal + rng.normal(0, 1.5, 50_000), signal  # already E(y | x)
    before = np.mean((y - x) ** 2)
    linear, inverse = (np.mean((PointCalibrator(m).fit(x, y).transform(x) - y) ** 2) for m in ("linear", "inverse"))
    r2 = np.corrcoef(x, y)[0, 1] ** 2
    assert linear <= before and inverse == pytest.approx(linear / r2, rel=1e-9)
    assert inverse > 1.5 * before


@pytest.mark.parametrize("span", [0.2, 0.6])
def test_local_lines_are_weighted_least_squares(rng, span):
    x, y, mass = np.sort(rng.uniform(0, 10, 40)), rng.normal(size=40), rng.integers(1, 4, 40).astype(float)
    fitted, slopes, freedom = _local_lines(x, y, mass, span)
    trace = 0.0
    for i in range(40):
        distance = np.abs(x - x[i])
        order = np.argsort(distance)
        last = order[np.argmax(np.cumsum(mass[order]) >= span * mass.sum())]
        kernel = mass * np.clip(1 - (distance / (1.001 * distance[last])) ** 3, 0, None) ** 3

        def line(heights, weights=kernel):
            return Polynomial.fit(x, heights, 1, w=np.sqrt(weights))

        assert fitted[i] == pytest.approx(line(y)(x[i]), rel=1e-7, abs=1e-9)
        assert slopes[i] == pytest.approx(line(y).deriv()(x[i]), rel=1e-6, abs=1e-8)
        trace += line(np.eye(40)[i])(x[i])
    assert freedom == pytest.approx(trace, rel=1e-7)


def test_local_follows_bends_and_is_one_line_without_any(rng):
    x, new = rng.uniform(0, 10, 3000), np.linspace(0.3, 9.7, 200)
    y = x + np.sin(x) + rng.normal(0, 0.3, 3000)
    curve = PointCalibrator("local").fit(x, y)
    assert np.abs(curve.transform(new) - (new + np.sin(new))).max() < 0.12
    straight = PointCalibrator("local").fit(x, 3 - 2 * x + rng.normal(0, 0.3, 3000))
    assert np.abs(straight.transform(new) - (3 - 2 * new)).max() < 0.1
    assert len(curve.curve_.knots) <= 256


def test_local_continues_linearly(rng):
    x = rng.uniform(0, 10, 2000)
    calibrator = PointCalibrator("local").fit(x, np.square(x) + rng.normal(0, 0.1, 2000))
    inside, far, farther = calibrator.transform([10.0, 12.0, 14.0])
    assert inside == pytest.approx(100, abs=1.5)
    assert (far - inside) / 2 == pytest.approx(20, abs=1.5) and farther - far == pytest.approx(far - inside)


# ---- what holds for every method ----
@without_bias
def test_the_mean_error_vanishes_on_the_rows_of_fit(method, data, rng):
    (x, y), w = data, rng.integers(0, 4, 400)
    for weight in (None, w):
        calibrated = PointCalibrator(method).fit(x, y, sample_weight=weight).transform(x)
        assert np.average(calibrated - y, weights=weight) == pytest.approx(0, abs=1e-12)


@without_bias
def test_improves_what_is_wrong(method, rng):
    x, new = rng.gamma(4, 1, 500), rng.gamma(4, 1, 5000)
    y, true = 2 * x + rng.normal(0, 1, 500), 2 * new
    calibrated = PointCalibrator(method).fit(x, y).transform(new)
    assert np.mean((calibrated - true) ** 2) < 0.15 < np.mean((new - true) ** 2)


@every
@pytest.mark.parametrize("decimals", [0, 9])
def test_weight_two_is_the_row_twice(method, data, rng, decimals):
    (x, y), w = data, rng.integers(0, 4, 400)
    x, new = np.round(x, decimals), np.linspace(-1, 12, 99)
    weighted = PointCalibrator(method).fit(x, y, sample_weight=w)
    rows = rng.permutation(np.repeat(np.arange(400), w))
    repeated = PointCalibrator(method).fit(x[rows], y[rows])
    np.testing.assert_allclose(weighted.transform(new), repeated.transform(new), rtol=1e-9)


def test_weights_of_many_rows(rng):
    x, w = rng.normal(size=3000), rng.integers(0, 3, 3000)  # more rows than cells
    y = np.abs(x) + rng.normal(size=3000)
    weighted = PointCalibrator("local").fit(x, y, sample_weight=w).transform(x)
    repeated = PointCalibrator("local").fit(np.repeat(x, w), np.repeat(y, w)).transform(x)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


@every
@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_huge_and_tiny_units(method, data, unit):
    x, y = data
    plain = PointCalibrator(method).fit(x, y).transform(x)
    np.testing.assert_allclose(PointCalibrator(method).fit(x * unit, y * unit).transform(x * unit), plain * unit)


@every
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_few_rows_and_constant_predictions(method, n):
    x = np.arange(1.0, n + 1)
    assert np.isfinite(PointCalibrator(method).fit(x, 2 * x).transform([0.5, 9.0])).all()
    constant = PointCalibrator(method).fit(np.full(n, 4.0), x)
    mean = n / np.sum(1 / x) if method == "mean-ratio" else x.mean()  # harmonic: one number over each outcome
    assert constant.transform([4.0])[0] == pytest.approx(mean)
    if method in ("linear", "local", "inverse"):  # nothing is known about a slope
        assert constant.transform([5.0])[0] == pytest.approx(x.mean() + 1)


@every
def test_kinds_of_columns_and_untouched_input(method, data):
    x, y = data
    expected = PointCalibrator(method).fit(x, y).transform(x)
    x.flags.writeable = y.flags.writeable = False
    for kind in (list, pd.Series, pl.Series, lambda a: a[:, None], lambda a: pd.DataFrame({"prediction": a})):
        np.testing.assert_array_equal(PointCalibrator(method).fit(kind(x), kind(y)).predict(kind(x)), expected)


@every
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")  # of checks for tables of many columns
def test_scikit_learn_contract(method, data):
    check_estimator(PointCalibrator(method))
    x, y = data
    calibrator = PointCalibrator(method)
    with pytest.raises(NotFittedError):
        calibrator.predict(x)
    assert calibrator.fit(x, y) is calibrator and calibrator.n_rows_ == 400
    again = pickle.loads(pickle.dumps(clone(calibrator).fit(x, y)))
    np.testing.assert_array_equal(again.predict(x), calibrator.transform(x))
    np.testing.assert_array_equal(clone(calibrator).fit_transform(x, y), calibrator.transform(x))
    assert calibrator.score(x, y) > 0


def test_missing_outcomes_are_left_out_with_a_count():
    with pytest.warns(UserWarning, match="1 of 3 rows have no outcome"):
        calibrator = PointCalibrator().fit([1.0, 2.0, 3.0], [2.0, np.nan, 6.0])
    np.testing.assert_allclose(calibrator.transform([2.0]), [4.0])


def test_bad_input(data):
    x, y = data
    with pytest.raises(ValueError, match="`method` must be one of 'linear', .*'mean-ratio', 'inverse'; got 'cubic'"):
        PointCalibrator("cubic").fit(x, y)
    with pytest.raises(ValueError, match=r"`forecasts` must be finite; 1 of 400 .* forecasts\[3\] = nan. NaN and inf"):
        PointCalibrator().fit(np.where(np.arange(400) == 3, np.nan, x), y)
    with pytest.raises(ValueError, match=r"`y` must be finite; 1 of 400 values is not, first y\[4\] = inf"):
        PointCalibrator().fit(x, np.where(np.arange(400) == 4, np.inf, y))
    with pytest.raises(ValueError, match="one entry per forecast; got 399 for 400"):
        PointCalibrator().fit(x, y[:-1])
    with pytest.raises(ValueError, match="requires y"):
        PointCalibrator().fit(x, None)
    with pytest.raises(ValueError, match="must not be all zero"):
        PointCalibrator().fit(x, y, sample_weight=0 * x)
    with pytest.raises(ValueError, match="empty"):
        PointCalibrator().fit([], [])


def test_a_ratio_needs_predictions_and_outcomes_of_one_sign():
    with pytest.raises(ValueError, match=r"must not cancel out for method='ratio'; their mean is 0 of their .*linear"):
        PointCalibrator("ratio").fit([-1.0, 1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"must not cancel out for method='ratio'; all are 0"):
        PointCalibrator("ratio").fit([0.0, 0.0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"means of one sign for method='ratio'; their ratio is -1.5"):
        PointCalibrator("ratio").fit([-1.0, -1.0], [1.0, 2.0])


def test_mean_ratios_and_inverses_that_do_not_exist():
    with pytest.raises(
        ValueError, match=r"`y` must be away from 0 for method='mean-ratio'; 1 of 2 .* first y\[1\] = 0"
    ):
        PointCalibrator("mean-ratio").fit([1.0, 1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match=r"one sign for method='mean-ratio'; .* is -1. Use method='linear'"):
        PointCalibrator("mean-ratio").fit([1.0, 1.0], [-1.0, -1.0])
    with pytest.raises(ValueError, match=r"follow the outcomes for method='inverse', .* correlation is 0. Use"):
        PointCalibrator("inverse").fit([1.0, 2.0, 1.0, 2.0], [1.0, 1.0, 2.0, 2.0])
    with pytest.raises(ValueError, match="squared correlation is 0"):
        PointCalibrator("inverse").fit([1.0, 2.0], [3.0, 3.0])


# ---- laws ----
LAWS = {
    "normal": lambda x: Normal(x, 0.5),
    "student": lambda x: StudentT(x, 0.5, 4.0),
    "gamma": lambda x: Gamma(4 * x, 0.25),
    "ensemble": lambda x: Ensemble(x[:, None] + np.array([-1.0, 0.2, 0.8])),
    "discrete": lambda x: Ensemble(x[:, None] + np.array([-1.0, 0.2, 0.8]), kind="discrete"),
    "recalibrated": lambda x: Recalibrated(Normal(x, 0.5), AffineMap(0.3, 0.8)),
}


@pytest.mark.parametrize("name", LAWS)
@every
def test_laws_are_moved_to_their_calibrated_means(method, name, data):
    y, law = data[1], LAWS[name](data[0])
    calibrator = PointCalibrator(method).fit(law, y)
    moved = calibrator.transform(law)
    points = PointCalibrator(method).fit(law.mean(), y).transform(law.mean())
    np.testing.assert_allclose(moved.mean(), points, rtol=1e-9)
    np.testing.assert_allclose(calibrator.predict(law), points, rtol=1e-9)
    np.testing.assert_allclose(calibrator.transform(law.mean()), points, rtol=1e-12)
    shift = points - law.mean()
    np.testing.assert_allclose(moved.std(), law.std(), rtol=1e-7)
    np.testing.assert_allclose(moved.interval(0.8), law.interval(0.8) + shift[:, None], rtol=1e-9)
    np.testing.assert_allclose(moved.cdf(y), law.cdf(y - shift), atol=1e-9)
    np.testing.assert_allclose(moved.crps(y), law.crps(y - shift), rtol=1e-6, atol=1e-9)
    if not law.has_atoms:
        np.testing.assert_allclose(moved.logpdf(y), law.logpdf(y - shift), rtol=1e-6, atol=1e-8)


def test_pairs_and_index_are_laws_too(data):
    x, y = data
    names = [f"row {i}" for i in range(400)]
    law = PointCalibrator().fit((x, np.ones(400)), y).transform(Normal(pd.Series(x, index=names), 1.0))
    assert list(law.index) == names and isinstance(law, Normal)


def test_laws_that_cannot_be_moved():
    with pytest.raises(TypeError, match=r"counts cannot be moved.*Use QuantileCalibrator"):
        PointCalibrator().fit(Poisson([1.0, 2.0]), [1.0, 3.0]).transform(Poisson([1.0]))
    with pytest.raises(
        ValueError, match=r"`means of forecasts` must be finite; 2 of 2 .*Give PointCalibrator their med"
    ):
        PointCalibrator().fit(StudentT([1.0, 2.0], 1.0, 0.9), [1.0, 3.0])


def test_in_chains_and_groups(rng):
    x = rng.normal(0, 2, 2000)
    y, law = 1 + 0.5 * x + rng.exponential(1, 2000), Normal(x, 1.0)
    both = Chain([PointCalibrator(), QuantileCalibrator()]).fit(law, y).transform(law)
    alone = QuantileCalibrator().fit(law, y).transform(law)
    assert both.crps(y).mean() < 0.9 * alone.crps(y).mean()
    assert both.mean() == pytest.approx(2 + 0.5 * x, abs=0.15)
    points = Chain([PointCalibrator(), ResidualCalibrator()]).fit(x, y).transform(x)
    assert points.mean() == pytest.approx(2 + 0.5 * x, abs=0.15)
    group = rng.random(2000) < 0.5
    y = y + 5 * group
    grouped = GroupedCalibrator(PointCalibrator(), strength=0).fit(law, y, groups=group)
    expected = np.empty(2000)
    for mine in (group, ~group):
        expected[mine] = PointCalibrator().fit(x[mine], y[mine]).transform(x[mine])
    np.testing.assert_allclose(grouped.transform(law, groups=group).mean(), expected, rtol=1e-9)


# ---- inside the estimator ----
@every
@pytest.mark.parametrize("ensemble", [False, True])
def test_inside_the_estimator(method, ensemble, rng):
    X = rng.uniform(1, 5, (600, 2))
    y = np.exp(0.5 * X[:, 0]) + rng.normal(0, 0.2, 600)
    base = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = CalibratedRegressor(base, PointCalibrator(method), ensemble=ensemble).fit(X, y)
    plain = [part.predict(X) for part in model.estimators_]
    calibrated = [c.transform(p) for c, p in zip(model.calibrators_, plain, strict=True)]
    np.testing.assert_allclose(model.predict(X), np.mean(calibrated, axis=0), rtol=1e-9)
    if not ensemble:
        np.testing.assert_allclose(model.predict_dist(X).std(), model.sigma_, rtol=1e-9)
        out_of_fold = model.calibrator_.transform(model.oof_forecasts_).mean()
        real = y[model.oof_rows_]
        off = np.mean(out_of_fold / real - 1) if method == "mean-ratio" else np.mean(out_of_fold - real)
        assert off == pytest.approx(0, abs=1e-9)


def test_the_spread_of_the_base_is_kept(rng):
    X = rng.normal(size=(300, 1))
    y = np.exp(X[:, 0]) + rng.normal(0, 0.2, 300)
    model = CalibratedRegressor(BayesianRidge(), PointCalibrator("local")).fit(X, y)
    before, after = model.predict_dist(X, calibrated=False), model.predict_dist(X)
    np.testing.assert_allclose(after.std(), before.std())
    assert np.mean((after.mean() - y) ** 2) < 0.5 * np.mean((before.mean() - y) ** 2)
