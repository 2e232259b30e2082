import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from calibrant.forecasters import panel
from calibrant.forecasters.panels import (
    described,
    from_units,
    inputs_of,
    read_covariates,
    read_series,
    sizes,
    to_units,
    windows,
)
from calibrant.forecasters.scaling import scaling_of_known

NAN = np.nan


def test_long_tables_become_series_side_by_side_whatever_their_order(rng):
    days = pd.date_range("2024-01-01", periods=5)
    table = pd.DataFrame(
        [(store, day, 10.0 * s + d, d % 2) for s, store in enumerate("abc") for d, day in enumerate(days)],
        columns=["store", "day", "sales", "promo"],
    )
    mixed = table.sample(frac=1, random_state=0).iloc[:-1]
    made = panel(mixed["store"], mixed["day"], mixed["sales"], mixed[["promo"]])
    gone = table.drop(mixed.index).iloc[0]
    expected = 10.0 * np.arange(3)[:, None] + np.arange(5)
    expected["abc".index(gone["store"]), list(days).index(gone["day"])] = NAN
    assert_array_equal(made.values, expected)
    assert made.covariates.shape == (3, 5, 1) and list(made.series) == ["a", "b", "c"]
    assert_array_equal(made.time, days.to_numpy())
    assert_array_equal(np.isnan(made.covariates[..., 0]), np.isnan(expected))


def test_a_date_twice_in_a_series_is_refused():
    with pytest.raises(ValueError, match="2 is there twice in b"):
        panel(["a", "b", "b"], [1, 2, 2], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="must be as long; got 2, 3 and 3"):
        panel(["a", "b"], [1, 2, 2], [1.0, 2.0, 3.0])


def test_inputs_are_the_values_before_a_step_and_what_is_known_of_it():
    values = np.array([[1.0, NAN, 3.0]])
    known = np.array([[[7.0], [8.0], [NAN], [9.0]]])
    made = inputs_of(values, known, 2)
    expected = [[0, 0, 0, 0, 7], [1, 0, 1, 0, 8], [0, 1, 0, 1, 0], [3, 0, 1, 0, 9]]
    assert_array_equal(made[0], np.array(expected, np.float32))
    assert made.dtype == np.float32


@pytest.mark.parametrize(("length", "first", "last"), [(6, 0, 20), (6, 13, 20), (1, 3, 9), (50, 0, 20), (7, 19, 20)])
def test_later_halves_of_windows_hold_each_value_once(length, first, last):
    values = np.array([np.arange(20.0), 100 + np.arange(20.0)])
    values[1, 15] = NAN
    made = windows(values[..., None].astype(np.float32), values, length, first, last)
    targets = made.targets[made.weights > 0]
    expected = values[:, first:last]
    assert_array_equal(np.sort(targets), np.sort(expected[np.isfinite(expected)]))
    assert made.weights[:, : length - max(1, length // 2)].sum() == 0
    assert_array_equal(made.inputs[..., 0][made.weights > 0], targets)


def test_no_steps_make_no_windows():
    made = windows(np.ones((2, 5, 3), np.float32), np.ones((2, 5)), 4, 5, 5)
    assert made.inputs.shape == (0, 4, 3) and made.targets.shape == made.weights.shape == (0, 4)


def test_windows_before_the_beginning_are_empty():
    values = np.array([[5.0, 6.0, 7.0]])
    made = windows(values[..., None].astype(np.float32), values, 4, 0, 3)
    assert_array_equal(made.inputs[..., 0], [[0, 0, 0, 5], [0, 5, 6, 7]])
    assert_array_equal(made.weights, [[0, 0, 0, 1], [0, 0, 1, 1]])


@pytest.mark.parametrize("units", ["mean", "log1p", "none"])
def test_units_go_there_and_back(units):
    values = np.array([[0.0, 4.0, NAN], [10.0, 20.0, 30.0]])
    size = sizes(values)
    assert_allclose(size, [2.0, 20.0])
    there = to_units(values, units, size)
    assert_allclose(there[1, 1], {"mean": 1.0, "log1p": np.log(21.0), "none": 20.0}[units])
    assert_allclose(from_units(there, units, size[:, None]), values)


def test_what_is_missing_has_size_1_and_takes_no_part_in_scales():
    assert_array_equal(sizes(np.array([[NAN, NAN], [0.0, 0.0]])), [1.0, 1.0])
    values = np.array([[[1.0, NAN], [3.0, NAN], [NAN, NAN]]])
    scaling = scaling_of_known(values, np.ones(1))
    assert_allclose([scaling.mean, scaling.scale], [[2.0, 0.0], [1.0, 1.0]])
    heavy = scaling_of_known(np.array([[[1.0]], [[4.0]]]), np.array([2.0, 1.0]))
    assert_allclose([heavy.mean, heavy.scale], [[2.0], [np.sqrt(2.0)]])
    assert_allclose(described(np.ones((1, 2, 1)), np.array([np.e]))[0], [[1.0, 1.0], [1.0, 1.0]])


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"`series` must be \(n_series, T\).*got shape \(2, 2, 2\)"):
        read_series(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match=r"`series` must be finite.*series\[0, 1\] = inf"):
        read_series([[1.0, np.inf]])
    with pytest.raises(ValueError, match=r"`covariates` must be \(2, 5, k\) or \(5, k\).*got shape \(4, 1\)"):
        read_covariates(np.zeros((4, 1)), 2, 5)
    with pytest.raises(ValueError, match=r"at least 0 for units='log1p'; 1 of 2 values is not"):
        to_units(np.array([[1.0, -1.0]]), "log1p", np.ones(1))
    with pytest.raises(ValueError, match="`units` must be one of 'mean', 'log1p', 'none'"):
        to_units(np.array([[1.0]]), "sqrt", np.ones(1))
