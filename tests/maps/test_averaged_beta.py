"""The average of beta maps over normal parameters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_ndtr, ndtr, ndtri

from calibrant import Normal, Recalibrated, StudentT
from calibrant.distributions import concatenate
from calibrant.maps import BetaMap, UnitTails
from calibrant.maps.averaged_beta import FEW, MANY, AveragedBetaMap


def batch(n, size, seed=0):
    rng = np.random.default_rng(seed)
    return AveragedBetaMap(rng.normal(0, 0.4, (n, 3)), np.tril(rng.normal(0, size, (n, 3, 3))))


@pytest.mark.parametrize(("rule", "nodes"), [(FEW, 13), (MANY, 125)])
def test_rules_have_the_moments_of_a_standard_normal(rule, nodes):
    x, w = rule
    assert x.shape == (nodes, 3) and w.sum() == pytest.approx(1) and np.all(w > 0)
    assert np.allclose(w @ x, 0) and np.allclose(np.einsum("k,ki,kj->ij", w, x, x), np.eye(3))
    fourth = np.einsum("k,ki,kj->ij", w, x**2, x**2)
    assert np.allclose(fourth, 1 + 2 * np.eye(3))
    assert np.allclose(np.einsum("k,ki,kj,kl->ijl", w, x, x, x), 0)


def test_average_agrees_with_many_draws():
    rng = np.random.default_rng(1)
    mean, root = np.array([0.3, -0.2, 0.4]), np.array([[0.2, 0, 0], [0.1, 0.15, 0], [-0.1, 0.05, 0.25]])
    log_a, log_b, c = mean[:, None] + root @ rng.standard_normal((3, 400_000))
    for p in (0.05, 0.5, 0.9):
        drawn = expit(np.exp(log_a) * np.log(p) - np.exp(log_b) * np.log1p(-p) + c)
        ours = ndtr(AveragedBetaMap(mean[None], root[None])(np.array([ndtri(p)])))[0]
        assert ours == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 400_000**0.5 + 2e-5)


def test_without_doubt_it_is_the_beta_map():
    rng = np.random.default_rng(0)
    mean = rng.normal(0, 0.5, (4, 3))
    ours, plain = AveragedBetaMap(mean, np.zeros((4, 3, 3))), BetaMap(*np.exp(mean[:, :2]).T, mean[:, 2])
    z = np.array([[-60.0, -8.0, -1.0, 0.0, 2.0, 9.0, 50.0]])
    assert np.allclose(ours(z), plain(z), rtol=1e-12, atol=1e-12)
    assert np.allclose(ours.log_slope(z), plain.log_slope(z), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [0.1, 0.5])
def test_increasing_inverse_and_slope(size):
    map = batch(5, size)
    z = np.linspace(-9, 9, 61)[None, :] + np.zeros((5, 1))
    t = map(z)
    assert np.all(np.diff(t, axis=1) > 0)
    assert np.allclose(map.inverse(t), z, rtol=1e-9, atol=1e-9)
    h = 1e-5
    assert np.allclose(np.exp(map.log_slope(z)), (map(z + h) - map(z - h)) / (2 * h), rtol=1e-6)


@pytest.mark.parametrize("size", [0.0, 0.1, 0.6])
def test_finite_in_both_tails(size):
    map = batch(3, size)
    far = np.array([[-1e100, -1000.0, -200.0, -38.0, -36.9, 36.9, 38.0, 200.0, 1000.0, 1e100]])
    assert np.isfinite(map(far)).all() and np.isfinite(map.log_slope(far)).all()
    assert np.all(np.diff(map(far)) > 0)
    assert np.allclose(map.inverse(map(far)), far + np.zeros((3, 1)), rtol=1e-8)
    assert np.array_equal(map(np.array([[-np.inf, np.inf]])), np.tile([-np.inf, np.inf], (3, 1)))


def test_far_tail_is_the_slowest_node():
    map = AveragedBetaMap(np.zeros((1, 3)), 0.2 * np.eye(3)[None])
    a = np.exp(0.2 * FEW.nodes[:, 0]).min()
    weight = FEW.weights[np.exp(0.2 * FEW.nodes[:, 0]) == a].sum()
    c = np.log(np.exp(0.2 * FEW.nodes[np.exp(0.2 * FEW.nodes[:, 0]) == a, 2]).mean())
    law = Recalibrated(Normal([0.0], 1.0), map)
    assert law.logcdf([-40.0])[0] == pytest.approx(a * log_ndtr(-40.0) + np.log(weight) + c, rel=1e-6)


@pytest.mark.parametrize("what", ["__call__", "log_slope", "log_density"])
@pytest.mark.parametrize("size", [0.0, 0.1, 0.5])
def test_dense_points_are_interpolated(size, what):
    map = batch(4, size)
    z = np.sort(np.random.default_rng(0).normal(0, 3, (4, 12_000)), axis=1)
    z[0, :2], z[1, -2:] = [-90.0, -50.0], [41.0, 200.0]
    few = [slice(start, start + 100) for start in range(0, 12_000, 100)]
    dense, exact = getattr(map, what)(z), np.hstack([getattr(map, what)(z[:, part]) for part in few])
    bulk = np.abs(z) < 6
    assert np.allclose(dense[bulk], exact[bulk], rtol=0, atol=1e-5)
    assert np.allclose(dense, exact, rtol=1e-5, atol=2e-3 if size > 0.2 else 5e-5)
    assert not np.array_equal(dense, exact)  # a table was used


def test_dense_points_of_a_flat_map_far_out():
    map, z = AveragedBetaMap(np.array([[-1.0, -1.0, 0.0]]), np.zeros((1, 3, 3))), np.linspace(-50, 50, 4001)[None, :]
    exact = np.hstack([map.log_slope(part) for part in np.array_split(z, 8, axis=1)])
    np.testing.assert_allclose(map.log_slope(z), exact, atol=1e-5)


@pytest.mark.parametrize("slope", [0.3, 1.0, 3.0, 8.0])
def test_tables_are_as_fine_as_the_steepest_map_needs(slope):
    map = AveragedBetaMap(np.array([[np.log(slope), np.log(slope), 0.2]]), 0.05 * np.eye(3)[None])
    z = np.linspace(-5, 5, 4096)[None, :]
    exact = np.hstack([map.log_density(part) for part in np.array_split(z, 8, axis=1)])
    assert 0 < np.abs(map.log_density(z) - exact).max() < 1e-5


def test_log_density_is_slope_and_score():
    map = batch(5, 0.3)
    z = np.array([[-40.0, -2.0, 0.0, 1.5, 30.0]])
    assert np.allclose(map.log_density(z), map.log_slope(z) - 0.5 * map(z) ** 2, rtol=1e-12)
    plain = BetaMap(1.5, 0.7, 0.4)
    assert np.allclose(plain.log_density(z), plain.log_slope(z) - 0.5 * plain(z) ** 2, rtol=1e-12)
    assert np.isneginf(map.log_density(np.array([[-np.inf, np.inf]]))).all()
    assert np.isneginf(plain.log_density(np.array([-np.inf, np.inf]))).all()


@pytest.mark.parametrize("size", [0.1, 0.5])
def test_laws_are_proper_and_slice(size):
    law = Recalibrated(Normal(np.arange(4.0), 2.0), batch(4, size))
    grid = np.linspace(-70, 70, 6001)[None, :]
    density = law.pdf(grid)
    assert np.all(density >= 0)
    assert np.allclose(np.trapezoid(density, grid[0], axis=1), 1, atol=1e-5)
    assert np.allclose(np.trapezoid(grid * density, grid[0], axis=1), law.mean(), atol=1e-4)
    y = np.array([0.0, 1.0, -3.0, 8.0])
    assert np.allclose(law[1:3].logpdf(y[1:3]), law.logpdf(y)[1:3], rtol=1e-12)
    joined = concatenate([law[:1], law[1:]])
    assert np.array_equal(joined.logpdf(y), law.logpdf(y)) and isinstance(joined, Recalibrated)
    assert np.array_equal(law.logpdf(y), law.logpdf(y))


def test_crps_agrees_with_samples():
    law = Recalibrated(Normal([0.0, 5.0], 2.0), batch(2, 0.2))
    draws = law.sample(50_000, random_state=0)
    y = np.array([1.0, 4.0])
    half = np.abs(draws[:, :25_000] - draws[:, 25_000:]).mean(axis=1) / 2
    assert np.allclose(law.crps(y), np.abs(draws - y[:, None]).mean(axis=1) - half, atol=0.02)


def test_unit_tails():
    law = Recalibrated(StudentT([0.0], 1.0, 3.0), UnitTails(batch(1, 0.1), -3.0, 3.0))
    far = np.array([[1e8, 1e9, 1e10]])
    assert np.allclose(np.diff(law.logsf(far)) / np.log(10), -3, atol=0.5)


def test_the_table_of_dense_points_integrates_to_the_distribution_function(rng):
    law = Recalibrated(
        Normal(np.zeros(4), 1.0), AveragedBetaMap(rng.normal(0, 0.4, (4, 3)), 0.2 * np.tril(np.ones((4, 3, 3))))
    )
    points = np.linspace(-6, 6, 6001)[None, :]  # enough for the table
    density = law.pdf(points)
    inside = np.trapezoid(density, points, axis=1)
    np.testing.assert_allclose(inside, law.cdf(np.full(4, 6.0)) - law.cdf(np.full(4, -6.0)), atol=1e-6)
