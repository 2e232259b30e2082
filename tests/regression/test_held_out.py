"""Rows to learn from and rows to be judged on."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.regression.held_out import base_premium, held_out_splits


def test_every_row_is_held_out_once():
    pairs = list(held_out_splits(103, folds=4))
    assert sorted(np.concatenate([test for _, test in pairs]).tolist()) == list(range(103))
    for train, test in pairs:
        assert sorted([*train, *test]) == list(range(103))


def test_the_same_every_time_and_another_for_another_seed():
    first, again, other = (next(held_out_splits(50, seed))[1] for seed in (None, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.parametrize(("n", "sizes"), [(2000, (1500, 500)), (5000, (3750, 1250)), (100_000, (4500, 1500))])
def test_one_split_of_many_rows(n, sizes):
    ((train, test),) = held_out_splits(n)
    assert (len(train), len(test)) == sizes and not np.intersect1d(train, test).size


def test_premium_falls_with_the_rows():
    assert base_premium(0.0) == 0.2 and base_premium(199.0) == pytest.approx(0.001)


def test_five_folds_unless_told():
    assert [len(test) for _, test in held_out_splits(50)] == [10] * 5
