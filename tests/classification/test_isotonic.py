"""Isotonic calibration, plain and smooth, against scikit-learn, scipy and the chapter."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.svm import SVC

from calibrant.classification.isotonic import IsotonicCalibrator
from calibrant.classification.smooth_isotonic import SmoothIsotonicCalibrator
from calibrant.links.groups import Groups


def rows(rng, n, digits=None):
    p = rng.random(n)
    y = rng.random(n) < p**2
    return (p if digits is None else np.round(p, digits)), y


@pytest.mark.parametrize("digits", [None, 1, 2])
@pytest.mark.parametrize("n", [5, 60, 3000])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learn(n, digits, weighted, rng):
    p, y = rows(rng, n, digits)
    y[:2] = False, True
    w = rng.integers(1, 4, n).astype(float) if weighted else None
    new = np.concatenate([p, rng.random(500), [0.0, 1.0]])
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, y, sample_weight=w).predict(new)
    ours = IsotonicCalibrator(smoothing=0, clip=0).fit(p, y, sample_weight=w)
    np.testing.assert_allclose(ours.transform(new)[:, 1], theirs, rtol=0, atol=1e-12)
    margins = IsotonicCalibrator(smoothing=0, clip=0, scores_are="margins").fit(9 * p - 4, y, sample_weight=w)
    np.testing.assert_allclose(margins.transform(9 * new - 4)[:, 1], theirs, rtol=0, atol=1e-12)


def test_equals_scipy(rng):
    p, y = rows(rng, 800)
    order = np.argsort(p)
    expected = isotonic_regression(y[order].astype(float)).x
    ours = IsotonicCalibrator(smoothing=0, clip=0).fit(p, y).transform(p[order])[:, 1]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-14)


def test_the_chapters_ten_scores():
    """Bella et al. (2010): block means of printed scores, in decreasing order; .685 of step 1 is a mean of two."""
    scores = np.array([0.76, 0.77, 0.70, 0.71, 0.66, 0.71, 0.69, 0.68, 0.48, 0.49])
    places = -np.arange(10.0)  # e1 has the highest
    blocks = Groups.of(places, scores).pooled()
    np.testing.assert_allclose(blocks.share, [0.485, 0.68, 2.06 / 3, 0.705, 0.765], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(blocks.mass, [2, 1, 3, 2, 2])
    assert round(float(blocks.share[2]), 4) == 0.6867  # printed .686


def test_smoothing_is_two_more_rows(rng):
    p, y = rows(rng, 200)
    more = np.append(p, [p.min(), p.max()]), np.append(y, [True, False])
    plain = IsotonicCalibrator(smoothing=0, clip=0).fit(*more).transform(p)
    np.testing.assert_allclose(IsotonicCalibrator().fit(p, y).transform(p), plain, rtol=0, atol=1e-14)


def test_pure_ends_by_hand():
    p = np.linspace(0.01, 0.99, 20)
    out = IsotonicCalibrator().fit(p, p > 0.5).transform(p)[:, 1]
    np.testing.assert_allclose(out, np.repeat([1 / 11, 10 / 11], 10), rtol=1e-14)


def test_log_loss_of_new_rows_is_finite_and_better(rng):
    before, after = [], []
    for _ in range(20):
        x, new = rng.normal(0, 2, 100), rng.normal(0, 2, 5000)
        y, truth = rng.random(100) < expit(2 * x), rng.random(5000) < expit(2 * new)
        for smoothing, losses in ((0.0, before), (1.0, after)):
            p = IsotonicCalibrator(smoothing, scores_are="margins").fit(x, y).transform(new)
            losses.append(-np.log(p[np.arange(5000), truth.astype(int)]).mean())
    assert max(after) < 0.5 < max(before)
    assert np.mean(after) < np.mean(before) - 0.1


@pytest.mark.parametrize("kind", ["probabilities", "margins"])
@pytest.mark.parametrize("n", [4, 50, 2000])
def test_smooth_form_keeps_the_ranking(n, kind, rng):
    x = rng.normal(0, 3, n)
    y = rng.random(n) < expit(x + np.sin(3 * x))
    y[:2] = False, True
    new = np.concatenate([x, rng.normal(0, 6, 3000)])
    scores = expit if kind == "probabilities" else (lambda t: 40 * t)
    calibrator = SmoothIsotonicCalibrator(scores_are=kind).fit(scores(x), y)
    out = calibrator.transform(scores(new))[:, 1]
    order = np.argsort(new)
    assert (np.diff(out[order]) > 0).all()
    truth = rng.random(len(new)) < expit(new)
    assert roc_auc_score(truth, out) == roc_auc_score(truth, new)


def test_smooth_form_rises_where_shares_hardly_do():
    x = np.repeat([-3.0, -1.0, 1.0, 3.0], 2)
    w = 1e9 * np.array([0.9, 0.1, 0.5, 0.5, 0.5, 0.5 + 1e-12, 0.1, 0.9])
    calibrator = SmoothIsotonicCalibrator(scores_are="margins").fit(x, np.arange(8) % 2, sample_weight=w)
    assert (np.diff(calibrator.transform(np.linspace(-4, 4, 10_001))[:, 1]) > 1e-9).all()


def test_smooth_form_goes_through_the_blocks(rng):
    x = rng.normal(0, 2, 3000)
    y = rng.random(3000) < expit(1.5 * x)
    curve = SmoothIsotonicCalibrator(scores_are="margins").fit(x, y).curves_[0]
    blocks = Groups.of(x, y).with_doubt(1.0).pooled()
    np.testing.assert_allclose(curve(blocks.x), blocks.share, atol=3e-3)
    grid = np.linspace(-8, 8, 20001)
    slope = np.diff(np.log(curve(grid) / (1 - curve(grid))))
    assert slope.min() > 0 and np.abs(np.diff(slope)).max() < 0.05 * slope.max()  # no corners
    np.testing.assert_allclose(curve(grid), expit(1.5 * grid), atol=0.12)


def test_smooth_form_of_scores_that_mean_nothing(rng):
    x, y = rng.normal(0, 1, 400), rng.random(400) < 0.3
    out = SmoothIsotonicCalibrator(scores_are="margins").fit(-np.sort(x), np.sort(y)).transform([-9.0, 0.0, 9.0])[:, 1]
    assert (np.diff(out) > 0).all()
    np.testing.assert_allclose(out, y.mean(), atol=0.01)


def test_smooth_form_loses_less_than_blocks(rng):
    gain = []
    for _ in range(20):
        x, new = rng.normal(0, 2, 300), rng.normal(0, 2, 5000)
        y, truth = rng.random(300) < expit(x), rng.random(5000) < expit(new)
        losses = []
        for kind in (IsotonicCalibrator, SmoothIsotonicCalibrator):
            p = kind(scores_are="margins").fit(x, y).transform(new)
            losses.append(-np.log(p[np.arange(5000), truth.astype(int)]).mean())
        gain.append(losses[0] - losses[1])
    assert np.mean(gain) > 0.002


def log_loss(p, y):
    return -np.log(p[np.arange(len(y)), y]).mean()


def votes(n, classes, seed):
    """Margins as of one against one: each class has its votes out of K - 1, mostly whole, and its share of noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    strength = rng.normal(0, 1, (n, classes))
    strength[np.arange(n), y] += 4.5
    rank = strength.argsort(axis=1).argsort(axis=1)
    return rank + 0.3 * np.tanh(strength - strength.mean(axis=1, keepdims=True)), y


@pytest.mark.parametrize("classes", [10, 26, 100])
def test_smooth_form_of_votes_of_many_classes_loses_no_more_than_blocks(classes):
    losses = []
    for seed in range(3):
        x, y = votes(6000, classes, seed)
        made = [
            kind(scores_are="margins").fit(x[:2000], y[:2000]).transform(x[2000:])
            for kind in (IsotonicCalibrator, SmoothIsotonicCalibrator)
        ]
        losses.append([log_loss(p, y[2000:]) for p in made])
    plain, smooth = np.mean(losses, axis=0)
    assert smooth < 1.02 * plain


def test_smooth_form_of_margins_of_digits():
    X, y = load_digits(return_X_y=True)
    losses = []
    for split in range(2):
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=split, stratify=y)
        held_out = cross_val_predict(SVC(kernel="poly"), train, y_train, cv=5, method="decision_function")
        new = SVC(kernel="poly").fit(train, y_train).decision_function(test)
        for kind in (IsotonicCalibrator, SmoothIsotonicCalibrator):
            losses.append(log_loss(kind(scores_are="margins").fit(held_out, y_train).transform(new), y_test))
    plain, smooth = np.mean(np.reshape(losses, (2, 2)), axis=0)
    assert smooth < 1.05 * plain


@pytest.mark.parametrize("weighted", [False, True])
def test_smooth_form_misses_no_half_of_a_block_by_more_than_chance(weighted, rng):
    x, classes = votes(3000, 10, 5)
    x, y = x[:, 0], classes == 0
    w = rng.integers(1, 4, 3000).astype(float) if weighted else np.ones(3000)
    curve = SmoothIsotonicCalibrator(scores_are="margins").fit(x, y, sample_weight=w).curves_[0]
    order = np.argsort(x)
    x, mass, hits = x[order], w[order], (w * y)[order]
    hits[0] += 1
    mass[[0, -1]] += 1
    ends = isotonic_regression(hits / mass, weights=mass).blocks
    p = expit(np.interp(x, curve.knots, curve.values))
    missed = []
    for a, b in pairwise(ends):
        share, centre = hits[a:b].sum() / mass[a:b].sum(), np.average(x[a:b], weights=mass[a:b])
        for half in (x[a:b] <= centre, x[a:b] > centre):
            size = mass[a:b][half].sum()
            gap = abs((mass[a:b] * (p[a:b] - share))[half].sum())
            missed.append(gap / np.sqrt(max(size * share * (1 - share), 1e-9)))
    assert 0.9 < np.max(missed) < 1.02  # 1, but for the slope that is added everywhere


def test_scores_next_to_zero_have_probabilities():
    """The slope between 0 and the least number of all overflows."""
    p = np.array([0.0, 5e-324, 1e-310, 1e-300, 0.2, 0.6, 0.9, 1.0])
    cal = IsotonicCalibrator().fit(p, [0, 1, 0, 1, 0, 1, 1, 1])
    found = cal.transform(np.concatenate([p, [2e-323]]))[:, 1]
    assert np.isfinite(found).all() and ((found > 0) & (found < 1)).all()
    three = np.column_stack([p, (1 - p) / 3, 2 * (1 - p) / 3])
    assert np.isfinite(IsotonicCalibrator().fit(three, [0, 1, 2, 0, 1, 2, 0, 0]).transform(three)).all()
