"""Masked arrays: what is masked is missing, whatever number lies below the mask."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from calibrant import (
    CalibratedRegressor,
    Ensemble,
    GroupedCalibrator,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    Quantiles,
    ScaleCalibrator,
    as_distribution,
    compare,
    metrics,
)
from calibrant._checks import plain_array, to_array


def masked(values, *rows):
    """The values with these rows masked."""
    out = np.ma.array(values)
    out[list(rows)] = np.ma.masked
    return out


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (masked([1.0, 1e6], 1), [1.0, np.nan]),
        (masked([1, 10**6], 1), [1.0, np.nan]),
        (masked([True, True], 1), [1.0, np.nan]),
        (masked(np.array([1.5, 2.0], dtype=np.float32), 1), [1.5, np.nan]),
        (masked(np.array([1.5, 2.0], dtype=object), 1), [1.5, np.nan]),
        ([masked([1.0, 1e6], 1), np.array([3.0, 4.0])], [[1.0, np.nan], [3.0, 4.0]]),
        (np.ma.masked, np.nan),
        (np.ma.array([1.0, 2.0]), [1.0, 2.0]),
    ],
)
def test_masked_numbers_are_missing(values, expected):
    array = to_array(values, "y")
    assert type(array) is np.ndarray and array.dtype == np.float64
    assert_array_equal(array, expected)


def test_labels_and_dates_below_a_mask_are_missing():
    assert plain_array(masked(["a", "b"], 0)).tolist() == [None, "b"]
    assert np.isnat(plain_array(masked(np.array(["2024-01-01", "2024-01-02"], "M8[D]"), 1))).tolist() == [False, True]
    assert plain_array(np.ma.array(["a", "b"])).dtype.kind == "U"


def test_the_masked_array_stays_as_it_was():
    y = masked([1.0, 1e6], 1)
    to_array(y, "y")[...] = 0.0
    assert y.data.tolist() == [1.0, 1e6] and y.mask.tolist() == [False, True]
    unmasked = np.ma.array([1.0, 2.0])
    assert np.shares_memory(to_array(unmasked, "y"), unmasked.data)  # no copy where none is needed


def test_a_masked_outlier_is_not_learned_from(rng):
    law, y = Normal(np.zeros(200), 1.0), rng.normal(size=200)
    expected = QuantileCalibrator("spline").fit(law[1:], y[1:]).transform(law).median()
    with pytest.warns(UserWarning, match=r"1 of 200 rows have no outcome \(NaN\) and are left out"):
        fitted = QuantileCalibrator("spline").fit(law, masked(np.r_[1e6, y[1:]], 0))
    assert_array_equal(fitted.transform(law).median(), expected)
    with pytest.raises(ValueError, match=r"`y_true` must be finite; 1 of 200 values is not, first y_true\[0\] = nan"):
        metrics.crps(masked(y, 0), law)
    with pytest.raises(ValueError, match=r"`y` must be finite; 1 of 200 values is not, first y\[0\] = nan"):
        CalibratedRegressor(cv=2).fit(y[:, None], masked(y, 0))


def test_masked_forecasts_and_weights_are_missing(rng):
    law, y = Normal(np.zeros(50), 1.0), rng.normal(size=50)
    with pytest.raises(ValueError, match=r"`loc` must be finite; 1 of 2 values is not, first loc\[1\] = nan"):
        Normal(masked([0.0, 1.0], 1), 1.0)
    with pytest.raises(ValueError, match=r"`samples` must be finite; 1 of 3 values is not"):
        as_distribution(np.ma.array([[0.0, 1.0, 2.0]], mask=[[False, True, False]]))
    with pytest.raises(ValueError, match=r"`values` must be finite; 1 of 2 values is not"):
        as_distribution({0.1: [0.0], 0.9: masked([1.0], 0)})
    with pytest.raises(ValueError, match=r"`sample_weight` must be finite; 1 of 50 values is not"):
        ScaleCalibrator().fit(law, y, sample_weight=masked(np.ones(50), 3))
    assert np.isnan(law[:2].cdf(masked([0.0, 0.0], 1))).tolist() == [False, True]
    with pytest.raises(ValueError, match="`levels` must be strictly between 0 and 1"):
        Quantiles(masked([0.1, 0.9], 1), [[1.0, 2.0]])


def test_a_masked_member_of_weight_0_is_no_member():
    members = np.ma.array([[0.0, 1e6, 2.0]], mask=[[False, True, False]])
    law = Ensemble(members, weights=[[1.0, 0.0, 1.0]])
    assert law.median()[0] == pytest.approx(Ensemble([[0.0, 2.0]]).median()[0])


@pytest.mark.parametrize("labels", [["spam", "ham"], [0, 1], [0.0, 1.0], [False, True]])
def test_masked_labels_and_class_scores_are_missing(rng, labels):
    p, y = rng.uniform(0.1, 0.9, 60), np.array(labels)[rng.integers(0, 2, 60)]
    classes = sorted(labels)
    expected = PlattCalibrator().fit(p[1:], y[1:], classes=classes).transform(p)
    with pytest.warns(UserWarning, match="1 of 60 rows have no label and are left out"):
        fitted = PlattCalibrator().fit(p, masked(y, 0), classes=classes)
    assert_array_equal(fitted.transform(p), expected)
    with pytest.raises(ValueError, match=r"`scores` must be finite; 1 of 60 values is not"):
        PlattCalibrator().fit(masked(p, 0), y)
    for measure in (metrics.log_loss, metrics.ece):
        with pytest.raises(ValueError, match=r"`y_true` must be labels; 1 of 60 values is not"):
            measure(masked(y, 0), p)
        with pytest.raises(ValueError, match=r"`y_proba` must be finite; 1 of 60 values is not"):
            measure(y, masked(p, 0))


@pytest.mark.parametrize("groups", [np.repeat(["a", "b"], 30), np.repeat([1, 2], 30)])
def test_masked_groups_are_missing(rng, groups):
    law, y = Normal(np.zeros(60), 1.0), rng.normal(size=60)
    with pytest.raises(ValueError, match="`groups` must not be missing; 1 of 60 labels are"):
        GroupedCalibrator(QuantileCalibrator()).fit(law, y, groups=masked(groups, 4))
    model = CalibratedRegressor(calibrator=GroupedCalibrator(QuantileCalibrator()), cv=2)
    with pytest.raises(ValueError, match="`groups` must not be missing; 1 of 60 labels are"):
        model.fit(y[:, None], y, groups=masked(groups, 4))
    with pytest.raises(ValueError, match=r"`groups` must be labels; 1 of 60 values is not, first groups\[4\]"):
        metrics.distribution_calibration_error(y, law, groups=masked(groups, 4))


def test_masked_times_are_missing(rng):
    law, y = Normal(np.zeros(60), 1.0), rng.normal(size=60)
    with pytest.raises(ValueError, match="`time` must be present; 1 of 60 values is not"):
        compare(law, y, time=masked(np.arange(60), 7))
