"""Venn-Abers prediction against its definition and the venn-abers package."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from calibrant.classification.venn_abers import VennAbersCalibrator


def brute_force(p, y, new, w=None):
    """Isotonic regression with the new row in it, once as 0 and once as 1."""
    w = np.ones(len(p)) if w is None else w
    out = np.empty((len(new), 2))
    for i, score in enumerate(new):
        scores, places = np.unique(np.append(p, score), return_inverse=True)
        weights = np.bincount(places, np.append(w, 1.0))
        for outcome in (0, 1):
            means = np.bincount(places, np.append(w * y, outcome)) / weights
            out[i, outcome] = isotonic_regression(means, weights=weights).x[np.searchsorted(scores, score)]
    return out


TRUTHS = {
    "curved": lambda p: p**1.5,
    "falling": lambda p: 1 - p,
    "sharp": lambda p: 0.02 + 0.96 * (p > 0.5),
    "pure": lambda p: 1.0 * (p > 0.5),
    "flat": lambda p: 0.3 + 0 * p,
}


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("n", [2, 9, 80])
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_definition(truth, n, digits, weighted, rng):
    p = rng.random(n)
    y = rng.random(n) < TRUTHS[truth](p)
    y[:2] = False, True
    p = p if digits is None else np.round(p, digits)
    w = rng.uniform(0.2, 4, n) if weighted else None
    new = np.unique(np.concatenate([p, rng.random(25), np.round(rng.random(5), 1), [0.0, 1.0]]))
    calibrator = VennAbersCalibrator().fit(p, y, sample_weight=w)
    expected = brute_force(p, y, new, w)
    np.testing.assert_allclose(calibrator.intervals(new), expected, rtol=0, atol=1e-12)
    p0, p1 = expected.T
    np.testing.assert_allclose(calibrator.transform(new)[:, 1], p1 / (1 - p0 + p1), rtol=0, atol=1e-11)


@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize("n", [50, 5000])
def test_equals_the_venn_abers_package(n, digits, rng):
    venn_abers = pytest.importorskip("venn_abers")
    p = rng.beta(2, 2, n) if digits is None else np.round(rng.beta(2, 2, n), digits)
    y = (rng.random(n) < p**1.5).astype(int)
    new = np.concatenate([p, rng.random(1000)])
    theirs = venn_abers.VennAbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it divides by zero
        theirs.fit(np.column_stack([1 - p, p]), y)
        probabilities, bounds = theirs.predict_proba(np.column_stack([1 - new, new]))
    calibrator = VennAbersCalibrator().fit(p, y)
    np.testing.assert_allclose(calibrator.intervals(new), bounds, rtol=0, atol=1e-12)
    np.testing.assert_allclose(calibrator.transform(new), probabilities, rtol=0, atol=1e-11)


@pytest.mark.parametrize("base", [GaussianNB(), KNeighborsClassifier()])
def test_several_classes_equal_the_package_one_against_the_rest_and_beat_its_pairs(base):
    package = pytest.importorskip("venn_abers.venn_abers")
    X, y = load_digits(return_X_y=True)
    losses = []
    for split in range(2):
        train, rest, y_train, y_rest = train_test_split(X, y, test_size=0.7, random_state=split, stratify=y)
        p, (half, rows) = base.fit(train, y_train).predict_proba(rest), (len(rest) // 2, np.arange(len(rest) // 2))
        known, new, labels, truth = p[:half], p[-half:], y_rest[:half], y_rest[-half:]
        ours = VennAbersCalibrator().fit(known, labels).transform(new)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it divides by zero
            theirs = [
                package.predict_proba_prefitted_va(known, labels, new, va_tpe=way)[0]
                for way in ("one_vs_rest", "one_vs_one")
            ]
        np.testing.assert_allclose(ours, theirs[0], rtol=0, atol=1e-9)
        losses.append([-np.log(each[rows, truth]).mean() for each in (ours, theirs[1])])
    ours, pairs = np.mean(losses, axis=0)
    assert ours < pairs


def test_by_hand():
    calibrator = VennAbersCalibrator(scores_are="margins").fit([-1.0, 1.0], [0, 1])
    expected = [[0, 1 / 2], [0, 1 / 2], [0, 1], [1 / 2, 1], [1 / 2, 1]]
    np.testing.assert_allclose(calibrator.intervals([-2.0, -1.0, 0.0, 1.0, 2.0]), expected)
    p = calibrator.transform([-2.0, 0.0, 2.0])[:, 1]
    np.testing.assert_allclose(p, [1 / 3, 1 / 2, 2 / 3])


def test_bounds_bracket_and_increase(rng):
    p = rng.random(3000)
    y = rng.random(3000) < p
    calibrator = VennAbersCalibrator().fit(p, y)
    bounds = calibrator.intervals(np.sort(rng.random(2000)))
    assert (bounds[:, 0] < bounds[:, 1]).all() and (np.diff(bounds, axis=0) >= 0).all()
    out = calibrator.transform(p)[:, 1]
    inside = calibrator.intervals(p)
    assert (out > inside[:, 0]).all() and (out < inside[:, 1]).all()
    assert np.mean(inside[:, 1] - inside[:, 0]) < 0.03
    knots = calibrator.curves_[0].knots
    assert (np.diff(knots) > 0).all() and len(knots) < 600  # not one for each row


def test_several_classes_have_bounds_each(rng):
    p = rng.dirichlet(np.ones(3), 300)
    y = (p.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1)
    calibrator = VennAbersCalibrator().fit(p, y)
    bounds = calibrator.intervals(p[:7])
    assert bounds.shape == (7, 3, 2)
    for j in range(3):
        alone = VennAbersCalibrator().fit(p[:, j], y == j)
        np.testing.assert_array_equal(bounds[:, j], alone.intervals(p[:7, j]))
    upper, lower = bounds[:, :, 1], bounds[:, :, 0]
    each = upper / (1 - lower + upper)
    np.testing.assert_allclose(calibrator.transform(p[:7]), each / each.sum(axis=1, keepdims=True), atol=1e-15)


def test_one_of_the_two_comes_true(rng):
    """Mean of the probability that goes with the outcome equals the share of events, as the theory says."""
    gaps = []
    for _ in range(300):
        x = rng.normal(0, 1, 41)
        y = rng.random(41) < 1 / (1 + np.exp(-2 * x))
        if 0 < y[:40].sum() < 40:
            p0, p1 = VennAbersCalibrator(scores_are="margins").fit(x[:40], y[:40]).intervals(x[40:])[0]
            gaps.append((p1 if y[40] else p0) - y[40])
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / np.sqrt(len(gaps))
