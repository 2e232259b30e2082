"""Distinct rows, and which of them are learned from and which are forecast."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold

from calibrant import Normal, Poisson
from calibrant.adapters.class_scores import ClassScores
from calibrant.select.distinct import DistinctRows, class_ranks, spread_over, units_of
from calibrant.select.splits import given_splits, random_splits, split_rows, time_splits


# ---- distinct rows ----
def test_points_by_hand():
    points, y = np.array([2.0, 1.0, 2.0, 1.0, 2.0]), np.array([5.0, 4.0, 5.0, 7.0, 5.0])
    found = DistinctRows.of(points, y, np.array([1.0, 2.0, 4.0, 8.0, 16.0]))
    assert found.rows.tolist() == [1, 3, 0]  # sorted by prediction and outcome, the first copy of each
    assert found.weights.tolist() == [2.0, 8.0, 21.0]
    assert found.unit.tolist() == [0, 1, 2]
    assert found.repeated.tolist() == [True, True, False]  # a prediction of 1 came with two outcomes
    assert units_of(points, y).tolist() == [2, 0, 2, 1, 2]


def test_groups_part_rows_but_not_units():
    points, y = np.array([1.0, 1.0, 1.0]), np.array([4.0, 4.0, 4.0])
    found = DistinctRows.of(points, y, np.ones(3), np.array([1, 0, 1]))
    assert found.rows.tolist() == [1, 0] and found.weights.tolist() == [1.0, 2.0] and found.unit.tolist() == [0, 0]


def test_laws_are_equal_up_to_rounding():
    mu = np.array([1.0, 1.0 + 1e-13, 1.0 + 1e-6, 1.0, 1.0])
    sigma, y = np.array([1.0, 1.0, 1.0, 2.0, 1.0]), np.array([0.5, 0.5, 0.5, 0.5, 0.6])
    found = DistinctRows.of(Normal(mu, sigma), y, np.ones(5))
    assert sorted(found.weights.tolist()) == [1.0, 1.0, 1.0, 2.0]
    assert dict(zip(found.rows.tolist(), found.repeated.tolist(), strict=True)) == {
        0: True,
        2: False,
        3: False,
        4: True,
    }
    counts = DistinctRows.of(Poisson([3.0, 3.0, 4.0]), np.array([2.0, 2.0, 2.0]), np.ones(3))
    assert sorted(counts.weights.tolist()) == [1.0, 2.0]


def test_names_and_order_of_classes_do_not_count():
    p = np.array([[0.2, 0.8], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
    codes = np.array([1, 0, 0, 0])
    one = DistinctRows.of(ClassScores(p), codes, np.ones(4))
    other = DistinctRows.of(ClassScores(p[:, ::-1]), 1 - codes, np.ones(4))
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.unit, other.unit)
    units = dict(zip(one.rows.tolist(), one.unit.tolist(), strict=True))
    assert units[0] == units[1] != units[2]  # .8 for what came, twice
    assert dict(zip(one.rows.tolist(), one.repeated.tolist(), strict=True)) == {0: True, 3: True, 1: False, 2: False}


def test_ranks_of_classes():
    assert class_ranks(np.array([0.9, 0.2, 0.4, 0.9]), np.array([0, 0, 1, 2]), 4).tolist() == [2, 1, 3, 0]


def test_many_equal_rows_of_repeated_forecasts_are_dealt_out(rng):
    weights, repeated = np.array([1000.5, 3.0, 8.0]), np.array([True, True, False])
    spread, fold = spread_over(DistinctRows(np.arange(3), weights, np.arange(3), repeated), 4, rng)
    assert fold.tolist() == [0, 1, 2, 3, -1, -1] and spread.rows.tolist() == [0, 0, 0, 0, 1, 2]
    assert spread.weights[:4].sum() == pytest.approx(1000.5) and spread.weights[4:].tolist() == [3.0, 8.0]
    assert np.all(np.abs(spread.weights[:4] - 250) < 60)  # at random: standard deviation 14
    same, none = spread_over(DistinctRows(np.arange(3), weights, np.arange(3), ~repeated[[0, 0, 0]]), 4, rng)
    assert same.weights is weights and none.tolist() == [-1] * 3


# ---- splits ----
def test_random_folds(rng):
    unit = np.array([0, 0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9])
    splits = random_splits(unit, 3, rng)
    assert sorted(len(set(unit[test])) for _, test in splits) == [3, 3, 4]
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(12))
    for train, test in splits:
        assert not set(unit[train]) & set(unit[test]) and len(train) + len(test) == 12
    assert len(random_splits(np.array([0, 1, 1]), 5, rng)) == 2  # no more folds than units


def test_folds_have_equal_shares_of_classes(rng):
    strata = np.repeat([0, 1], [6, 3])
    for _, test in random_splits(np.arange(9), 3, rng, strata=strata):
        assert np.bincount(strata[test]).tolist() == [2, 1]


def test_settled_folds_stay(rng):
    fold = np.array([2, -1, 0, -1, 1])
    splits = random_splits(np.arange(5), 3, rng, fold=fold)
    assert [k in test for (_, test), k in zip(splits, [2, 4, 0], strict=True)] == [True, True, True]


def test_blocks_of_time():
    when = np.repeat(np.arange(8), 2)
    splits = time_splits(when, np.ones(16), 3)
    assert [(train.tolist()[-1], test.tolist()) for train, test in splits] == [
        (3, [4, 5, 6, 7]),
        (7, [8, 9, 10, 11]),
        (11, [12, 13, 14, 15]),
    ]
    heavy = time_splits(np.arange(4), np.array([3.0, 1.0, 1.0, 1.0]), 1)  # halves of the weight
    assert [(train.tolist(), test.tolist()) for train, test in heavy] == [([0], [1, 2, 3])]
    with pytest.raises(ValueError, match="at least two different values"):
        time_splits(np.zeros(4, dtype=int), np.ones(4), 2)


def test_splitters_see_rows_as_they_came():
    y = np.array([1.0, 2.0, 3.0, 1.0])
    splits = given_splits(KFold(2), y, None, np.array([0, 1, 2, 0]))
    assert [(train.tolist(), test.tolist()) for train, test in splits] == [([2], [0, 1]), ([1], [2, 3])]
    with pytest.raises(ValueError, match="a split with rows to learn from"):
        given_splits(KFold(2), y[:2], None, np.array([0, 0]))


def test_pairs_of_rows():
    points, y = np.arange(6.0), np.arange(6.0) % 4
    _, splits = split_rows(points, y, np.ones(6), cv=[(np.arange(4), np.array([4, 5]))])
    assert [(train.tolist(), test.tolist()) for train, test in splits] == [([0, 1, 2, 3], [4, 5])]


def test_the_seed_is_the_third(rng):
    points, y = rng.normal(size=(2, 30))
    folds = [
        [test.tolist() for _, test in split_rows(points, y, np.ones(30), cv=cv)[1]] for cv in (3, (3, 1, 0), (3, 1, 1))
    ]
    assert folds[0] == folds[1] != folds[2]
    assert len(split_rows(points, y, np.ones(30), cv=(3, 4))[1]) == 12
    for cv in ((), (5, 1, 0, 0)):
        with pytest.raises(ValueError, match="folds, repetitions and seed"):
            split_rows(points, y, np.ones(30), cv=cv)
    for cv in (1, 2.5, (5, 0)):
        with pytest.raises(ValueError, match="whole number"):
            split_rows(points, y, np.ones(30), cv=cv)


def test_time_and_groups_make_rows_different(rng):
    points, y = np.zeros(6), np.zeros(6)
    points[5] = 1.0
    groups = np.array(["a", "a", "b", "b", "a", "a"], dtype=object)
    alone, _ = split_rows(points, y, np.ones(6), groups=groups, cv=2)
    assert sorted(alone.weights.tolist()) == [1.0, 2.0, 3.0]
    both, splits = split_rows(points, y, np.ones(6), groups=groups, time=np.array([0, 0, 0, 1, 1, 1]), cv=1)
    assert sorted(both.weights.tolist()) == [1.0, 1.0, 1.0, 1.0, 2.0]
    assert len(splits) == 1 and both.weights[splits[0][0]].sum() == 3
