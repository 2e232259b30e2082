"""One probability map per row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from calibrant.maps import ProbabilityMap
from calibrant.maps.base import concatenate_maps
from calibrant.maps.probability_rows import ProbabilityRows, log_segment_masses


def make(rng, n=4, k=6):
    knots = np.sort(rng.normal(0, 1.5, (n, k)), axis=1)
    return knots, rng.dirichlet(np.full(k + 1, 1.0), n)


def test_agrees_with_the_shared_map(rng):
    knots, masses = make(rng)
    rows = ProbabilityRows.from_log_masses(knots, np.log(masses))
    z = rng.normal(0, 2.5, (4, 50))
    for i in range(4):
        alone = ProbabilityMap(knots[i], np.cumsum(masses[i])[:-1])
        assert np.allclose(rows(z)[i], alone(z[i]), atol=1e-9)
        assert np.allclose(rows.inverse(z)[i], alone.inverse(z[i]), atol=1e-8)
        assert np.allclose(rows.log_slope(z)[i], alone.log_slope(z[i]), atol=1e-7)


def test_linear_in_probability_by_hand():
    rows = ProbabilityRows.from_log_masses(ndtri(np.array([[0.2, 0.6]])), np.log([[0.5, 0.1, 0.4]]))
    p = np.array([[0.1, 0.2, 0.4, 0.6, 0.8]])
    assert ndtr(rows(ndtri(p))) == pytest.approx(np.array([[0.25, 0.5, 0.55, 0.6, 0.8]]))
    assert ndtr(rows.inverse(ndtri(np.array([[0.25, 0.55, 0.8]])))) == pytest.approx(np.array([[0.1, 0.4, 0.8]]))


def test_masses_need_not_sum_to_one():
    knots = ndtri(np.array([[0.2, 0.6]]))
    one, two = (ProbabilityRows.from_log_masses(knots, np.log([[0.5, 0.1, 0.4]]) + c) for c in (0.0, 300.0))
    assert np.allclose(one.levels, two.levels)


def test_its_own_masses_change_nothing_even_far_out(rng):
    knots = np.array([[-300.0, -40.0, -1.0, 0.5, 8.9, 60.0]])
    rows = ProbabilityRows.from_log_masses(knots, log_segment_masses(knots))
    z = np.array([[-1000.0, -299.0, -41.0, -38.0, -3.0, 0.0, 7.0, 8.95, 9.5, 39.0, 61.0, 500.0]])
    assert np.allclose(rows(z), z, rtol=1e-7)
    assert np.allclose(rows.inverse(z), z, rtol=1e-7)
    assert np.allclose(rows.log_slope(z), 0, atol=2e-3)


def test_shapes_slices_and_joins(rng):
    knots, masses = make(rng)
    rows = ProbabilityRows.from_log_masses(knots, np.log(masses))
    assert rows.rows == 4
    z = rng.normal(size=4)
    assert np.allclose(rows(z), rows(np.tile(z, (4, 1)))[range(4), range(4)])
    assert np.allclose(rows(z[None, :2])[1], rows(np.tile(z[:2], (4, 1)))[1])
    assert np.allclose(rows[1:3](z[1:3]), rows(z)[1:3])
    whole = concatenate_maps([rows[:1], rows[1:]], [1, 3])
    assert np.array_equal(whole(z), rows(z))


@pytest.mark.parametrize("seed", range(20))
def test_increasing_inverse_and_slope(seed):
    rng = np.random.default_rng(seed)
    knots, masses = make(rng)
    rows = ProbabilityRows.from_log_masses(knots, np.log(masses + 1e-4))
    z = np.sort(rng.normal(0, 2.5, (4, 40)), axis=1)
    t, h = rows(z), 1e-6
    assert np.all(np.diff(t) >= 0)
    assert np.allclose(rows.inverse(t), z, atol=1e-7)
    smooth = np.abs(z[..., None] - knots[:, None, :]).min(axis=-1) > 3 * h
    slope = (rows(z + h) - rows(z - h)) / (2 * h)
    assert np.allclose(slope[smooth], np.exp(rows.log_slope(z))[smooth], rtol=2e-4)


def test_tails_are_the_base_rescaled():
    rows = ProbabilityRows.from_log_masses(np.array([[-1.0, 1.0]]), np.log([[0.3, 0.6, 0.1]]))
    far = np.array([[-35.0, -20.0, 20.0, 35.0]])
    factor = np.array([[0.3, 0.3, 0.1, 0.1]]) / ndtr(-1.0)
    tail = ndtr(-np.abs(rows(far)))
    assert np.allclose(tail / ndtr(-np.abs(far)), factor, rtol=1e-6)


def test_segments_without_base_mass_stay_empty():
    knots = np.array([[-np.inf, -np.inf, 0.0, np.inf]])
    rows = ProbabilityRows.from_log_masses(knots, np.log(np.full((1, 5), 0.2)))
    assert ndtr(rows.levels) == pytest.approx(np.array([[0.0, 0.0, 0.5, 1.0]]))
    assert np.array_equal(rows(np.array([[-np.inf, np.inf]])), [[-np.inf, np.inf]])
    assert np.isfinite(rows(np.array([[-9.0, 9.0]]))).all()


def test_scores_whose_squares_overflow():
    rows = ProbabilityRows.from_log_masses(np.array([[-1.0, 1.0]]), np.log([[0.3, 0.6, 0.1]]))
    huge = np.array([[-np.inf, -1e300, -1e160, 1e160, 1e300, np.inf]])
    assert np.array_equal(np.sign(rows(huge)), np.sign(huge)) and np.all(np.abs(rows(huge)) > 1e150)


def test_no_knots_is_the_identity():
    rows = ProbabilityRows.from_log_masses(np.empty((2, 0)), np.zeros((2, 1)))
    z = np.array([[-50.0, 0.3, 20.0], [1.0, 2.0, 3.0]])
    assert np.allclose(rows(z), z)
