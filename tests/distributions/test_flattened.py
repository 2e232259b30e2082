"""Laws made uniform within cells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from calibrant import Gamma, Normal, StudentT
from calibrant.distributions.flattened import Flattened

EDGES = np.array([-1.0, 0.0, 2.0])


def test_straight_within_cells_and_the_base_beyond():
    law = Flattened.of(Normal([0.3, -1.0], [1.0, 2.0]), EDGES)
    base = norm([0.3, -1.0], [1.0, 2.0])
    middle = 0.5 * (base.cdf(0.0) + base.cdf(2.0))
    assert law.cdf([1.0, 1.0]) == pytest.approx(middle)
    assert law.pdf([1.5, 0.5]) == pytest.approx((base.cdf(2.0) - base.cdf(0.0)) / 2)
    for y in (-4.0, -1.0, 0.0, 2.0, 7.0):
        assert law.cdf([y, y]) == pytest.approx(base.cdf(y))
    assert law.pdf([5.0, -3.0]) == pytest.approx([base.pdf(5.0)[0], base.pdf(-3.0)[1]])


def test_quantiles_invert():
    law = Flattened.of(Normal([0.3, -1.0], [1.0, 2.0]), EDGES)
    levels = np.array([[1e-9, 0.01, 0.2, 0.5, 0.7, 0.99, 1 - 1e-9]])
    assert np.allclose(law.cdf(law.ppf(levels)), levels, atol=1e-12)
    assert np.all(np.diff(law.ppf(levels)) > 0)


def test_far_from_the_cells_nothing_saturates():
    law = Flattened.of(Normal([60.0, -60.0], 1.0), EDGES)
    assert np.isfinite(law.to_normal(np.array([[-0.5, 1.0, 3.0]]))).all()
    assert np.isfinite(law.logpdf(np.array([[-0.5, 1.0, 3.0]]))).all()
    assert np.all(np.diff(law.to_normal(np.array([[-3.0, -1.0, -0.5, 0.0, 1.0, 3.0]]))) > 0)


def test_moments_by_hand():
    edges = np.array([-40.0, 40.0])
    law = Flattened.of(Normal([0.0], 1.0), edges)
    assert law.var() == pytest.approx([80**2 / 12])
    assert law.mean() == pytest.approx([0.0], abs=1e-9)


def test_what_it_says_about_itself():
    assert Flattened.of(StudentT([0.0], 1.0, 3.0), EDGES).tail_index == pytest.approx([3.0])
    low, high = Flattened.of(Gamma([2.0], 1.0), EDGES + 0.5).support
    assert low == pytest.approx([-0.5]) and np.isinf(high).all()
    law = Flattened.of(Normal([0.0, 1.0, 2.0], 1.0), EDGES)
    assert len(law[1:]) == 2 and law[1:].cdf([0.7, 0.7]) == pytest.approx(law.cdf(np.full(3, 0.7))[1:])
