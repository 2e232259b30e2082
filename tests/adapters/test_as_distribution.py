"""``as_distribution`` on everything but the frameworks: pairs, samples, tables, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from calibrant import QuantileCalibrator, ScaleCalibrator, metrics
from calibrant.adapters import as_distribution
from calibrant.adapters.names import level_of
from calibrant.distributions import Ensemble, Normal, Quantiles

WAYS = r"Say which: Normal\(mean, std\), Intervals\(low, high, coverage\) or Ensemble\(samples\)"


def test_a_distribution_is_itself():
    law = Normal([0.0], 1.0)
    assert as_distribution(law) is law


@pytest.mark.parametrize("pair", [([0.0, 1.0], 2.0), (np.array([0.0, 1.0]), [2.0, 2.0]), (np.zeros((2, 1)), [2, 2])])
def test_pairs_are_normal_laws(pair):
    law = as_distribution(pair)
    assert type(law) is Normal and len(law) == 2 and law.scale.tolist() == [2.0, 2.0]


def test_arrays_are_samples(rng):
    x, y = rng.standard_normal((4, 6)), rng.standard_normal(4)
    for given in (x, x.tolist(), pd.DataFrame(x), np.asfortranarray(x)):
        law = as_distribution(given)
        assert type(law) is Ensemble and law.kind == "smooth"
        np.testing.assert_allclose(law.crps(y), Ensemble(x).crps(y))
    assert as_distribution(x, kind="discrete").is_discrete
    assert as_distribution(np.ones((2, 3)), kind="discrete").median().tolist() == [1.0, 1.0]


VALUES = {"0.1": [1.0, 2.0], "0.5": [2.0, 4.0], "0.9": [4.0, 5.0]}


@pytest.mark.parametrize(
    "names",
    [("0.1", "0.5", "0.9"), (0.1, 0.5, 0.9), ("q0.1", "q0.5", "q0.9"), ("q10", "median", "q90"), ("P10", "p50", "p90"),
     ("10%", "50%", "90%"), ("quantile_0.1", "quantile_0.5", "quantile_0.9"), (("y", 0.1), ("y", 0.5), ("y", 0.9))],
)  # fmt: skip
def test_quantile_columns_of_many_names(names):
    table = dict(zip(names, VALUES.values(), strict=True))
    frame = pd.DataFrame(
        np.column_stack(list(VALUES.values())), columns=pd.Index(names, tupleize_cols=False), index=["a", "b"]
    )
    for given in (table, frame):
        law = as_distribution(given)
        assert type(law) is Quantiles
        np.testing.assert_allclose(law.levels, [0.1, 0.5, 0.9])
        np.testing.assert_allclose(law.quantiles([0.1, 0.5, 0.9]), [[1, 2, 4], [2, 4, 5]])
    assert list(as_distribution(frame).to_frame().index) == ["a", "b"]


def test_tables_of_other_libraries():
    for table in (pl.DataFrame(VALUES), pa.table(VALUES)):
        np.testing.assert_allclose(as_distribution(table).quantiles([0.5])[:, 0], [2.0, 4.0])
    series = {0.9: pd.Series([4.0, 5.0], index=[3, 1]), 0.1: pd.Series([1.0, 2.0], index=[3, 1])}
    assert list(as_distribution(series).index) == [3, 1]
    nested = pd.DataFrame([[1.0, 3.0]], columns=pd.MultiIndex.from_tuples([("y", 0.1), ("y", 0.9)]))
    assert as_distribution(nested).median()[0] == pytest.approx(2.0)


@pytest.mark.parametrize("names", [("mean", "std"), ("mu", "sigma"), ("loc", "scale"), ("Mean", "SD")])
def test_columns_of_means_and_deviations(names):
    table = dict(zip(names, ([1.0, 2.0], [0.5, 0.6]), strict=True))
    frame = pd.DataFrame(table, index=[9, 8])
    for given in (table, frame, frame[[names[1], names[0]]], pl.DataFrame(table), pa.table(table)):
        law = as_distribution(given)
        assert type(law) is Normal and law.loc.tolist() == [1.0, 2.0] and law.scale.tolist() == [0.5, 0.6]
    assert list(as_distribution(frame).index) == [9, 8]


@pytest.mark.parametrize(
    ("name", "level"), [("q05", 0.05), ("q5", 0.05), ("q2.5", 0.025), ("97.5%", 0.975), (".25", 0.25)]
)
def test_levels(name, level):
    assert level_of(name) == pytest.approx(level)


@pytest.mark.parametrize("name", ["day", "10", "q", "q100", "1.5", 0, 1, 3, 1.0, True, None, "x0.1", "q0"])
def test_names_that_are_no_levels(name):
    assert level_of(name) is None


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (np.zeros(3), ValueError, "1-D array of 3 numbers has no spread.*ResidualCalibrator, or give \\(mean, std\\)"),
        ([1.0, 2.0], ValueError, "1-D array of 2 numbers"),
        (pd.Series([1.0, 2.0]), ValueError, "1-D array of 2 numbers"),
        (
            np.zeros((2, 3, 4)),
            TypeError,
            "ndarray of shape \\(2, 3, 4\\).*Accepted: a Distribution, a tuple \\(mean, std\\)",
        ),
        (None, TypeError, "cannot read NoneType as a distribution"),
        ("normal", TypeError, "cannot read str"),
        ((1, 2, 3), TypeError, "a tuple must be \\(mean, std\\); got 3 entries"),
        ({}, ValueError, "it is empty"),
        ({0.1: [1.0], 0.9: [1.0, 2.0]}, ValueError, "quantile columns must have one length; got 1, 2"),
        ({0.1: [1.0]}, ValueError, "at least two different"),
        (pd.DataFrame({"q10": [1.0], "day": [2.0]}), TypeError, "1 of 2 are neither: 'day'. Select the columns"),
        (stats.norm, TypeError, "scipy.stats.norm is a family; freeze it"),
        (([0.0, 1.0], [1.0, 0.0]), ValueError, "`scale` must be positive; 1 of 2"),
        (([0.0, 1.0], [-1.0, 2.0]), ValueError, r"first scale\[0\] = -1.0. A tuple is \(mean, std\). " + WAYS),
        (([0.0], [1.0], [2.0]), TypeError, r"a tuple must be \(mean, std\); got 3 entries. " + WAYS),
    ],
)
def test_what_is_refused_and_why(given, error, message):
    with pytest.raises(error, match=message):
        as_distribution(given)


PAIR = np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5, 0.7])


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (np.column_stack(PAIR), r"ndarray of shape \(3, 2\)"),
        (np.column_stack(PAIR).tolist(), r"list of shape \(3, 2\)"),
        (np.column_stack(PAIR)[:1], r"ndarray of shape \(1, 2\)"),
        (pd.DataFrame(np.column_stack(PAIR)), r"DataFrame of shape \(3, 2\)"),
        (list(PAIR), r"a list of two arrays \(3,\)"),
        ([pd.Series(PAIR[0]), pd.Series(PAIR[1])], r"a list of two arrays \(3,\)"),
    ],
)
def test_two_columns_are_not_guessed(given, what):
    with pytest.raises(ValueError, match=rf"{what} could be means .*, lower and upper ends, or samples. {WAYS}"):
        as_distribution(given)
    with pytest.raises(ValueError, match="could be means"):
        QuantileCalibrator().fit(given, np.zeros(3))
    assert type(as_distribution(given, kind="smooth")) is Ensemble  # told


def test_stacked_means_and_deviations_are_found_out_beside_outcomes():
    for call in (lambda: metrics.crps(PAIR[0], np.stack(PAIR)), lambda: ScaleCalibrator().fit(np.stack(PAIR), PAIR[0])):
        with pytest.raises(ValueError, match=r"got 3 for 2 forecasts. Means and .*Give them as a tuple \(mean, std\)"):
            call()


def test_kind_is_for_samples_only():
    for given in ((0.0, 1.0), Normal([0.0], 1.0), Ensemble([[1.0, 2.0]])):
        with pytest.raises(ValueError, match="`kind` is for samples only; got kind='discrete'"):
            as_distribution(given, kind="discrete")
    with pytest.raises(ValueError, match="`kind` must be one of"):
        as_distribution([[1.0, 2.0]], kind="raw")


def test_two_columns_whose_names_say_samples_are_samples():
    frame = pd.DataFrame({"sample_0": [1.0, 2.0], "sample_1": [3.0, 5.0]})
    assert isinstance(as_distribution(frame), Ensemble)
    with pytest.raises(ValueError, match="could be means"):
        as_distribution(frame.set_axis([0, 1], axis=1))
