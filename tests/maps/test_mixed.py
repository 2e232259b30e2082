"""Mixtures of laws of scores as one map, and one map after another."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from calibrant.maps import AffineMap, ComposedMap, MixedMap, SplineMap

BOWL = SplineMap.through(np.array([-1.0, 1.0]), np.array([0.5, 2.0]))
MIXED = MixedMap(np.array([0.3, 0.2]), np.array([-2.0, 5.0]), np.array([0.5, 2.0]), (BOWL,), np.array([0.5]))


def below(z):
    return 0.3 * norm.cdf(z, -2, 0.5) + 0.2 * norm.cdf(z, 5, 2) + 0.5 * norm.cdf(BOWL(z))


def test_scores_and_slopes_are_those_of_the_mixture():
    z = np.linspace(-4, 8, 25)
    np.testing.assert_allclose(norm.cdf(MIXED(z)), below(z))
    density = 0.3 * norm.pdf(z, -2, 0.5) + 0.2 * norm.pdf(z, 5, 2) + 0.5 * norm.pdf(BOWL(z)) * np.exp(BOWL.log_slope(z))
    np.testing.assert_allclose(norm.pdf(MIXED(z)) * np.exp(MIXED.log_slope(z)), density)
    np.testing.assert_allclose(MIXED.inverse(np.repeat(MIXED(z), 9)), np.repeat(z, 9), rtol=1e-9, atol=1e-9)


def test_far_out_the_widest_law_is_what_is_left():
    z = np.array([-400.0, 400.0])
    far = MIXED(z)
    assert far[1] == pytest.approx((400 - 5) / 2, rel=0.01) and far[0] == pytest.approx(BOWL(z[:1])[0], rel=0.01)
    np.testing.assert_allclose(MIXED.inverse(far), z)
    assert np.exp(MIXED.log_slope(z)) == pytest.approx([0.5, 0.5], rel=0.01)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (([0.5], [0.0], [1.0]), r"`shares` must be weights that add up to 1; the sum is 0.5"),
        (([1.0], [0.0], [0.0]), r"`scales` must be positive"),
        (([1.0], [0.0, 1.0], [1.0]), r"`shares` must have one entry for each law"),
    ],
)
def test_what_is_no_mixture_is_refused(parts, told):
    with pytest.raises(ValueError, match=told):
        MixedMap(*(np.array(part) for part in parts))


def test_one_map_after_another():
    z = np.linspace(-3, 3, 7)
    both = ComposedMap(BOWL, AffineMap(0.5, 2.0))
    np.testing.assert_allclose(both(z), 0.5 + 2 * BOWL(z))
    np.testing.assert_allclose(both.log_slope(z), np.log(2) + BOWL.log_slope(z))
    np.testing.assert_allclose(both.inverse(both(z)), z, atol=1e-12)
    assert both.bends.tolist() == [-1.0, 1.0] and both.rows is None and not both.has_steps
    rows = ComposedMap(AffineMap(np.array([0.0, 1.0]), 1.0), AffineMap(slope=3.0))
    assert rows.rows == 2 and rows[1:](np.array([0.0])).tolist() == [3.0]
