"""Laws given by the masses of cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from calibrant.distributions import Histogram, concatenate
from calibrant.distributions.integrals import quadrature

EDGES = np.array([0.0, 1.0, 3.0, 3.5, 7.0])
MASSES = np.array([[0.2, 0.0, 0.3, 0.5], [0.0, 0.4, 0.6, 0.0], [0.25, 0.25, 0.25, 0.25]])


def test_agrees_with_scipy(rng):
    law = Histogram(EDGES, MASSES)
    y = rng.uniform(-1, 8, (3, 50))
    for row in range(3):
        peer = stats.rv_histogram((MASSES[row], EDGES), density=False)
        np.testing.assert_allclose(law[row].cdf(y[row][None])[0], peer.cdf(y[row]), atol=1e-14)
        np.testing.assert_allclose(law[row].pdf(y[row][None])[0], peer.pdf(y[row]), atol=1e-13)
        np.testing.assert_allclose(law[row].mean(), peer.mean(), rtol=1e-12)
        np.testing.assert_allclose(law[row].var(), peer.var(), rtol=1e-12)


def test_uniform_law_by_hand():
    law = Histogram([0.0, 1.0], [[1.0]])
    assert law.crps([0.5])[0] == pytest.approx(1 / 12)  # twice the integral of t² up to a half
    assert law.crps([2.0])[0] == pytest.approx(1 / 3 + 1)
    assert law.var()[0] == pytest.approx(1 / 12)


def test_closed_forms_agree_with_quadrature(rng):
    law = Histogram(np.sort(rng.normal(0, 3, (6, 5)), axis=1), rng.dirichlet(np.ones(4), 6))
    y = rng.normal(0, 4, 6)
    np.testing.assert_allclose(law.mean(), quadrature.mean(law), rtol=1e-8)
    np.testing.assert_allclose(law.var(), quadrature.variance(law), rtol=1e-7)
    np.testing.assert_allclose(law.crps(y), quadrature.crps(law, y), rtol=1e-7)


def test_both_tails_keep_their_digits():
    law = Histogram([0.0, 1.0, 2.0, 3.0], [[1e-30, 1 - 2e-30, 1e-30]])
    np.testing.assert_allclose(law.cdf([0.5]), 5e-31, rtol=1e-12)
    np.testing.assert_allclose(law.sf([2.5]), 5e-31, rtol=1e-12)
    np.testing.assert_allclose(law.from_normal(law.to_normal(np.array([[0.25, 2.75]]))), [[0.25, 2.75]], rtol=1e-12)


def test_empty_cells_are_jumped_over():
    law = Histogram(EDGES, MASSES)
    assert law.ppf([0.2, 0.4, 0.25])[:2].tolist() == pytest.approx([1.0, 3.0])  # the smallest y that reaches the level
    assert law.ppf([0.2000001, 0.4, 0.25])[0] > 3.0
    assert law.logpdf([2.0, 0.5, 1.0])[0] == -np.inf
    low, high = law.support
    assert low.tolist() == [0, 1, 0] and high.tolist() == [7, 3.5, 7]
    assert law.ppf(0.0).tolist() == low.tolist() and law.ppf(1.0).tolist() == high.tolist()


@given(
    masses=arrays(float, (2, 4), elements=st.sampled_from([0.0, 1.0, 2.0, 5.0])),
    q=st.floats(1e-6, 1 - 1e-6) | st.sampled_from([0.25, 0.5, 0.75]),
)
def test_generalised_inverse(masses, q):
    masses[:, 2] += 1.0
    law = Histogram(EDGES, masses / masses.sum(axis=1, keepdims=True))
    y = law.ppf(q)
    np.testing.assert_allclose(law.cdf(y), q, rtol=1e-12, atol=1e-14)  # y itself is rounded
    grid = np.linspace(-0.5, 7.5, 65)[None, :]
    cdf = law.cdf(grid)
    clear = np.abs(cdf - q) > 1e-12
    assert np.array_equal((y[:, None] <= grid)[clear], (q <= cdf)[clear])
    assert np.all(y[:, None] <= grid + 1e-12, where=np.abs(cdf - q) <= 1e-14)


def test_edges_shared_or_by_row():
    shared, own = Histogram(EDGES, MASSES), Histogram(np.tile(EDGES, (3, 1)), MASSES)
    y = np.array([0.5, 2.0, 6.0])
    np.testing.assert_allclose(shared.crps(y), own.crps(y), rtol=1e-14)
    again = concatenate([shared[2], shared[:2]])
    assert again.edges.ndim == 1 and np.allclose(again.cdf(y[[2, 0, 1]]), shared.cdf(y)[[2, 0, 1]])
    moved = concatenate([shared, Histogram(EDGES + 1, MASSES)])
    assert type(moved) is Histogram and np.allclose(moved.median(), np.concatenate([own.median(), own.median() + 1]))
    assert np.allclose(own[[2, 0]].cdf(y[[2, 0]]), own.cdf(y)[[2, 0]])


def test_index_and_normalisation():
    frame = pd.DataFrame([[0.25, 0.7500001]], index=["x"])
    law = Histogram([0, 1, 2], frame)
    assert list(law.index) == ["x"] and law.masses.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("edges", "masses", "message"),
    [
        (
            [0, 1, 2],
            [[0.5, 0.5], [0.5, 0.4]],
            r"sum to 1 in every row; 1 of 2 rows do not, first row 1 sums to 0.9.*Counts\?",
        ),
        ([0, 1, 2], [[-0.5, 1.5]], r"`masses` must be non-negative; 1 of 2 values is not, first masses\[0, 0\] = -0.5"),
        ([0, 1, 1], [[0.5, 0.5]], r"`edges` must be increasing; 1 of 3 values is not, first edges\[2\] = 1.0"),
        ([0, 1], [[0.5, 0.5]], r"`edges` must be \(3,\) or \(1, 3\) for 2 cells; got shape \(2,\)"),
        ([-np.inf, 0, 1], [[0.5, 0.5]], "`edges` must be finite"),
        ([0, 1, 2], [0.5, 0.5], r"`masses` must be \(n, k\)"),
    ],
)
def test_errors_say_what_is_wrong(edges, masses, message):
    with pytest.raises(ValueError, match=message):
        Histogram(edges, masses)


def test_far_outcomes_of_narrow_cells_do_not_overflow():
    law = Histogram([0.0, 1e-300, 2e-300], [[0.5, 0.5]])
    y = np.array([[-1e300, 1e300]])
    assert law.cdf(y).tolist() == [[0.0, 1.0]] and law.logpdf(y).tolist() == [[-np.inf, -np.inf]]
    assert law.crps([1e300]) == pytest.approx(1e300)
