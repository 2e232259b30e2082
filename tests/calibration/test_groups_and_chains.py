"""Groups and chains."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calibrant import (
    Chain,
    GroupedCalibrator,
    IsotonicCalibrator,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    TemperatureCalibrator,
)


def shops(rng, sizes, widths):
    names = np.repeat(np.arange(len(sizes)), sizes)
    return names, np.repeat(widths, sizes) * rng.standard_normal(sum(sizes))


@pytest.mark.parametrize("inner", [QuantileCalibrator(), QuantileCalibrator(map="ecdf"), ScaleCalibrator()])
def test_large_groups_speak_for_themselves_small_ones_follow(inner, rng):
    names, y = shops(rng, [2000, 2000, 3], [1.0, 4.0, 40.0])
    cal = GroupedCalibrator(inner).fit(Normal(np.zeros(len(y)), 1.0), y, groups=names)
    width = np.diff(cal.transform(Normal(np.zeros(4), 1.0), groups=[0, 1, 2, 99]).interval(0.9)).ravel()
    assert width[:2] == pytest.approx(2 * 1.645 * np.array([1.0, 4.0]), rel=0.06)
    common = np.diff(cal.common_.transform(Normal([0.0], 1.0)).interval(0.9))[0, 0]
    assert width[3] == pytest.approx(common)  # a group never seen
    assert width[2] < 0.25 * 2 * 1.645 * 40  # three rows of width 40 are not believed


def test_rows_keep_their_order(rng):
    names, y = shops(rng, [300, 300], [1.0, 5.0])
    mix = rng.permutation(600)
    cal = GroupedCalibrator(QuantileCalibrator()).fit(Normal(np.zeros(600), 1.0), y, groups=names)
    law = cal.transform(Normal(np.arange(600.0), 1.0), groups=names[mix])
    assert np.allclose(law.median(), np.arange(600), atol=1)
    assert np.all((law.std() > 2) == (names[mix] == 1))
    assert np.allclose(law.crps(np.zeros(600))[:5], [law[i].crps([0.0])[0] for i in range(5)])


def test_strength_zero_is_no_pull(rng):
    names, y = shops(rng, [500, 20], [1.0, 3.0])
    law = Normal(np.zeros(520), 1.0)
    free = GroupedCalibrator(ScaleCalibrator(), strength=0).fit(law, y, groups=names)
    own = np.sqrt(np.mean(y[500:] ** 2))
    assert free.transform(Normal([0.0], 1.0), groups=[1]).std()[0] == pytest.approx(own)


def test_a_label_is_the_same_group_however_it_is_written(rng):
    number = np.repeat([0, 1], 100)
    y = rng.normal(0, np.where(number == 0, 1.0, 4.0))
    for labels in (number, number.astype(object), number.astype(float), number.tolist(), pd.Series(number)):
        cal = GroupedCalibrator(ScaleCalibrator()).fit(Normal(np.zeros(200), 1.0), y, groups=labels)
        assert set(cal.calibrators_) == {0, 1}
        one, four = cal.transform(Normal(np.zeros(2), 1.0), groups=np.array([0, 1], dtype=object)).std()
        assert one < 0.5 * four
    days = np.array(["2020-01-01", "2020-01-02"], dtype="M8[ns]")
    cal = GroupedCalibrator(ScaleCalibrator()).fit(Normal(np.zeros(200), 1.0), y, groups=days[number])
    one, four = cal.transform(Normal(np.zeros(2), 1.0), groups=list(pd.Series(days))).std()
    assert one < 0.5 * four


def test_points_by_group(rng):
    names = np.repeat(["a", "b"], 200)
    y = rng.normal(0, np.where(names == "a", 1.0, 4.0))
    cal = GroupedCalibrator(ResidualCalibrator()).fit(np.zeros(400), y, groups=names)
    one, four = np.diff(cal.transform([0.0, 0.0], groups=["a", "b"]).interval(0.5)).ravel()
    assert one < 0.5 * four


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.0, np.nan], r"`groups` must not be missing; 1 of 2 labels are, first groups\[1\]"),
        ([None, "a"], r"must not be missing; 1 of 2"),
        (pd.Series(["a", pd.NA], dtype="string"), r"must not be missing; 1 of 2"),
        ([["a"], ["b"]], r"`groups` must be labels"),
        ([["a", "b"]], r"one label per forecast; got shape \(1,\)"),
    ],
)
def test_labels_that_are_none(labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        GroupedCalibrator(ScaleCalibrator()).fit(Normal([0.0, 1.0], 1.0), [1.0, 2.0], groups=labels)


@pytest.mark.parametrize(
    ("calibrators", "message"),
    [
        ([ScaleCalibrator], r"`calibrators\[0\]` must have fit and transform"),
        (ScaleCalibrator(), "`calibrators` must be a list"),
        (
            [ScaleCalibrator(), GroupedCalibrator(ScaleCalibrator())],
            "`groups` must be given",
        ),
    ],
)
def test_chains_of_what_cannot_be_chained(calibrators, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Chain(calibrators).fit(Normal([0.0, 1.0], 1.0), [1.0, 2.0])


def test_group_errors(rng):
    cal = GroupedCalibrator(QuantileCalibrator())
    with pytest.raises(NotFittedError):
        clone(cal).transform(Normal([0.0], 1.0), groups=[0])
    with pytest.raises(ValueError, match="`groups` must be given"):
        cal.fit(Normal([0.0], 1.0), [1.0])
    with pytest.raises(ValueError, match="one label per forecast"):
        cal.fit(Normal([0.0, 1.0], 1.0), [1.0, 2.0], groups=["a"])


def test_weight_two_is_the_row_twice(rng):
    names, y = shops(rng, [60, 60], [1.0, 3.0])
    w = rng.integers(1, 3, 120)
    law = Normal(np.zeros(120), 1.0)
    one = GroupedCalibrator(QuantileCalibrator(map="ecdf")).fit(law, y, groups=names, sample_weight=w)
    two = GroupedCalibrator(QuantileCalibrator(map="ecdf")).fit(
        law[np.repeat(np.arange(120), w)], np.repeat(y, w), groups=np.repeat(names, w)
    )
    new = Normal(np.zeros(2), 1.0)
    assert np.allclose(one.transform(new, groups=[0, 1]).std(), two.transform(new, groups=[0, 1]).std(), rtol=1e-6)


def test_chain_is_one_after_the_other(rng):
    y = 1 + 3 * rng.standard_normal(500)
    law = Normal(np.zeros(500), 1.0)
    chain = Chain([ScaleCalibrator(), QuantileCalibrator(map="ecdf")]).fit(law, y)
    scaled = ScaleCalibrator().fit(law, y).transform(law)
    by_hand = QuantileCalibrator(map="ecdf").fit(scaled, y).transform(scaled)
    assert np.allclose(chain.transform(law).quantiles([0.1, 0.9]), by_hand.quantiles([0.1, 0.9]))
    assert isinstance(chain.calibrators[0], ScaleCalibrator) and not hasattr(chain.calibrators[0], "factor_")


def test_empty_chain():
    with pytest.raises(ValueError, match="at least one calibrator"):
        Chain([]).fit(Normal([0.0], 1.0), [0.0])


def test_groups_reach_the_links_of_a_chain_that_take_them(rng):
    law, y, shop = Normal(np.zeros(400), 1.0), rng.normal(0, 1, 400), np.repeat(["a", "b"], 200)
    y = np.where(shop == "a", 3 * y, 0.5 * y)
    chain = Chain([ScaleCalibrator(), GroupedCalibrator(ScaleCalibrator())])
    assert chain.takes.needs == {"groups"} and chain.takes.forecasts == ("distributions",)
    after = chain.fit(law, y, groups=shop).transform(law, groups=shop)
    first = ScaleCalibrator().fit(law, y).transform(law)
    by_hand = GroupedCalibrator(ScaleCalibrator()).fit(first, y, groups=shop).transform(first, groups=shop)
    np.testing.assert_allclose(after.std(), by_hand.std())
    assert after.std()[0] > 2.5 > 1 > after.std()[-1]


def _two_shops(rng, n=4000):
    """Log odds three times too large in one shop, right in the other."""
    odds, shop = rng.normal(0, 1.5, n), rng.choice(["a", "b"], n)
    y = np.where(rng.random(n) < expit(odds), "yes", "no")
    return expit(np.where(shop == "a", 3, 1) * odds), y, shop, expit(odds)


@pytest.mark.parametrize("calibrator", [PlattCalibrator(), TemperatureCalibrator(), IsotonicCalibrator()])
def test_classes_by_group(rng, calibrator):
    p, y, shop, truth = _two_shops(rng)
    grouped = GroupedCalibrator(calibrator).fit(p, y, groups=shop)
    after = grouped.transform(p, groups=shop)
    assert after.shape == (len(p), 2) and grouped.classes_.tolist() == ["no", "yes"]
    common = clone(calibrator).fit(p, y).transform(p)
    assert np.abs(after[:, 1] - truth).mean() < 0.5 * np.abs(common[:, 1] - truth).mean()
    np.testing.assert_array_equal(grouped.transform(p[:9], groups=["new"] * 9), common[:9])
    swapped = GroupedCalibrator(calibrator).fit(np.column_stack([p, 1 - p]), y, groups=shop, classes=["yes", "no"])
    np.testing.assert_allclose(swapped.transform(np.column_stack([p, 1 - p]), groups=shop)[:, ::-1], after, atol=1e-6)


def test_a_group_of_one_class_stays_with_the_others(rng):
    p, y, shop, _ = _two_shops(rng)
    few = np.flatnonzero(y == "yes")[:5]
    shop[few] = "lucky"
    after = GroupedCalibrator(PlattCalibrator()).fit(p, y, groups=shop)
    common = after.common_.transform(p[few])[:, 1]
    lucky = after.transform(p[few], groups=shop[few])[:, 1]
    assert lucky.mean() > common.mean() and lucky.max() < 0.95  # five rows of one class are no certainty


def test_the_common_calibrator_is_right_where_a_group_has_no_say(rng):
    p, y, shop, _ = _two_shops(rng)
    after = GroupedCalibrator(PlattCalibrator(), strength=1e9).fit(p, y, groups=shop)
    np.testing.assert_allclose(after.transform(p, groups=shop), after.common_.transform(p), atol=0.02)


def test_chains_of_class_calibrators(rng):
    p, y, *_ = _two_shops(rng)
    chain = Chain([TemperatureCalibrator(), IsotonicCalibrator()]).fit(p, y)
    first = TemperatureCalibrator().fit(p, y).transform(p)
    np.testing.assert_allclose(chain.transform(p), IsotonicCalibrator().fit(first, y).transform(first))
    assert chain.takes.forecasts == ("scores",) and chain.classes_.tolist() == ["no", "yes"]
