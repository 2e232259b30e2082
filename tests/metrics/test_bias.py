from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from calibrant import Normal, metrics
from calibrant.adapters.class_scores import ClassScores

IDENTIFICATION = {
    ("mean", None): lambda x, y: x - y,
    ("median", None): lambda x, y: float(y <= x) - 0.5,
    ("quantile", 0.8): lambda x, y: float(y <= x) - 0.8,
    ("expectile", 0.3): lambda x, y: 2 * abs(float(y <= x) - 0.3) * (x - y),
}


@pytest.fixture
def case(rng):
    y, x = rng.normal(3, 1, (2, 90))
    return y, np.round(x, 1), rng.choice(["b", "a", "c"], 90), rng.integers(0, 4, 90)


@pytest.mark.parametrize(("functional", "level"), IDENTIFICATION)
def test_the_t_test_of_every_value(functional, level, case):
    y, x, feature, weight = case
    given = metrics.bias_by_feature(y, x, feature, functional=functional, level=level, sample_weight=weight)
    assert given.values == ("all rows", "a", "b", "c") and given.models == ("",) * 4
    v = np.repeat([IDENTIFICATION[functional, level](a, b) for a, b in zip(x, y, strict=True)], weight)
    where = np.repeat(feature, weight)
    for k, rows in enumerate([where != "", where == "a", where == "b", where == "c"]):
        assert given.rows[k] == rows.sum()
        assert given.bias[k] == pytest.approx(v[rows].mean(), rel=1e-12)
        assert given.standard_error[k] == pytest.approx(stats.sem(v[rows]), rel=1e-10)
        assert given.pvalue[k] == pytest.approx(stats.ttest_1samp(v[rows], 0).pvalue, rel=1e-8)


def test_numbers_are_cut_at_their_quantiles(rng):
    y, feature = rng.normal(size=(2, 1000))
    feature[:40] = np.nan
    given = metrics.bias_by_feature(y, 0 * y, feature, n_bins=4)
    assert given.values[-1] == "missing" and len(given.values) == 6
    np.testing.assert_allclose(given.rows, [1000, 240, 240, 240, 240, 40])
    assert given.bias[-1] == pytest.approx(-y[:40].mean())
    low, high = (float(end) for end in given.values[1].split(" to "))
    lowest = (feature >= low - 0.005) & (feature <= high + 0.005)
    assert lowest.sum() == pytest.approx(240, abs=3) and low == pytest.approx(np.nanmin(feature), abs=0.005)
    few = metrics.bias_by_feature(y, 0 * y, np.arange(1000) % 3)
    assert few.values == ("all rows", "0", "1", "2")


def test_rare_categories_are_taken_together():
    names = np.repeat(["often", "seldom", "rare", "rarest"], [9, 5, 2, 1])
    given = metrics.bias_by_feature(np.arange(17.0), np.arange(17.0) + 1, names, n_bins=3)
    assert given.values == ("all rows", "often", "seldom", "others")
    np.testing.assert_array_equal(given.rows, [17, 9, 5, 3])
    assert (given.bias == 1).all() and (given.standard_error == 0).all() and (given.pvalue == 0).all()


def test_laws_classes_and_kinds_of_input_agree(case):
    y, x, feature, _ = case
    expected = metrics.bias_by_feature(y, x, feature).bias
    law = metrics.bias_by_feature(y, Normal(x, 1.0), pd.Series(feature, name="region", dtype="category"))
    np.testing.assert_allclose(law.bias, expected)
    assert law.feature == "region"
    for other in (feature.tolist(), pl.Series("f", feature), pd.DataFrame({"f": feature}), feature.astype(object)):
        np.testing.assert_array_equal(metrics.bias_by_feature(y.tolist(), pd.Series(x), other).bias, expected)
    p, came = stats.norm.cdf(x - 3), y > 3
    probability = metrics.bias_by_feature(came.astype(float), p, feature).bias
    table = np.column_stack([1 - p, p])
    labels = np.where(came, "yes", "no")
    for labelled, given in [(came, p), (labels, p), (labels, table), (came.astype(int), ClassScores(table))]:
        np.testing.assert_allclose(metrics.bias_by_feature(labelled, given, feature).bias, probability, rtol=1e-6)
    quantile = metrics.bias_by_feature(y, Normal(x, 1.0), feature, functional="quantile", level=0.9)
    np.testing.assert_allclose(quantile.bias[0], np.mean(y <= x + stats.norm.ppf(0.9)) - 0.9, atol=1e-12)


def test_the_pvalues_of_unbiased_forecasts_are_uniform(rng):
    mu = rng.normal(size=40_000)
    given = metrics.bias_by_feature(
        mu + rng.normal(size=40_000), Normal(mu, 1.0), np.arange(40_000) % 1000, n_bins=1000
    )
    assert len(given.pvalue) == 1001
    assert stats.kstest(given.pvalue[1:], "uniform").pvalue > 0.01
    assert np.mean(given.pvalue[1:] < 0.05) == pytest.approx(0.05, abs=0.02)


def test_the_table(case):
    y, x, feature, _ = case
    given = metrics.bias_by_feature(y, {"plain": x, "wild": 2 * x}, feature[:, None])
    assert given.models == ("plain",) * 4 + ("wild",) * 4
    lines = str(given).splitlines()
    assert (
        repr(given) == str(given)
        and len(lines) == 9
        and lines[0].split() == ["feature", *["rows", "bias", "standard_error", "pvalue"]]
    )
    assert lines[2].startswith("plain a ")
    frame = given.to_frame()
    assert list(frame.columns) == ["model", "feature", "rows", "bias", "standard_error", "pvalue"] and len(frame) == 8
    single = metrics.bias_by_feature([1.0, 2.0], [1.5, 2.0], ["a", None])
    assert single.values == ("all rows", "missing", "a") and np.isnan(single.pvalue[1:]).all() and " - " in str(single)


def test_bad_input(case):
    y, x, feature, _ = case
    with pytest.raises(ValueError, match="`feature` must have one entry per forecast; got 3 for 90 forecasts"):
        metrics.bias_by_feature(y, x, feature[:3])
    with pytest.raises(TypeError, match="`feature` must be a column with an entry a forecast; got None"):
        metrics.bias_by_feature(y, x, None)
    with pytest.raises(TypeError, match="`feature` must be numbers or categories; got datetime64.* Take parts"):
        metrics.bias_by_feature(y, x, pd.date_range("2026", periods=90))
    with pytest.raises(ValueError, match="`feature` must be one column; got 2"):
        metrics.bias_by_feature(y, x, np.column_stack([x, x]))
    with pytest.raises(ValueError, match="bias_by_feature is for two classes; got 3"):
        metrics.bias_by_feature(feature, np.full((90, 3), 1 / 3), x)
    with pytest.raises(ValueError, match="`y_pred` must have at least one model"):
        metrics.bias_by_feature(y, {}, feature)
    with pytest.raises(ValueError, match="`y_true` must be finite"):
        metrics.bias_by_feature([np.nan, 1.0], [0.0, 1.0], ["a", "b"])
