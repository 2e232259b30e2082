"""Plain intervals and quantiles, given by name, beside laws with the same ends."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibrant import Intervals, Normal, Quantiles, metrics

LEVELS = np.array([0.1, 0.25, 0.5, 0.9])


@pytest.fixture
def data(rng):
    law = Normal(rng.normal(size=40), np.exp(rng.normal(size=40)))
    return law.loc + 1.7 * law.scale * rng.normal(size=40), law


def test_plain_ends_count_as_those_of_the_law(data):
    y, law = data
    low, high = law.interval(0.8).T
    for keywords in ({}, {"per_row": True}, {"sample_weight": np.arange(40.0)}):
        ours = metrics.coverage(y, low=low, high=high, **keywords)
        np.testing.assert_array_equal(ours, metrics.coverage(y, law, coverage=0.8, **keywords))
        ours = metrics.interval_score(y, low=low, high=high, coverage=0.8, **keywords)
        np.testing.assert_array_equal(ours, metrics.interval_score(y, law, coverage=0.8, **keywords))
    both = np.stack([law.interval(0.5), law.interval(0.8)], axis=2)
    np.testing.assert_array_equal(
        metrics.coverage(y, low=both[:, 0], high=both[:, 1]), metrics.coverage(y, law, coverage=[0.5, 0.8])
    )
    assert metrics.coverage(y, low=both[:, 0], high=both[:, 1], per_row=True).shape == (40, 2)


def test_ends_count_as_inside():
    assert metrics.coverage([1.0, 2.0, 3.0, 0.9], low=[1.0] * 4, high=[2.0] * 4, per_row=True).tolist() == [1, 1, 0, 0]


def test_interval_score_by_hand():
    scores = metrics.interval_score([0.0, 2.0, 7.0], low=[1.0] * 3, high=[4.0] * 3, coverage=0.8, per_row=True)
    np.testing.assert_allclose(scores, [3 + 10 * 1, 3, 3 + 10 * 3])


def test_plain_quantiles_are_scored_as_they_are(data):
    y, law = data
    table = law.quantiles(LEVELS)
    frame = pd.DataFrame(table, columns=["q10", "q25", "median", "q90"])
    expected = metrics.pinball_loss(y, law, levels=LEVELS)
    for given in (dict(zip(LEVELS, table.T, strict=True)), frame):
        assert metrics.pinball_loss(y, quantiles=given) == pytest.approx(expected, rel=1e-12)
    assert metrics.pinball_loss(y, quantiles=table, levels=LEVELS) == pytest.approx(expected, rel=1e-12)
    one = metrics.pinball_loss(y, quantiles=table[:, 3], levels=0.9, per_row=True)
    below = y < table[:, 3]
    np.testing.assert_allclose(one, np.where(below, 0.1 * (table[:, 3] - y), 0.9 * (y - table[:, 3])), rtol=1e-12)
    crossed = metrics.pinball_loss([1.0], quantiles=[[3.0, 2.0]], levels=[0.1, 0.9])  # not rearranged
    assert crossed == pytest.approx((0.9 * 2 + 0.1 * 1) / 2)


def test_weighted_interval_score_is_that_of_scoringrules(data):
    sr = pytest.importorskip("scoringrules")
    y, law = data
    c = np.array([0.3, 0.5, 0.9, 0.98])
    low, high = law.quantiles(0.5 - c / 2), law.quantiles(0.5 + c / 2)
    theirs = sr.weighted_interval_score(y, law.median(), low, high, 1 - c, w_median=0.0, backend="numpy")
    theirs = theirs + 0.5 * np.abs(y - law.median()) / 4.5  # without numba, 0.10 weighs the median, not its error
    np.testing.assert_allclose(metrics.weighted_interval_score(y, law, coverage=c, per_row=True), theirs, rtol=1e-12)
    named = {"low": low, "high": high, "coverage": c, "median": law.median()}
    np.testing.assert_allclose(metrics.weighted_interval_score(y, **named, per_row=True), theirs, rtol=1e-12)
    weights = np.arange(40.0)
    expected = np.average(theirs, weights=weights)
    assert metrics.weighted_interval_score(y, **named, sample_weight=weights) == pytest.approx(expected, rel=1e-12)


def test_weighted_interval_score_by_its_formula(data):
    y, law = data
    c = np.array([0.5, 0.9])
    low, high = law.quantiles(0.5 - c / 2), law.quantiles(0.5 + c / 2)
    scores = [
        metrics.interval_score(y, low=low[:, k], high=high[:, k], coverage=c[k], per_row=True) * (1 - c[k]) / 2
        for k in range(2)
    ]
    middle = 0.5 * np.abs(y - law.median())
    whole = metrics.weighted_interval_score(y, low=low, high=high, coverage=c, median=law.median(), per_row=True)
    np.testing.assert_allclose(whole, (middle + sum(scores)) / 2.5, rtol=1e-12)
    without = metrics.weighted_interval_score(y, low=low, high=high, coverage=c, per_row=True)
    np.testing.assert_allclose(without, sum(scores) / 2, rtol=1e-12)


@pytest.mark.parametrize("far", [0.0, 1e8])
@pytest.mark.parametrize("median", [True, False])
def test_weighted_interval_score_is_twice_the_pinball_loss(far, median):
    n, c = 20_000, np.array([0.5, 0.98])  # more rows than a block
    law = Normal(np.linspace(-2.0, 2.0, n) + far, np.linspace(0.1, 3.0, n))
    y = law.loc + 4.0 * np.sin(np.arange(n))  # inside all, between and outside, below and above
    levels = np.concatenate([0.5 - c / 2, 0.5 + c / 2, [0.5] * median])
    table = law.quantiles(levels)
    named = {"low": table[:, :2], "high": table[:, 2:4], "coverage": c} | ({"median": table[:, 4]} if median else {})
    expected = 2 * metrics.pinball_loss(y, quantiles=table, levels=levels, per_row=True)
    for given in [named, {"dist": law, "coverage": c}] if median else [named]:
        given = {"per_row": True} | given
        np.testing.assert_allclose(metrics.weighted_interval_score(y, **given), expected, rtol=1e-12)


def test_weighted_interval_score_nears_the_crps(data):
    y, law = data
    fine = metrics.weighted_interval_score(y, law, coverage=np.arange(1, 2000) / 2000)
    assert fine == pytest.approx(metrics.crps(y, law), rel=1e-3)
    hub = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98]
    assert metrics.weighted_interval_score(y, law) == metrics.weighted_interval_score(y, law, coverage=hub)
    law = Intervals([0.0, 1.0], [2.0, 5.0], 0.9)
    assert type(law) is Quantiles and metrics.coverage([1.0, 9.0], law) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, d: metrics.coverage(y, d, low=y, high=y), "give either forecasts or `low`, not both"),
        (lambda y, d: metrics.coverage(y), "give forecasts, or `low` and `high`; `low` is missing"),
        (lambda y, d: metrics.coverage(y, low=y), "`high` is missing"),
        (lambda y, d: metrics.coverage(y, low=y, high=y, coverage=0.9), r"needs no nominal coverage"),
        (lambda y, d: metrics.interval_score(y, low=y, high=y), "`coverage` is missing: the probability"),
        (lambda y, d: metrics.weighted_interval_score(y, low=y, high=y), "`coverage` is missing"),
        (lambda y, d: metrics.weighted_interval_score(y, d, median=y), "either forecasts or `median`"),
        (lambda y, d: metrics.pinball_loss(y, quantiles=np.zeros((2, 3))), "`levels` must be given, or told by the"),
        (lambda y, d: metrics.pinball_loss(y, quantiles={"a": y}), "`levels` must be given, or told by the"),
        (lambda y, d: metrics.pinball_loss(y), "give forecasts, or `quantiles`"),
    ],
)
def test_what_is_not_said_is_asked_for(call, message):
    with pytest.raises(TypeError, match=message):
        call([0.0, 1.0], Normal([0.0, 1.0], 1.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y: metrics.coverage(y, low=[2.0, 0.0], high=[1.0, 1.0]), "`low` must be at most `high`; 1 of 2"),
        (
            lambda y: metrics.coverage(y, low=[0.0], high=[1.0]),
            "`y_true` must have one entry .*; got 2 for 1",
        ),
        (lambda y: metrics.interval_score(y, low=y, high=y, coverage=90), r"Percent\? Divide by 100"),
        (lambda y: metrics.pinball_loss(y, quantiles=np.zeros((2, 3)), levels=[0.1, 0.9]), r"must be \(n, 2\)"),
        (lambda y: metrics.pinball_loss(y, quantiles={0.1: [np.nan, 0.0]}), "`quantiles` must be finite; 1 of 2"),
    ],
)
def test_what_is_refused_and_why(call, message):
    with pytest.raises(ValueError, match=message):
        call([0.0, 1.0])
