"""Grids hold the same whatever the order in which points came."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.numerics import grid_counts, running_grid
from calibrant.numerics.nested_grid import NestedGrid
from calibrant.numerics.running_grid import RunningGrid

MOST = 2048


def sets(rng):
    x = rng.standard_normal(60_000)
    return {
        "normal": x,
        "far": 1e6 + x,
        "tiny": 1e-9 * x,
        "huge": 1e150 * x,
        "heavy": x / rng.random(60_000) ** 2,
        "few values": np.round(x, 1),
        "a few and many": np.where(x > 0, np.round(x), x),
    }


@pytest.mark.parametrize("name", sets(np.random.default_rng(0)))
@pytest.mark.parametrize("weighted", [False, True])
def test_any_tree_of_merges_gives_the_same(name, weighted, rng):
    x = sets(rng)[name]
    w = rng.integers(1, 4, len(x)).astype(float) if weighted else np.ones(len(x))
    whole = NestedGrid.of(x, (w if weighted else None,), most=MOST)
    cuts = np.sort(rng.choice(len(x), 40, replace=False))
    order = rng.permutation(len(x))
    parts = [NestedGrid.of(x[rows], (w[rows],), most=MOST) for rows in np.split(order, cuts) if len(rows)]
    while len(parts) > 1:
        one, two = (parts.pop(rng.integers(len(parts))) for _ in range(2))
        parts.append(one.merge(two))
    assert parts[0].level == whole.level and np.array_equal(parts[0].keys, whole.keys)
    assert np.array_equal(parts[0].mass, whole.mass) and whole.mass.sum() == w.sum()
    np.testing.assert_allclose(parts[0].points, whole.points, rtol=1e-12, atol=1e-13 * np.abs(x).max())
    assert len(whole.keys) <= MOST and (np.diff(whole.points) > 0).all()


@pytest.mark.parametrize("name", sets(np.random.default_rng(0)))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("in_order", [False, True])  # where they are, most lie far from those that came first
def test_points_may_come_in_pieces(name, weighted, in_order, rng, monkeypatch):
    monkeypatch.setattr(running_grid, "_AT_ONCE", 7_000)
    x = np.sort(sets(rng)[name]) if in_order else sets(rng)[name]
    columns = (rng.integers(1, 4, len(x)).astype(float), None) if weighted else (None,)
    whole, running = NestedGrid.of(x, columns, most=MOST), RunningGrid(most=MOST)
    for number, rows in enumerate(np.split(np.arange(len(x)), np.sort(rng.choice(len(x), 90, replace=False)))):
        running.add(x[rows], [None if each is None else each[rows] for each in columns])
        assert running._counts is None or running._counts.kept <= 7_000  # memory does not grow with the points
        if number == 40:  # to ask on the way changes nothing
            assert running.grid().mass[-1].sum() == rows[-1] + 1
    found = running.grid()
    assert found.level == whole.level and np.array_equal(found.keys, whole.keys)
    assert np.array_equal(found.mass, whole.mass)
    np.testing.assert_allclose(found.points, whole.points, rtol=1e-12, atol=1e-13 * np.abs(x).max())


def test_no_points_are_no_grid():
    assert RunningGrid().grid() is None


def test_the_level_is_the_finest_that_fits(rng):
    x = rng.standard_normal(60_000)
    grid = NestedGrid.of(x, most=MOST)
    cells = [len(np.unique(np.floor(2.0**level * np.arcsinh(x)))) for level in (grid.level, grid.level + 1)]
    assert cells[0] == len(grid.keys) <= MOST < cells[1]


def test_a_finer_grid_on_the_way_changes_nothing(rng):
    x = rng.standard_normal(60_000)
    fine = NestedGrid.of(x)
    again, direct = NestedGrid.of(fine.points, (fine.mass[0],), most=MOST), NestedGrid.of(x, most=MOST)
    assert np.array_equal(again.keys, direct.keys) and np.array_equal(again.mass, direct.mass)
    np.testing.assert_allclose(again.points, direct.points, rtol=1e-12, atol=1e-12)


def test_few_points_are_kept(rng):
    x = np.append(rng.standard_normal(1000), [0.0, -0.0])
    grid = NestedGrid.of(np.tile(x, 3), most=MOST)
    assert grid.level is None and np.array_equal(grid.keys, np.unique(x))
    assert grid.mass.sum() == 3006 and grid.mass.max() == 6


def test_columns_and_factors(rng):
    x, hit = rng.standard_normal(40_000), rng.random(40_000) < 0.3
    grid = NestedGrid.of(x, (hit.astype(float), (~hit).astype(float)), most=MOST).scaled(0.5)
    points, mass = grid.column(0)
    assert mass.sum() == 0.5 * hit.sum() and mass @ points == pytest.approx(0.5 * x[hit].sum(), rel=1e-9)
    assert grid.column(1)[1].sum() == 0.5 * (~hit).sum()


def test_points_outside_the_window(rng, monkeypatch):
    x = rng.standard_normal(9000)
    expected = grid_counts.counted(x, [None, x**2], 9)
    monkeypatch.setattr(grid_counts, "_WINDOW", 300)
    for found, sums in zip(grid_counts.counted(x, [None, x**2], 9), expected, strict=True):
        np.testing.assert_allclose(found, sums, rtol=1e-12, atol=1e-12)


def test_parts_that_do_not_belong_together():
    with pytest.raises(ValueError, match=r"`mass` and `moment` must be \(columns, 2\); got \(1, 3\)"):
        NestedGrid(np.zeros(2), np.ones((1, 3)), np.ones((1, 3)))
