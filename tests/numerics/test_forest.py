from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from calibrant.calibration.boosting.from_lightgbm import forest_of
from calibrant.numerics.forest import Forest


def tree(**changes):
    """x0 <= 1: (category of x1 in {0, 2}: 1 else 2), else (x0 <= 5, missing on the right: 4 else 8)."""
    pad = [-1] * 4
    parts = {
        "feature": np.array([[0, 1, 0, *pad]]),
        "left": np.array([[1, -1, -3, *pad]]),
        "right": np.array([[2, -2, -4, *pad]]),
        "threshold": np.array([[1.0, 0.0, 5.0, 0, 0, 0, 0]]),
        "missing_left": np.zeros((1, 7), dtype=bool),
        "value": np.array([[1.0, 2.0, 4.0, 8.0, 0, 0, 0, 0]]),
        "output": np.array([0]),
        "members": np.array([[0, 1, 0], [0, 1, 2]]),
        "categories": np.array([0, 3]),
        "n_outputs": 2,
    }
    return Forest(**(parts | changes))


def test_values_by_hand():
    nan = np.nan
    x = np.array([[1, 0], [1, 1], [0, 2], [0, nan], [0, 9], [0, -1], [1.1, 0], [5, 0], [5.1, 0], [nan, 0]])
    assert tree()(x)[:, 0].tolist() == [1, 2, 1, 2, 2, 2, 4, 4, 8, 8]
    assert not tree()(x)[:, 1].any()
    left = np.array([[True, True, False, *[False] * 4]])
    assert tree(missing_left=left)(np.array([[nan, nan], [nan, 1.0]]))[:, 0].tolist() == [1, 2]


def test_a_tree_without_nodes_is_its_first_leaf():
    none = tree(feature=np.full((1, 7), -1), members=np.empty((0, 3), dtype=int))
    none._check_sound()
    assert none(np.zeros((2, 2)))[:, 0].tolist() == [1, 1]
    assert not forest_of([], np.array([0, 0]), 2)(np.zeros((3, 2))).any()


def test_a_sound_tree_is_sound():
    tree()._check_sound()


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"left": np.array([[1, -1, 0, -1, -1, -1, -1]])}, "children"),
        ({"left": np.array([[2, -1, -3, -1, -1, -1, -1]])}, "children"),
        ({"left": np.array([[1, -1, -1, -1, -1, -1, -1]])}, "children"),
        ({"left": np.array([[1, -1, -7, -1, -1, -1, -1]])}, "children"),
        ({"left": np.array([[5, -1, -3, -1, -1, -1, -1]])}, "children"),
        ({"feature": np.array([[0, -1, 0, -1, -1, -1, -1]])}, "children"),
        ({"feature": np.array([[2, 1, 0, -1, -1, -1, -1]])}, "features"),
        ({"value": np.full((1, 8), np.inf)}, "finite"),
        ({"value": np.zeros((1, 7))}, "belong together"),
        ({"value": np.zeros((1, 8), dtype=int)}, "finite"),
        ({"threshold": np.full((1, 7), np.nan)}, "missing"),
        ({"missing_left": np.zeros((1, 7))}, "kind"),
        ({"output": np.array([2])}, "outputs"),
        ({"output": np.array([0.0])}, "whole"),
        ({"members": np.array([[0, 1, 3]])}, "members"),
        ({"members": np.array([[1, 1, 0]])}, "members"),
        ({"members": np.array([[0, 4, 0]])}, "members"),
        ({"members": np.array([[0, 0, 0]])}, "members"),
        ({"categories": np.array([0, -3])}, "counts"),
        ({"n_outputs": 0}, "counts"),
        ({"n_outputs": 1e9}, "whole"),
    ],
)
def test_what_is_no_tree_is_refused(changes, what):
    with pytest.raises(ValueError, match=what):
        tree(**changes)._check_sound()


def test_outputs_in_order():
    two = {f.name: getattr(tree(), f.name) for f in dataclasses.fields(Forest)}
    stacked = {
        name: np.concatenate([part, part])
        for name, part in two.items()
        if np.ndim(part) and name not in ("members", "categories")
    }
    with pytest.raises(ValueError, match="decrease"):
        tree(**stacked | {"output": np.array([1, 0])})._check_sound()
    both = tree(**stacked | {"output": np.array([0, 1]), "members": np.array([[0, 1, 0], [0, 1, 2]])})
    both._check_sound()
    assert both(np.array([[1.0, 0.0]])).tolist() == [[1, 2]]


def test_equals_lightgbm_with_missing_values_and_categories(rng):
    lightgbm = pytest.importorskip("lightgbm")
    n = 3000
    x = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 40, n), rng.integers(0, 3, n)])
    x[rng.random(n) < 0.1, 0] = np.nan
    x[rng.random(n) < 0.1, 3] = np.nan
    target = np.nan_to_num(x[:, 0], nan=2.0) + (x[:, 1] > 0.3) * x[:, 2] + np.sin(7 * np.nan_to_num(x[:, 3])) + x[:, 4]
    settings = {
        "objective": "none",
        "num_class": 2,
        "num_leaves": 8,
        "verbosity": -1,
        "num_threads": 1,
        "min_data_per_group": 20,
    }
    data = lightgbm.Dataset(x, target, categorical_feature=[3, 4], free_raw_data=False)
    model = lightgbm.Booster(settings, data)
    for _ in range(60):
        model.update(fobj=lambda p, _: ((p - np.column_stack([target, target**2])), np.ones((n, 2))))
    sizes = np.array([0, 0, 0, 40, 3])
    forest = forest_of([(model, 60)], sizes, 2)
    forest._check_sound()
    assert len(forest.members) > 100 and len(forest) == 120
    new = np.column_stack([rng.normal(size=(n, 3)) * 2, rng.integers(0, 60, n), rng.integers(0, 5, n)])
    new[rng.random(new.shape) < 0.2] = np.nan
    for rows in (x, new):
        assert np.allclose(forest(rows), model.predict(rows, raw_score=True), rtol=0, atol=1e-9)
    some = forest_of([(model, 30), (model, 10)], sizes, 2)(new)
    parts = [model.predict(new, raw_score=True, num_iteration=k) for k in (30, 10)]
    assert np.allclose(some, np.mean(parts, axis=0), rtol=0, atol=1e-9)


# ---- against a walk down the trees, row by row ----
SIZES = np.array([0, 4, 0, 70])


def grown(rng, trees, outputs):
    """Trees of all shapes of one to eight leaves, on two numbers and two categories."""
    feature, left, right = np.full((3, trees, 7), -1)
    threshold, missing = np.zeros((trees, 7)), rng.random((trees, 7)) < 0.5
    members = []

    def below(tree, leaves, taken):
        """Number a node and what is below it; ``taken`` are the numbers of nodes and leaves so far."""
        if leaves == 1:
            taken[1] += 1
            return -taken[1]
        node, f = taken[0], int(rng.integers(4))
        taken[0] += 1
        feature[tree, node], threshold[tree, node] = f, rng.integers(-3, 4) / 2
        if SIZES[f]:
            codes = rng.permutation(SIZES[f])[: rng.integers(0, SIZES[f])]
            members.extend((tree, node, int(code)) for code in codes)
        share = int(rng.integers(1, leaves))
        left[tree, node] = below(tree, share, taken)
        right[tree, node] = below(tree, leaves - share, taken)
        return node

    for tree in range(trees):
        below(tree, int(rng.integers(1, 9)), [0, 0])
    output = np.sort(rng.integers(0, outputs, trees))
    known = np.array(members, dtype=int).reshape(-1, 3)
    return Forest(feature, left, right, threshold, missing, rng.normal(size=(trees, 8)), output, known, SIZES, outputs)


def walked(forest, members, row):
    """Sums of the leaves that a row comes to, one node after another."""
    sums = np.zeros(forest.n_outputs)
    for tree, output in enumerate(forest.output):
        node = 0 if forest.feature[tree, 0] >= 0 else -1
        while node >= 0:
            x, f = row[forest.feature[tree, node]], forest.feature[tree, node]
            if np.isnan(x) or (SIZES[f] and not 0 <= x < SIZES[f]):
                goes_left = forest.missing_left[tree, node]
            else:
                goes_left = (tree, node, int(x)) in members if SIZES[f] else x <= forest.threshold[tree, node]
            node = (forest.left if goes_left else forest.right)[tree, node]
        sums[output] += forest.value[tree, ~node]
    return sums


@pytest.mark.parametrize(("trees", "outputs", "rows"), [(1, 1, 1), (61, 3, 65), (33, 2, 5000), (200, 1, 16_400)])
def test_equals_a_walk_down_the_trees(rng, trees, outputs, rows):
    forest = grown(rng, trees, outputs)
    forest._check_sound()
    numbers, labels = rng.integers(-4, 5, (2, rows)) / 2, rng.integers(-1, [[5], [72]], (2, rows))
    x = np.column_stack([numbers[0], labels[0], numbers[1], labels[1]]).astype(float)
    x[rng.random(x.shape) < 0.1] = np.nan
    x[rng.random(rows) < 0.1, 0], x[rng.random(rows) < 0.1, 2] = np.inf, -np.inf
    found, members = forest(x), set(map(tuple, forest.members.tolist()))
    for row in {0, rows - 1, *rng.integers(0, rows, 40).tolist()}:
        assert found[row] == pytest.approx(walked(forest, members, x[row]), rel=0, abs=1e-12)
