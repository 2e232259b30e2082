"""Pairs of classes, coupled."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB

from calibrant import IsotonicCalibrator, PairwiseCalibrator, PlattCalibrator, VennAbersCalibrator
from calibrant.classification.reductions.pairwise import coupled, odds_added


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


def price(r):
    """Price et al. (1994): P(j | x) = 1 / (sum over k of 1 / r[j, k], less K - 2), made to add up to 1."""
    classes = len(r)
    p = [1 / (sum(1 / r[j, k] for k in range(classes) if k != j) - (classes - 2)) for j in range(classes)]
    return np.array(p) / sum(p)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_sums_of_odds_as_published(classes, rng):
    pairs = list(combinations(range(classes), 2))
    says = rng.uniform(0.02, 0.98, (4, len(pairs)))
    for row, found in zip(says, odds_added(says), strict=True):
        r = np.zeros((classes, classes))
        for (j, k), second in zip(pairs, row, strict=True):
            r[k, j], r[j, k] = second, 1 - second
        np.testing.assert_allclose(found, price(r), rtol=1e-12)


def test_equals_the_venn_abers_package(rng):
    package = pytest.importorskip("venn_abers.venn_abers")
    x = rng.normal(0, 1, (900, 6))
    y = (x + rng.gumbel(size=x.shape) / 3).argmax(axis=1)
    p = softmax(2 * x, axis=1)
    ours = PairwiseCalibrator(VennAbersCalibrator()).fit(p[:400], y[:400]).transform(p[400:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it divides by zero
        theirs, _ = package.predict_proba_prefitted_va(p[:400], y[:400], p[400:], va_tpe="one_vs_one")
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("binary", [VennAbersCalibrator(), PlattCalibrator()])
def test_sums_of_odds_lose_less_than_likelihood_on_digits(binary):
    X, y = load_digits(return_X_y=True)
    for split in range(2):
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=split, stratify=y)
        held_out = cross_val_predict(GaussianNB(var_smoothing=1e-3), train, y_train, cv=5, method="predict_proba")
        new = GaussianNB(var_smoothing=1e-3).fit(train, y_train).predict_proba(test)
        by_odds, likely = (
            PairwiseCalibrator(binary, coupling=coupling).fit(held_out, y_train).transform(new)
            for coupling in ("odds", "likelihood")
        )
        rows = np.arange(len(test))
        assert np.log(by_odds[rows, y_test]).mean() > np.log(likely[rows, y_test]).mean() + 0.02


def test_pairs_that_agree_are_kept(rng):
    p = rng.dirichlet(np.ones(6), 50)
    says = np.column_stack([p[:, k] / (p[:, j] + p[:, k]) for j, k in combinations(range(6), 2)])
    np.testing.assert_allclose(odds_added(says), p, rtol=1e-9)
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


@pytest.mark.parametrize("coupling", ["odds", "likelihood"])
def test_recovers_probabilities_that_one_against_rest_cannot(coupling, rng):
    """Logits that are off by a factor and class offsets: every pair is a sigmoid of its score."""
    x = rng.normal(0, 1.5, (30_000, 4))
    true = softmax(x, axis=1)
    y = (true.cumsum(axis=1) > rng.random((30_000, 1))).argmax(axis=1)
    given = softmax(2 * x + [0.0, 1.0, -1.0, 0.5], axis=1)
    pairs = PairwiseCalibrator(coupling=coupling).fit(given, y).transform(given)
    rest = PlattCalibrator().fit(given, y).transform(given)
    off, rest_off = np.abs(pairs - true).mean(), np.abs(rest - true).mean()
    assert off < 0.005 and rest_off > 3 * off


def test_other_libraries_and_errors(rng):
    p, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    out = PairwiseCalibrator(IsotonicRegression(out_of_bounds="clip")).fit(p, y).transform(p)
    np.testing.assert_allclose(out.sum(axis=1), 1)
    with pytest.raises(TypeError, match="`calibrator` must have fit and one of transform, predict_proba, predict"):
        PairwiseCalibrator("platt").fit(p, y)
    with pytest.raises(ValueError, match="`coupling` must be one of 'odds', 'likelihood'; got 'price'"):
        PairwiseCalibrator(coupling="price").fit(p, y)
