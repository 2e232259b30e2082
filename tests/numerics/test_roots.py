"""The guarded Newton method beside inverses in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from calibrant.numerics.roots import search_increasing, solve_increasing


def counted(function):
    sizes = []

    def height_and_slope(z, where):
        sizes.append(z.size)
        return function(z)

    return height_and_slope, sizes


def test_where_plain_newton_diverges():
    target = np.linspace(0.001, 0.999, 200).reshape(20, 10)
    found = solve_increasing(lambda z, where: (expit(z), expit(z) * expit(-z)), target, np.full(10, 30.0))
    np.testing.assert_allclose(found, logit(target), rtol=1e-12, atol=1e-12)


def test_far_and_near():
    target = np.array([-1e300, -10.0, 0.0, 1e-300, 1e200])
    with np.errstate(over="ignore"):
        found = solve_increasing(lambda z, where: (z + z**3, 1 + 3 * z**2), target, np.ones(5))
    np.testing.assert_allclose(found + found**3, target, rtol=1e-12, atol=1e-15)


def test_no_slope_at_the_start():
    found = solve_increasing(lambda z, where: (np.tanh(z), 1 - np.tanh(z) ** 2), np.array([0.5, -0.5]), np.full(2, 1e9))
    np.testing.assert_allclose(found, np.arctanh([0.5, -0.5]), rtol=1e-12)


def test_infinite_and_missing_targets_are_their_own_answers():
    target = np.array([-np.inf, 1.0, np.nan, np.inf])
    found = solve_increasing(lambda z, where: (2 * z, np.full(z.shape, 2.0)), target, np.zeros(4))
    np.testing.assert_array_equal(found, [-np.inf, 0.5, np.nan, np.inf])


def test_newton_steps_that_go_round_in_circles():
    found = solve_increasing(lambda z, where: (z + np.tanh(1e6 * z), 1 + 0 * z), np.zeros(2), np.array([1.0, -3.0]))
    np.testing.assert_allclose(found, 0.0, atol=1e-6)


def test_problems_that_are_done_are_set_aside(rng):
    steep = np.concatenate([np.ones(90), np.full(10, 1e6)])
    seen = []

    def height_and_slope(z, where):
        seen.append(z.size)
        a = steep[where]
        return z + np.tanh(a * z), 1 + a * (1 - np.tanh(a * z) ** 2)

    start = rng.normal(size=100)
    found = solve_increasing(height_and_slope, np.zeros(100), start)
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
    assert seen[0] == 100 and seen[-1] <= 50


def test_bounds_are_answers_where_the_height_is_out_of_reach():
    found = solve_increasing(
        lambda z, where: (z, np.ones(1)), np.array([5.0]), np.zeros(1), bounds=(-1.0, 2.0), close=1e-7
    )
    assert found[0] == pytest.approx(2.0, abs=1e-6)


def test_long_steps_are_cut_and_the_last_step_is_the_one_that_is_close():
    height_and_slope, sizes = counted(lambda z: (np.exp(z), np.exp(z)))
    found = solve_increasing(height_and_slope, np.array([1.0]), np.array([-40.0]), longest=5.0, close=1e-9)
    assert found[0] == pytest.approx(0.0, abs=1e-15)
    assert len(sizes) < 25
    height_and_slope, sizes = counted(lambda z: (np.exp(z), np.exp(z)))
    assert solve_increasing(height_and_slope, np.array([1.0]), np.array([1e-6]), met=1e-5)[0] == pytest.approx(
        0, abs=1e-12
    )
    assert len(sizes) == 1


def test_two_points_with_their_slopes_lead_there_in_one_step_less_than_newton():
    height_and_slope, sizes = counted(lambda z: (np.sinh(z), np.cosh(z)))
    found = solve_increasing(height_and_slope, np.sinh(np.linspace(-1, 1, 9)), np.full(9, 0.1), met=1e-6)
    np.testing.assert_allclose(found, np.linspace(-1, 1, 9), atol=1e-12)
    newton, steps = np.full(9, 0.1), 0
    while np.abs(np.sinh(newton) - np.sinh(np.linspace(-1, 1, 9))).max() > 1e-6:
        newton, steps = newton - (np.sinh(newton) - np.sinh(np.linspace(-1, 1, 9))) / np.cosh(newton), steps + 1
    assert len(sizes) < 1 + steps
    inverse_is_a_cubic, sizes = counted(lambda z: (np.cbrt(z), 1 / (3 * np.cbrt(z) ** 2)))
    solve_increasing(inverse_is_a_cubic, np.array([3.0]), np.array([20.0]), met=1e-13)
    assert len(sizes) == 3  # Newton's step, that of the cubic, and a look


def test_slopes_tell_which_heights_were_met():
    heights = lambda z, where: (np.tanh(z), 1 - np.tanh(z) ** 2)  # noqa: E731
    target = np.array([0.5, 2.0, np.inf])
    found, slopes = search_increasing(heights, target, np.zeros(3), met=1e-9, longest=5.0, most=30)
    assert found[0] == pytest.approx(np.arctanh(0.5)) and slopes[0] == pytest.approx(0.75)
    assert np.isnan(slopes[1]) and slopes[2] == np.inf
