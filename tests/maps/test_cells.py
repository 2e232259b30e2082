from __future__ import annotations

import numpy as np
import pytest

from calibrant.maps.cells import FEW, Cells, cells_of, spread_ties

RNG = np.random.default_rng(1)
MANY = RNG.standard_normal(20_000)


@pytest.mark.parametrize("n", [5, FEW, 20_000])
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (5.0, 1.0), (1e6, 1.0), (0.0, 1e-3), (-3.0, 8.0)])
def test_mass_mean_and_variance_survive(n: int, shift: float, scale: float) -> None:
    z = shift + scale * MANY[:n]
    cells = cells_of(z)
    mean = cells.mass @ cells.z / n
    assert cells.total == n and cells.z.size <= 2500
    assert mean == pytest.approx(z.mean(), rel=1e-12, abs=1e-12 * scale)
    assert cells.mass @ (cells.z - mean) ** 2 / n == pytest.approx(z.var(), rel=1e-4)
    assert (np.diff(cells.z) > 0).all()


@pytest.mark.parametrize("n", [300, 20_000])
def test_order_and_repetition_do_not_matter(n: int) -> None:
    z, weights = MANY[:n], RNG.integers(0, 4, n)
    one = cells_of(z, weights.astype(float))
    other = cells_of(RNG.permutation(np.repeat(z, weights)))
    assert np.array_equal(one.mass, other.mass)
    assert np.allclose(one.z, other.z, rtol=1e-13, atol=1e-13)


def test_quantiles_and_scale_are_those_of_the_rows() -> None:
    for n in (501, 20_000):
        expected = np.quantile(MANY[:n], [0.1, 0.5, 0.9], method="hazen")
        assert np.allclose(cells_of(MANY[:n]).quantile([0.1, 0.5, 0.9]), expected, atol=0.005)
    assert cells_of(MANY).centre_scale() == pytest.approx((0.0, 1.0), abs=0.02)


def test_a_quantile_within_an_atom_is_the_atom() -> None:
    cells = Cells(np.array([-6.0, 0.0, 6.0]), np.array([1.0, 98.0, 1.0]))
    assert cells.quantile([0.02, 0.5, 0.98]).tolist() == [0.0, 0.0, 0.0]
    assert cells.centre_scale()[1] > 0


@pytest.mark.parametrize("n", [100, 5000])
def test_far_and_infinite_scores_are_pulled_in(n: int) -> None:
    z = np.concatenate([MANY[:n], [np.inf, -np.inf, 1e300]])
    cells = cells_of(z)
    assert cells.total == n + 3 and np.abs(cells.z).max() < 2e4 and np.abs(cells.z).max() > 100


@pytest.mark.parametrize("n", [1, 100, 5000])
def test_equal_scores_are_one_cell(n: int) -> None:
    cells = cells_of(np.full(n, 0.3))
    assert cells.z.tolist() == [0.3] and cells.mass.tolist() == [n]
    assert spread_ties(cells) is cells


def test_scores_equal_but_for_rounding_are_one_cell() -> None:
    scale = np.exp(RNG.standard_normal(500))
    z = (0.0 - 0.4 * scale) / (0.9 * scale)
    assert np.unique(z).size > 1
    cells = cells_of(np.append(z, MANY[:50]))
    assert cells.z.size == 51 and cells.mass.max() == 500
    assert cells_of(1e-8 * MANY[:500]).z.size == 500


def test_rounded_scores_are_spread_over_their_intervals() -> None:
    cells = spread_ties(Cells(np.array([-1.0, 0.0, 1.0]), np.array([900.0, 900.0, 900.0])))
    assert cells.total == pytest.approx(2700.0) and cells.mass @ cells.z == pytest.approx(0.0, abs=1e-9)
    assert cells.z[0] > -1.5 and cells.z[0] == pytest.approx(-1.5, abs=0.06)
    assert np.allclose(np.diff(cells.z), np.diff(cells.z)[0])  # one uniform law
    assert cells.mass @ cells.z**2 / 2700 == pytest.approx(9 / 12, rel=0.01)


def test_single_scores_stay_where_they_are() -> None:
    cells = spread_ties(Cells(np.array([0.0, 1.0, 5.0]), np.array([1.0, 1.0, 2.0])))
    assert cells.z[:2].tolist() == [0.0, 1.0] and cells.mass[:2].tolist() == [1.0, 1.0]


def test_a_lone_atom_is_not_spread_wider_than_the_forecast() -> None:
    cells = spread_ties(Cells(np.array([-6.0, 0.0, 6.0]), np.array([1.0, 998.0, 1.0])))
    inner = cells.z[1:-1]
    assert np.abs(inner).max() <= 1.0
