"""Increasing features of outcomes and predictions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from sklearn.base import clone

from calibrant import GroupedCalibrator, LogNormal, Normal, ResidualCalibrator, load, metrics, save

LOGS = (lambda y, p: np.log(y / p), lambda v, p: p * np.exp(v))
ROOTS = (lambda y, p: np.cbrt(y) - np.cbrt(p), lambda v, p: (v + np.cbrt(p)) ** 3)
FEATURES = {
    "ratio": "ratio",
    "log ratio": "log ratio",
    "functions": ROOTS,
    "straight": ["difference", "ratio"],
    "weighted": {"difference": 1.0, "log ratio": 3},
    "all": ["ratio", LOGS, ROOTS],
}
LEVELS = [0.01, 0.2, 0.5, 0.8, 0.99]
every = pytest.mark.parametrize("name", FEATURES)


def sample(n=1000, spread=0.3):
    rng = np.random.default_rng(0)
    point = np.exp(rng.normal(0, 1, n))
    return point, point * np.exp(spread * rng.standard_normal(n))


def eq_7(values, value):
    """Kuleshov et al. (2018), eq. 7 and 6 for a feature: the share of rows whose feature is at most this."""
    return sum(other <= value for other in values) / len(values)


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("difference", lambda y, p: y - p),
        ("ratio", lambda y, p: y / p),
        ("log ratio", lambda y, p: np.log(y / p)),
        ("functions", lambda y, p: y ** (1 / 3) - p ** (1 / 3)),
    ],
)
def test_shares_of_features_that_are_smaller(name, by_hand):
    point, y = sample(60)
    values = by_hand(y, point)
    calibrator = ResidualCalibrator("isotonic", ranks="T", feature=FEATURES.get(name, name)).fit(point, y)
    np.testing.assert_allclose(calibrator.transform(point).cdf(y), [eq_7(values, v) for v in values], atol=1e-12)


def test_several_features_are_added_in_their_own_units():
    point, y = sample(60)
    parts = [y - point, np.log(y / point)]
    values = sum(w * v / np.sqrt(np.mean(v**2)) for w, v in zip((1, 3), parts, strict=True))
    calibrator = ResidualCalibrator("isotonic", ranks="T", feature=FEATURES["weighted"]).fit(point, y)
    np.testing.assert_allclose(calibrator.transform(point).cdf(y), [eq_7(values, v) for v in values], atol=1e-12)


@every
class TestEvery:
    def test_a_law_in_every_sense(self, name):
        point, y = sample()
        law = ResidualCalibrator(feature=FEATURES[name]).fit(point, y).transform(point)
        q = law.quantiles(LEVELS)
        assert np.all(np.diff(q) > 0)
        np.testing.assert_allclose(law.cdf(q), np.tile(LEVELS, (len(y), 1)), atol=1e-9)
        h = 1e-5 * y
        np.testing.assert_allclose((law.cdf(y + h) - law.cdf(y - h)) / (2 * h), law.pdf(y), rtol=3e-3, atol=1e-6)
        few = law[:3]
        drawn = few.sample(4000, random_state=0)
        assert few.mean() == pytest.approx(drawn.mean(axis=1), rel=0.03)
        apart = np.abs(drawn[:, :2000] - drawn[:, 2000:]).mean(axis=1)
        by_draws = np.abs(drawn - y[:3, None]).mean(axis=1) - 0.5 * apart
        assert few.crps(y[:3]) == pytest.approx(by_draws, abs=0.03 * few.std().max())

    def test_calibrated(self, name):
        point, y = sample(4000)
        law = ResidualCalibrator(feature=FEATURES[name]).fit(point[:2000], y[:2000]).transform(point[2000:])
        assert metrics.coverage(y[2000:], law) == pytest.approx(0.9, abs=0.025)

    def test_weight_two_is_the_row_twice(self, name):
        point, y = sample(150)
        w = np.random.default_rng(1).integers(0, 3, 150)
        many = np.repeat(np.arange(150), w)
        one = ResidualCalibrator(feature=FEATURES[name]).fit(point, y, sample_weight=w)
        other = ResidualCalibrator(feature=FEATURES[name]).fit(point[many], y[many])
        np.testing.assert_allclose(one.transform([2.0]).quantiles(LEVELS), other.transform([2.0]).quantiles(LEVELS))

    def test_a_second_column_in_units_of_the_outcome(self, name):
        """Wrong by a factor of five, and then not."""
        point, y = sample(1500)
        wide = np.where(np.arange(1500) % 2, 3.0, 1.0)
        y = point * np.exp(np.log(y / point) * wide / 3)
        calibrator = ResidualCalibrator(feature=FEATURES[name]).fit((point, 5 * wide * point), y)
        law = calibrator.transform((np.array([1.0, 1.0]), np.array([5.0, 15.0])))
        assert law.std()[1] == pytest.approx(3 * law.std()[0], rel=0.15)
        with pytest.raises(ValueError, match="with a second column in fit and without one now"):
            calibrator.transform([1.0])

    def test_files_and_parameters(self, name, tmp_path):
        point, y = sample(200)
        calibrator = ResidualCalibrator(feature=FEATURES[name]).fit(pd.Series(point), y.tolist())
        assert clone(calibrator).get_params()["feature"] == FEATURES[name]
        save(calibrator, tmp_path / "file")
        loaded = load(tmp_path / "file")
        if name in ("functions", "all"):
            with pytest.raises(ValueError, match=r"functions that the file does not hold. Give them again: set_params"):
                loaded.transform(point)
            loaded.set_params(feature=FEATURES[name])
        np.testing.assert_array_equal(loaded.transform(point).cdf(y), calibrator.transform(point).cdf(y))


@pytest.mark.parametrize("name", ["ratio", "log ratio", "functions"])
def test_summaries_say_as_much(name):
    point, y = sample(300)
    calibrator = ResidualCalibrator(feature=FEATURES[name])
    whole = clone(calibrator).fit(point, y).transform(point).quantiles(LEVELS)
    parts = clone(calibrator).partial_fit(point[:100], y[:100]).partial_fit(point[100:], y[100:])
    np.testing.assert_allclose(parts.transform(point).quantiles(LEVELS), whole, rtol=1e-7)


def test_several_features_need_the_rows():
    point, y = sample(50)
    with pytest.raises(ValueError, match="needs the rows themselves: a summary is not enough"):
        ResidualCalibrator(feature=["difference", "ratio"]).summarise(point, y)


@pytest.mark.parametrize("feature", ["difference", "ratio", "log ratio"])
def test_groups_by_rows_and_by_summaries(feature):
    point, y = sample(600)
    groups = np.where(np.arange(600) % 3 == 0, "a", "b")
    y = np.where(groups == "a", y * 1.5, y)
    made = [GroupedCalibrator(ResidualCalibrator(feature=feature)) for _ in range(2)]
    made[0].fit(point, y, groups=groups)
    made[1].partial_fit(point, y, groups=groups)
    one, other = (each.transform(point[:2], groups=["a", "b"]).quantiles(LEVELS) for each in made)
    np.testing.assert_allclose(one, other, rtol=1e-6)
    assert one[0, 2] / point[0] > 1.15 * one[1, 2] / point[1]


def test_forms_that_are_known():
    point, y = sample()
    ratio = ResidualCalibrator(feature="ratio").fit(point, y).transform([1.0, 10.0])
    assert np.diff(ratio.interval(0.9)).ravel() == pytest.approx(np.array([1, 10]) * np.diff(ratio[0].interval(0.9))[0])
    assert isinstance(ratio.base, Normal)
    logs = ResidualCalibrator(feature="log ratio").fit(point, y).transform([1.0, 10.0])
    assert isinstance(logs.base, LogNormal) and logs.cdf([0.0, -1.0]).tolist() == [0.0, 0.0]
    given = ResidualCalibrator(feature=LOGS).fit(point, y).transform([1.0, 10.0])
    np.testing.assert_allclose(given.quantiles(LEVELS), logs.quantiles(LEVELS), rtol=1e-2)
    assert given.cdf([-1.0, -1.0]).tolist() == [0.0, 0.0] and given.pdf([-1.0, -1.0]).tolist() == [0.0, 0.0]


def test_a_feature_that_suits_is_sharper():
    point, y = sample(3000)
    old, new = slice(0, 2000), slice(2000, None)
    score = {
        str(f): metrics.crps(y[new], ResidualCalibrator(feature=f).fit(point[old], y[old]).transform(point[new]))
        for f in ("difference", "ratio")
    }
    assert score["ratio"] < 0.9 * score["difference"]


@pytest.mark.parametrize(
    ("feature", "point", "y", "message"),
    [
        ("share", [1.0, 2.0], [1.0, 2.5], "`feature` must be one of 'difference', 'ratio', 'log ratio', a pair of"),
        ([], [1.0, 2.0], [1.0, 2.5], r"several of these; got \[\]"),
        ({"ratio": -1.0, "difference": 1.0}, [1.0, 2.0], [1.0, 2.5], "positive weights; that of 'ratio' is -1.0"),
        ("ratio", [1.0, -2.0], [1.0, 2.5], r"`forecasts` must be positive for ratios; 1 of 2 .* forecasts\[1\] = -2.0"),
        ("log ratio", [1.0, 2.0], [1.0, 0.0], r"`y` must be positive for log ratios; 1 of 2 .* y\[1\] = 0.0"),
        ((lambda y, p: p - y, lambda v, p: p - v), [1.0, 2.0], [1.5, 2.0], "where the feature increases"),
        ((lambda y, p: y - p, lambda v, p: p - v), [1.0, 2.0], [1.5, 2.5], "found again from its feature"),
    ],
)
def test_refusals(feature, point, y, message):
    with pytest.raises(ValueError, match=message):
        ResidualCalibrator(feature=feature).fit(point, y)


def test_new_predictions_are_checked_too():
    point, y = sample(50)
    with pytest.raises(ValueError, match="`forecasts` must be positive for ratios"):
        ResidualCalibrator(feature="ratio").fit(point, y).transform([0.0])


def test_the_default_is_what_it_was():
    point, y = sample(200)
    law = ResidualCalibrator("ecdf").fit(point, y).transform([7.0])
    scores = np.sort(y - point)
    np.testing.assert_allclose(law.cdf(np.array([7 + scores])), [np.arange(1, 201) / 201], atol=1e-12)
    assert ndtr(law.to_normal(np.array([[7 + scores[0]]])))[0, 0] == pytest.approx(1 / 201)


def test_a_feature_must_be_finite():
    point, y = sample(60)
    steep = (lambda y, p: np.where(y > 1, np.inf, np.log(y / p)), lambda v, p: p * np.exp(v))
    with pytest.raises(ValueError, match="`y` must be where the feature is finite"):
        ResidualCalibrator(feature=steep).fit(point, y)
