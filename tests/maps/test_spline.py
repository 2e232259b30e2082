from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from calibrant.maps import SplineMap

RNG = np.random.default_rng(2)
BOWL = SplineMap.through(np.array([0.0, 2.0]), np.array([1.0, 3.0]))  # T = z + z²/2 in between


def wild(size: int = 40) -> SplineMap:
    return SplineMap.through(np.sort(2 * RNG.standard_normal(size)), np.exp(RNG.standard_normal(size)), -0.3, size // 2)


def test_values_worked_out_by_hand() -> None:
    assert BOWL(np.array([-1.0, 0.0, 1.0, 2.0, 3.0])).tolist() == [-1.0, 0.0, 1.5, 4.0, 7.0]
    assert BOWL.inverse(np.array([-1.0, 1.5, 4.0, 7.0])).tolist() == [-1.0, 1.0, 2.0, 3.0]
    assert np.exp(BOWL.log_slope(np.array([-1.0, 1.0, 9.0]))) == pytest.approx([1.0, 2.0, 3.0])
    assert BOWL.bends.tolist() == [0.0, 2.0] and not BOWL.has_steps and BOWL.rows is None


def test_slope_is_the_derivative() -> None:
    curve = wild()
    for low, high in ((-9.0, -0.5), (-0.5, 0.7), (0.7, 12.0)):
        inside = curve.knots[(curve.knots > low) & (curve.knots < high)]
        area = quad(lambda z: np.exp(curve.log_slope(np.array([z])))[0], low, high, points=inside, limit=400)[0]
        rise = np.diff(curve(np.array([low, high])))[0]
        assert rise == pytest.approx(area, rel=1e-9)


def test_inverse_undoes_the_map_far_into_the_tails() -> None:
    curve = wild()
    z = np.concatenate([3 * RNG.standard_normal(5000), RNG.standard_cauchy(5000), curve.knots])
    assert np.allclose(curve.inverse(curve(z)), z, rtol=1e-13, atol=1e-13)
    t = 1e3 * RNG.standard_normal(1000)
    assert np.allclose(curve(curve.inverse(t)), t, rtol=1e-13)


def test_inverse_does_not_cancel_where_the_slope_hardly_changes() -> None:
    straight = SplineMap.through(np.array([0.0, 1.0]), np.array([1.0, 1.0 + 1e-12]))
    assert straight.inverse(np.array([0.5])) == pytest.approx(0.5 - 0.125e-12, rel=1e-15, abs=0)


def test_tails_have_the_slopes_they_are_given() -> None:
    curve = SplineMap(BOWL.knots, BOWL.slopes, BOWL.values, (0.5, 2.0))
    assert curve(np.array([-2.0, 4.0])).tolist() == [-1.0, 8.0]
    assert curve.inverse(np.array([-1.0, 8.0])).tolist() == [-2.0, 4.0]
    assert np.exp(curve.log_slope(np.array([-2.0, 4.0]))) == pytest.approx([0.5, 2.0])


def test_infinite_and_missing_scores() -> None:
    z = np.array([np.inf, -np.inf, np.nan, 1e308, -1e308])
    assert np.array_equal(BOWL(z)[:3], z[:3], equal_nan=True)
    assert np.array_equal(BOWL.inverse(z)[:3], z[:3], equal_nan=True)
    assert BOWL(z)[3] == np.inf and BOWL(z)[4] == -1e308
    assert np.isfinite(BOWL.log_slope(np.array([np.inf, -np.inf, 1e308]))).all()


def test_any_shape_stride_and_size() -> None:
    curve, z = wild(), RNG.standard_normal((300, 100))
    z.flags.writeable = False
    for part in (z, z[::3, ::-2], z[0, 0], z[:0]):
        whole = np.array([curve(np.array([x]))[0] for x in np.ravel(part)[:50]])
        assert curve(part).shape == np.shape(part)
        assert np.array_equal(np.ravel(curve(part))[:50], whole)
        assert curve.inverse(part).shape == curve.log_slope(part).shape == np.shape(part)


def test_one_knot_is_a_bent_line() -> None:
    curve = SplineMap(np.array([1.0]), np.array([2.0]), np.array([0.0]), (1.0, 2.0))
    assert curve(np.array([0.0, 2.0])).tolist() == [-1.0, 2.0]


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="`slopes` must be positive; 1 of 2 values is not, first slopes\\[1\\] = 0.0"):
        SplineMap(np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.zeros(2))
    with pytest.raises(ValueError, match="`knots` must be strictly increasing"):
        SplineMap(np.array([0.0, 0.0]), np.ones(2), np.zeros(2))
