"""Laws given by quantiles."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtri

from calibrant.distributions import Normal, Quantiles, concatenate
from calibrant.distributions.integrals import quadrature

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


def test_quantiles_of_a_normal_law_give_it_back():
    truth = Normal([1.0, -3.0], [2.0, 0.1])
    law = Quantiles(LEVELS, truth.quantiles(LEVELS))
    y = np.array([4.0, -3.3])
    for name in ("cdf", "logpdf", "crps"):
        np.testing.assert_allclose(getattr(law, name)(y), getattr(truth, name)(y), rtol=1e-11)
    np.testing.assert_allclose(law.mean(), truth.mean(), rtol=1e-12)
    np.testing.assert_allclose(law.var(), truth.var(), rtol=1e-11)


def test_values_are_met_and_tails_keep_the_overall_slope(rng):
    values = np.sort(rng.gamma(2, 1, (4, 5)), axis=1)
    law = Quantiles(LEVELS, values)
    np.testing.assert_allclose(law.quantiles(LEVELS), values, rtol=1e-12)
    slope = (ndtri(0.95) - ndtri(0.05)) / (values[:, -1] - values[:, 0])
    np.testing.assert_allclose(law.to_normal(values[:, -1] + 3), ndtri(0.95) + 3 * slope, rtol=1e-11)
    np.testing.assert_allclose(law.to_normal(values[:, 0] - 1), ndtri(0.05) - slope, rtol=1e-11)


def test_closed_forms_agree_with_quadrature(rng):
    values = np.sort(rng.gamma(2, 1, (20, 5)), axis=1)
    values[0, 1:3] = values[0, 1]  # an atom
    law, y = Quantiles(LEVELS, values), rng.gamma(2, 3, 20) - 2
    np.testing.assert_allclose(law.mean(), quadrature.mean(law), rtol=1e-9)
    np.testing.assert_allclose(law.var(), quadrature.variance(law), rtol=1e-8)
    np.testing.assert_allclose(law.crps(y), quadrature.crps(law, y), rtol=1e-8)


def test_columns_may_come_in_any_order_and_crossing_rows_are_rearranged():
    law = Quantiles([0.9, 0.1, 0.5], [[3.0, 1.0, 2.0]])
    assert law.levels.tolist() == [0.1, 0.5, 0.9] and law.values.tolist() == [[1.0, 2.0, 3.0]]
    given_ = np.array([[1.0, 2.0, 3.0], [1.0, 5.0, 2.0], [3.0, 2.0, 1.0]])
    with pytest.warns(UserWarning, match="cross in 2 of 3 rows, first row 1; they are rearranged"):
        law = Quantiles([0.1, 0.5, 0.9], given_)
    assert law.values.tolist() == [[1, 2, 3], [1, 2, 5], [1, 2, 3]]
    assert given_.tolist()[2] == [3.0, 2.0, 1.0]


@given(values=arrays(float, (3, 5), elements=st.integers(0, 6).map(float)), q=st.floats(0.001, 0.999))
def test_generalised_inverse_also_with_ties(values, q):
    values = np.sort(values, axis=1)
    values[:, -1] += 1.0
    law = Quantiles(LEVELS, values)
    grid = np.sort(np.concatenate([values, values + 0.3], axis=1), axis=1)
    cdf = law.cdf(grid)
    clear = np.abs(cdf - q) > 1e-11
    assert np.array_equal((law.ppf(q)[:, None] <= grid)[clear], (q <= cdf)[clear])
    ties = np.isfinite(law.logpmf(values))
    assert ties.any() == law.has_atoms
    assert np.array_equal(law.ppf(law.cdf(values))[ties], values[ties])


def test_rows_and_index():
    frame = pd.DataFrame([[1.0, 2.0, 4.0], [0.0, 5.0, 6.0]], index=[7, 3])
    law = Quantiles([0.1, 0.5, 0.9], frame)
    assert list(law[1:].index) == [3] and list(law.to_frame([0.5]).index) == [7, 3]
    joined = concatenate([law[1:], law[:1]])
    assert type(joined) is Quantiles and joined.median().tolist() == [5.0, 2.0]
    other = concatenate([law, Quantiles([0.2, 0.8], [[1.0, 3.0]])])
    assert other.median().tolist() == pytest.approx([2.0, 5.0, 2.0])


@pytest.mark.parametrize(
    ("levels", "values", "message"),
    [
        ([0.1, 0.1], [[1, 2]], "at least two different"),
        ([0.1, 0.5, 0.1], [[1, 2, 3]], "`levels` must be distinct; 0.1 comes 2 times"),
        ([10, 90], [[1, 2]], r"`levels` must be strictly between 0 and 1; 2 of 2 .* Percent\? Divide by 100"),
        ([0.1, 0.9], [[1, 1], [1, 2]], r"equal in 1 of 2 rows, first row 0 \(all 1.0\).*ResidualCalibrator"),
        ([0.1, 0.9], [1, 2], r"`values` must be \(n, 2\), one column per level; got shape \(2,\)"),
        ([0.1, 0.9], [[1, np.nan]], r"`values` must be finite; 1 of 2 values is not, first values\[0, 1\] = nan"),
        ([[0.1, 0.9]], [[1, 2]], "`levels` must be 1-dimensional"),
    ],
)
def test_errors_say_what_is_wrong(levels, values, message):
    with pytest.raises(ValueError, match=message):
        Quantiles(levels, values)
