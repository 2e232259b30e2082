"""Laws given by central intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibrant import Intervals, QuantileCalibrator, Quantiles, ScaleCalibrator, as_distribution, concatenate, metrics
from calibrant.distributions.tables.intervals import BLOCK, ends


def test_one_interval_is_the_normal_law_with_these_ends(rng):
    mean, std = rng.normal(size=7), np.exp(rng.normal(size=7))
    low, high = stats.norm.interval(0.8, mean, std)
    law = Intervals(low, high, 0.8)
    assert type(law) is Quantiles and len(law) == 7
    y = mean + 3 * std * rng.normal(size=7)
    np.testing.assert_allclose(law.logpdf(y), stats.norm.logpdf(y, mean, std), rtol=1e-10)
    np.testing.assert_allclose(law.mean(), mean, atol=1e-12)
    np.testing.assert_allclose(law.std(), std, rtol=1e-12)
    np.testing.assert_array_equal(law.interval(0.8), np.column_stack([low, high]))


def test_several_intervals_and_a_median():
    low, high = [[1.0, 0.0], [11.0, 8.0]], [[3.0, 6.0], [13.0, 20.0]]
    law = Intervals(low, high, [0.5, 0.9], median=[1.5, 12.0])
    expected = Quantiles([0.05, 0.25, 0.5, 0.75, 0.95], [[0.0, 1.0, 1.5, 3.0, 6.0], [8.0, 11.0, 12.0, 13.0, 20.0]])
    np.testing.assert_allclose(law.levels, expected.levels, rtol=1e-15)
    np.testing.assert_array_equal(law.values, expected.values)
    assert law.median().tolist() == [1.5, 12.0]


def test_too_narrow_intervals_are_widened(rng):
    mean, y = rng.normal(size=4000), 2 * rng.normal(size=4000)
    law = Intervals(mean - 1.6449, mean + 1.6449, 0.9)  # sd 1
    factor = ScaleCalibrator().fit(law, mean + y).transform(law).std().mean()
    assert factor == pytest.approx(2.0, rel=0.03)
    held = QuantileCalibrator().fit(law, mean + y).transform(law).interval(0.9)
    assert np.mean((held[:, 0] <= mean + y) & (mean + y <= held[:, 1])) == pytest.approx(0.9, abs=0.01)


def test_the_index_is_kept_and_laws_join():
    low, high = pd.Series([0.0, 1.0], index=["a", "b"]), pd.Series([2.0, 3.0], index=["a", "b"])
    law = Intervals(low, high, 0.9)
    assert list(law.index) == ["a", "b"] and as_distribution(law) is law
    assert type(concatenate([law, Quantiles([0.05, 0.95], [[0.0, 1.0]])])).__name__ in ("Quantiles", "Joined")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([2.0, 0.0], [1.0, 1.0], 0.9), r"`low` must be at most `high`; 1 of 2 values is not, .* in the wrong order\?"),
        (([0.0], [1.0], 90), r"`coverage` must be strictly between 0 and 1.*Percent\? Divide by 100"),
        (([0.0], [1.0], [0.5, 0.9]), "`coverage` must be one number for each of 1 intervals a row; got 2"),
        (([[0.0, 1.0]], [[3.0, 2.0]], 0.9), "`coverage` must be one number for each of 2 intervals a row; got 1"),
        (([0.0, 1.0], [[1.0, 2.0]], 0.9), r"must have one shape; got \(2, 1\) and \(1, 2\)"),
        (([0.0, np.nan], [1.0, 2.0], 0.9), r"`low` must be finite; 1 of 2 values is not"),
        ((0.0, 1.0, 0.9), r"`low` must be \(n,\), or \(n, k\)"),
        (([1.0], [1.0], 0.9), "must differ within a row"),
        (([0.0], [1.0], 0.9, [0.2, 0.3]), "`median` must have one entry per forecast; got 2 for 1"),
    ],
)
def test_what_is_refused_and_why(arguments, message):
    with pytest.raises(ValueError, match=message):
        Intervals(*arguments)


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray])
@pytest.mark.parametrize(("rows", "k"), [(5, 2), (BLOCK, 3), (2, BLOCK)])
def test_ends_are_looked_at_in_every_row(rows, k, layout):
    low, high = np.zeros((rows, k)), np.ones((rows, k))
    assert [table.shape for table in ends(layout(low), layout(high))] == [(rows, k)] * 2
    assert ends(layout(low - 1.5e308), layout(high * 1.5e308))[0][0, 0] == -1.5e308  # vast, but in order
    for at in ((0, k - 1), (rows - 1, 0)):
        for name, table, value in (
            ("low", low, 2.0),
            ("low", low, np.nan),
            ("high", high, np.inf),
            ("low", low, -np.inf),
        ):
            spoiled = table.copy()
            spoiled[at] = value
            given = (spoiled, high) if name == "low" else (low, spoiled)
            rule = "at most `high`" if value == 2.0 else "finite"
            with pytest.raises(
                ValueError, match=rf"`{name}` must be {rule}; 1 of {rows * k} .* {name}\[{at[0]}, {at[1]}\]"
            ):
                ends(*map(layout, given))


def test_one_interval_a_row_is_asked_for():
    with pytest.raises(ValueError, match="`coverage` must be one number for each of 2 intervals a row; got 1"):
        metrics.interval_score([0.5], low=[[0.0, 0.2]], high=[[1.0, 0.8]], coverage=0.9)
