"""Demand on grids keeps its mass and its mean; bounds of orders are the exact quantiles of sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant import Normal, Poisson
from calibrant.decisions.inventory.demand import grid_masses, most_sold
from calibrant.decisions.inventory.grid import units


def test_counts_are_themselves():
    got = grid_masses(Poisson([4.0, 9.0]), np.ones(2), 30)
    wanted = stats.poisson([[4.0], [9.0]]).pmf(np.arange(30))
    wanted[:, -1] = stats.poisson([4.0, 9.0]).sf(28)
    np.testing.assert_allclose(got, wanted, atol=1e-14)


@pytest.mark.parametrize("unit", [1.0, 3.0, 12.0, 60.0])
def test_mass_and_mean_stay(unit):
    law = Normal([150.0, 90.0], [20.0, 15.0])
    masses = grid_masses(law, np.array([unit, 2 * unit]), int(600 / unit))
    np.testing.assert_allclose(masses.sum(axis=1), 1.0)
    places = np.arange(masses.shape[1])
    np.testing.assert_allclose(masses @ places * [unit, 2 * unit], [150.0, 90.0], rtol=1e-4)


def test_what_is_below_zero_is_no_demand():
    np.testing.assert_allclose(grid_masses(Normal([0.0], 1.0), np.ones(1), 2)[0, 0], stats.norm.cdf(0.5))
    np.testing.assert_array_equal(grid_masses(Normal([5.0], 1.0), np.ones(1), 1), [[1.0]])


def test_bounds_are_quantiles_of_sums():
    """Sums of Poisson laws are Poisson laws."""
    rates = [3.0, 5.0, 2.0, 4.0]
    laws = [Poisson([rate, 2 * rate]) for rate in rates]
    for chance in (0.2, 0.65):
        got = most_sold(laws, [slice(0, 3), slice(2, 4)], chance)
        for column, total in enumerate((10.0, 6.0)):
            for row, factor in enumerate((1, 2)):
                at_least = stats.poisson(factor * total).sf(np.arange(-1, 100))  # P(D >= a)
                assert got[row, column] == np.flatnonzero(at_least > chance)[-1]


def test_bounds_of_large_demand_are_safe_and_close():
    laws = [Normal([1000.0], 200.0)] * 4
    got = most_sold(laws, [slice(0, 4)], 0.65)[0, 0]
    exact = 4000 + 400 * stats.norm.ppf(0.35)
    assert exact < got < 1.06 * exact


def test_nothing_is_ordered_that_costs_more_than_it_brings():
    np.testing.assert_array_equal(most_sold([Poisson([3.0])], [slice(0, 1)], 1.2), [[0.0]])


def test_units_divide_packs_or_are_made_of_them(rng):
    most = rng.gamma(0.5, 200.0, (60, 3))
    got = units(most, [[0, 1], [1, 2]], 400, 12)
    sizes = np.ceil(most / got[:, None]).max(axis=0) + 1
    assert max(sizes[0] * sizes[1], sizes[1] * sizes[2]) <= 400
    assert all(12 % unit == 0 or unit % 12 == 0 for unit in got)
    np.testing.assert_array_equal(units(np.array([[19.0], [100.0]]), [[0]], 21, 12), [1, 6])
    np.testing.assert_array_equal(units(np.full((1, 9), 50.0), [range(9)], 10, 12), [60])  # as few as there can be
