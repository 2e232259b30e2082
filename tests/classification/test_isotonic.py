"""Isotonic calibration, plain and smooth, against scikit-learn, scipy and the chapter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score

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


def test_scores_next_to_zero_have_probabilities():
    """The slope between 0 and the least number of all overflows."""
    p = np.array([0.0, 5e-324, 1e-310, 1e-300, 0.2, 0.6, 0.9, 1.0])
    cal = IsotonicCalibrator().fit(p, [0, 1, 0, 1, 0, 1, 1, 1])
    found = cal.transform(np.concatenate([p, [2e-323]]))[:, 1]
    assert np.isfinite(found).all() and ((found > 0) & (found < 1)).all()
    three = np.column_stack([p, (1 - p) / 3, 2 * (1 - p) / 3])
    assert np.isfinite(IsotonicCalibrator().fit(three, [0, 1, 2, 0, 1, 2, 0, 0]).transform(three)).all()
