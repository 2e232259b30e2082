"""Searching by brackets beside inverses in closed form."""

from __future__ import annotations

import numpy as np

from calibrant.numerics.blocks import in_blocks, joined, row_blocks
from calibrant.numerics.brackets import smallest_atom_reaching, smallest_reaching


def test_smooth_functions_of_many_rows(rng):
    power = rng.uniform(1, 6, 50)[:, None]
    target = rng.uniform(0, 1, (50, 4))
    seen = []

    def height(x, rows):
        seen.append(len(x))
        return x ** power[rows]

    ends = np.zeros((50, 4)), np.ones((50, 4)), np.full((50, 4), 0.01)
    found = smallest_reaching(height, target, ends, flats=False)
    np.testing.assert_allclose(found**power, target, rtol=1e-13)
    assert len(seen) < 30


def test_jumps_and_levels_and_infinite_targets():
    def height(x, rows):
        return np.where(x < 1, x, np.where(x < 2, 5.0, 3 + x))

    target = np.array([0.5, 2.0, 5.0, 5.5, -np.inf, np.inf])
    found = smallest_reaching(height, target, (np.zeros(6), np.full(6, 9.0), np.ones(6)), flats=True)
    np.testing.assert_allclose(found, [0.5, 1.0, 1.0, 2.5, 0.0, 9.0], rtol=1e-14)


def test_the_first_step_that_is_high_enough():
    target = np.array([-0.5, 0.0, 3.0, 3.2])
    heights = (lambda x: np.ceil(x) - 1), np.floor
    found = smallest_atom_reaching(heights, target, (np.full(4, -1.0), np.full(4, 8.0)), np.floor)
    np.testing.assert_array_equal(found, [0.0, 0.0, 3.0, 4.0])


def test_blocks_cover_all_rows_once():
    for rows, width, block in ((0, 3, 8), (1, 100, 8), (17, 3, 8), (16, 4, 8)):
        parts = [np.arange(rows, dtype=float)[part] for part in row_blocks(rows, width, block)]
        np.testing.assert_array_equal(joined(iter(parts)), np.arange(rows))
        assert all(1 <= len(part) <= max(1, block // width) for part in parts)
    z = np.linspace(0, 1, 20_001).reshape(3, -1)
    np.testing.assert_array_equal(in_blocks(np.square, z), np.square(z))
