"""Platt's method against scikit-learn and a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.svm import LinearSVC

from calibrant.classification.platt import PlattCalibrator, smoothed_targets


def rows(rng, n, slope=1.3, level=-0.4, spread=2.0):
    x = rng.normal(0, spread, n)
    return x, (rng.random(n) < expit(slope * x + level)).astype(int)


def minimum(x, y, w=None):
    """A and B of least cross-entropy by another optimiser, from Platt's formulas."""
    w = np.ones(len(x)) if w is None else w
    more, fewer = w[y == 1].sum(), w[y == 0].sum()
    t = np.where(y == 1, (more + 1) / (more + 2), 1 / (fewer + 2))

    def loss(ab):
        h = -(ab[0] * x + ab[1])
        slope = w * (expit(h) - t)
        return (w * (np.logaddexp(0, h) - t * h)).sum(), -np.array([slope @ x, slope.sum()])

    return minimize(loss, [0.0, 0.0], jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 500}).x


@pytest.mark.parametrize("n", [8, 500, 30_000])
def test_equals_a_general_optimiser(n, rng):
    x, y = rows(rng, n)
    w = rng.integers(1, 5, n).astype(float)
    for weights in (None, w):
        curve = PlattCalibrator(scores_are="margins").fit(x, y, sample_weight=weights).curves_[0]
        np.testing.assert_allclose([curve.A, curve.B], minimum(x, y, weights), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n", [60, 1000, 40_000])
@pytest.mark.parametrize("spread", [0.01, 2.0, 500.0])
def test_equals_scikit_learn_on_margins(n, spread, rng):
    x, y = rows(rng, n, 2.6 / spread, 0.3, spread)
    model = LinearSVC().fit([[-1.0], [1.0]], [0, 1])
    model.coef_, model.intercept_ = np.array([[1.0]]), np.array([0.0])  # decision_function(x) = x
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid", ensemble=False).fit(x[:, None], y)
    ours = PlattCalibrator(scores_are="margins").fit(x, y)
    np.testing.assert_allclose(ours.transform(x), theirs.predict_proba(x[:, None]), rtol=0, atol=2e-7)


def test_letters_have_platts_signs(rng):
    x, y = rows(rng, 4000, slope=2.0, level=-1.0)
    curve = PlattCalibrator(scores_are="margins").fit(x, y).curves_[0]
    assert abs(curve.A + 2.0) < 0.2 and abs(curve.B - 1.0) < 0.15
    assert curve(np.array([3.0]))[0] == pytest.approx(1 / (1 + np.exp(curve.A * 3 + curve.B)))


def test_a_calibrated_classifier_stays_what_it_is(rng):
    p = rng.beta(1, 2, 200_000)
    y = rng.random(200_000) < p
    calibrator = PlattCalibrator().fit(p, y)
    assert abs(calibrator.curves_[0].A + 1) < 0.02 and abs(calibrator.curves_[0].B) < 0.02
    np.testing.assert_allclose(calibrator.transform(p)[:, 1], p, atol=0.005)


def test_many_rows_are_fitted_exactly(rng):
    x, y = rows(rng, 100_000, spread=1.0)
    targets = smoothed_targets(y == 1, np.ones(len(y)))
    outliers = np.where(np.arange(len(x)) < 50, 300 * x, x)  # beyond all bins
    heavy = x / rng.random(len(x)) ** 2  # most of it in one bin
    for score in (x, outliers, heavy, 1e-4 * x + 3):
        curve = PlattCalibrator(scores_are="margins").fit(score, y).curves_[0]
        error = expit(-(curve.A * score + curve.B)) - targets
        spread = score.std()
        assert abs(error.sum()) < 1e-5 and abs(error @ (score - score.mean())) < 1e-5 * spread


def test_targets_by_hand():
    targets = smoothed_targets(np.array([True, False, False]), np.array([2.0, 1.0, 3.0]))
    np.testing.assert_allclose(targets, [0.75, 1 / 6, 1 / 6])
    np.testing.assert_array_equal(smoothed_targets(np.array([True, False]), np.ones(2), 0.0), [1.0, 0.0])


def test_constant_scores_have_no_slope():
    for value in (0.0, 1e-300, 7.3, 1e9):
        curve = PlattCalibrator(scores_are="margins").fit(np.full(30, value), [0] * 10 + [1] * 20).curves_[0]
        assert curve.A == 0.0
        expected = (20 * 21 / 22 + 10 * 1 / 12) / 30
        assert curve(np.array([value]))[0] == pytest.approx(expected, abs=1e-12)


def test_far_scores_and_tiny_spreads(rng):
    x, y = rows(rng, 400)
    near = PlattCalibrator(scores_are="margins").fit(x, y).transform(x)
    for shift, scale in ((1e6, 1.0), (0.0, 1e-100), (-1e5, 1e5), (0.0, 1e100)):
        moved = scale * x + shift
        out = PlattCalibrator(scores_are="margins").fit(moved, y).transform(moved)
        np.testing.assert_allclose(out, near, rtol=0, atol=1e-7)


def test_zeros_of_a_forest_are_half_the_least_score():
    p, y = [0.0, 0.0, 0.02, 0.5, 0.98, 1.0, 1.0], [0, 1, 0, 1, 1, 1, 1]
    calibrator = PlattCalibrator().fit(p, y)
    assert calibrator.nearest_ == pytest.approx(0.01)
    moved = np.clip(p, 0.01, 0.99)
    np.testing.assert_allclose(calibrator.transform(p), PlattCalibrator().fit(moved, y).transform(moved), atol=1e-12)
