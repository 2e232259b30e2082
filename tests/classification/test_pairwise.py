"""Pairs of classes, coupled."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.isotonic import IsotonicRegression

from calibrant import IsotonicCalibrator, PairwiseCalibrator, PlattCalibrator
from calibrant.classification.reductions.pairwise import coupled


def hastie_tibshirani(r, n, rounds=20_000):
    """Hastie & Tibshirani (1998), section 2: r[j, k] = P(j | j or k), n[j, k] rows."""
    classes = len(r)
    p = np.full(classes, 1 / classes)
    for _ in range(rounds):
        for j in range(classes):
            others = [k for k in range(classes) if k != j]
            mu = [p[j] / (p[j] + p[k]) for k in others]
            p[j] *= sum(n[j, k] * r[j, k] for k in others) / sum(n[j, k] * m for k, m in zip(others, mu, strict=True))
            p /= p.sum()
    return p


def test_coupling_as_published(rng):
    for classes in (3, 5):
        pairs = list(combinations(range(classes), 2))
        says, rows = rng.uniform(0.02, 0.98, (4, len(pairs))), rng.integers(5, 90, len(pairs)).astype(float)
        found = coupled(says, rows)
        for i in range(4):
            r, n = np.zeros((classes, classes)), np.zeros((classes, classes))
            for (j, k), second, number in zip(pairs, says[i], rows, strict=True):
                r[k, j], r[j, k], n[j, k], n[k, j] = second, 1 - second, number, number
            np.testing.assert_allclose(found[i], hastie_tibshirani(r, n, 400), rtol=0, atol=1e-7)


def test_pairs_that_agree_are_kept(rng):
    p = rng.dirichlet(np.ones(6), 50)
    says = np.column_stack([p[:, k] / (p[:, j] + p[:, k]) for j, k in combinations(range(6), 2)])
    np.testing.assert_allclose(coupled(says, rng.integers(1, 9, 15).astype(float)), p, rtol=1e-6, atol=1e-12)


def test_each_pair_learns_from_its_own_rows(rng):
    p, y = rng.dirichlet(np.ones(3), 300), rng.integers(0, 3, 300)
    model = PairwiseCalibrator(IsotonicCalibrator()).fit(p, y)
    for (j, k), each in zip(combinations(range(3), 2), model.calibrators_, strict=True):
        mine = (y == j) | (y == k)
        alone = IsotonicCalibrator().fit(p[mine, k] / (p[mine, j] + p[mine, k]), y[mine] == k)
        new = rng.random(20)
        np.testing.assert_allclose(each.transform(new), alone.transform(new), rtol=1e-12)
    np.testing.assert_array_equal(model.pair_rows_, [np.sum((y == j) | (y == k)) for j, k in combinations(range(3), 2)])


def test_two_classes_are_the_calibrator_itself(rng):
    p, y = rng.random(200), rng.integers(0, 2, 200)
    np.testing.assert_allclose(PairwiseCalibrator().fit(p, y).transform(p), PlattCalibrator().fit(p, y).transform(p))


def test_recovers_probabilities_that_one_against_rest_cannot(rng):
    """Logits that are off by a factor and class offsets: every pair is a sigmoid of its score."""
    x = rng.normal(0, 1.5, (30_000, 4))
    true = softmax(x, axis=1)
    y = (true.cumsum(axis=1) > rng.random((30_000, 1))).argmax(axis=1)
    given = softmax(2 * x + [0.0, 1.0, -1.0, 0.5], axis=1)
    pairs = PairwiseCalibrator().fit(given, y).transform(given)
    rest = PlattCalibrator().fit(given, y).transform(given)
    off, rest_off = np.abs(pairs - true).mean(), np.abs(rest - true).mean()
    assert off < 0.005 and rest_off > 3 * off


def test_other_libraries_and_errors(rng):
    p, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    out = PairwiseCalibrator(IsotonicRegression(out_of_bounds="clip")).fit(p, y).transform(p)
    np.testing.assert_allclose(out.sum(axis=1), 1)
    with pytest.raises(TypeError, match="`calibrator` must have fit and one of transform, predict_proba, predict"):
        PairwiseCalibrator("platt").fit(p, y)
