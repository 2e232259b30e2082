"""ROC curves and their concavities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.metrics import roc_curve as peer_curve

from calibrant.classification.roc import ConcavityRepair, rank_deviation, roc_curve


def sagging(n, seed, low=0.3, high=0.7):
    """Scores that rank rows the wrong way round between low and high."""
    rng = np.random.default_rng(seed)
    s = rng.random(n)
    p = np.where((s > low) & (s < high), low + high - s, s)
    return s, rng.random(n) < p


def test_curve_is_scikit_learns():
    rng = np.random.default_rng(0)
    s, y, w = rng.integers(0, 20, 200) / 20, rng.random(200) < 0.4, rng.integers(1, 4, 200).astype(float)
    curve = roc_curve(s, y, w)
    fpr, tpr, thresholds = peer_curve(y, s, sample_weight=w, drop_intermediate=False)
    np.testing.assert_allclose(curve.false_positives, fpr, atol=1e-15)
    np.testing.assert_allclose(curve.true_positives, tpr, atol=1e-15)
    np.testing.assert_allclose(curve.thresholds, thresholds)
    assert curve.area == pytest.approx(roc_auc_score(y, s, sample_weight=w))


def test_hull_is_the_upper_hull():
    s, y = sagging(300, 1)
    curve = roc_curve(s, y)
    points = np.column_stack([curve.false_positives, curve.true_positives])
    corners = points[curve.hull]
    assert corners[0].tolist() == [0, 0] and corners[-1].tolist() == [1, 1]
    above = np.interp(points[:, 0], corners[:, 0], corners[:, 1]) - points[:, 1]
    assert above[points[:, 0] > corners[1, 0]].min() > -1e-12
    slopes = np.diff(corners[:, 1]) / np.maximum(np.diff(corners[:, 0]), 1e-300)
    assert (np.diff(slopes) <= 1e-9 * slopes[:-1]).all()
    assert curve.hull_area > curve.area


def test_rank_deviation_is_mann_and_whitneys():
    rng = np.random.default_rng(0)
    values = np.arange(6)
    minus, plus = rng.integers(0, 9, 6).astype(float), rng.integers(0, 9, 6).astype(float)
    x, y = np.repeat(values, plus.astype(int)), np.repeat(values, minus.astype(int))
    peer = mannwhitneyu(x, y, alternative="less", use_continuity=False, method="asymptotic")
    from scipy.special import ndtr

    assert ndtr(rank_deviation(minus, plus)) == pytest.approx(peer.pvalue, rel=1e-9)
    assert rank_deviation(np.array([5.0]), np.array([3.0])) == 0.0


def test_repairs_what_sags_on_new_rows():
    s, y = sagging(4000, 0)
    repair = ConcavityRepair().fit(s, y)
    np.testing.assert_allclose(repair.segments_, [[0.3, 0.7]], atol=0.03)
    assert repair.repaired_.area > repair.curve_.area
    new, labels = sagging(20_000, 1)
    assert roc_auc_score(labels, repair.transform(new)) > roc_auc_score(labels, new) + 0.02
    outside = (new < 0.25) | (new > 0.75)
    np.testing.assert_array_equal(repair.transform(new)[outside], new[outside])


def test_chance_is_left_alone():
    repairs = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        s = rng.random(500)
        repairs += len(ConcavityRepair().fit(s, rng.random(500) < 0.3 + 0.4 * s).segments_)
        repairs += len(ConcavityRepair().fit(s, rng.random(500) < 0.5).segments_)
    assert repairs <= 2
    everything = ConcavityRepair(least=0.0).fit(s, rng.random(500) < 0.5)
    assert len(everything.segments_) and everything.repaired_.area > everything.curve_.area


def test_weights_are_frequencies_and_kinds_agree():
    s, y = sagging(900, 2)
    w = np.random.default_rng(0).integers(0, 4, 900)
    once = ConcavityRepair().fit(s, y, sample_weight=w)
    again = ConcavityRepair().fit(np.repeat(s, w), np.repeat(y, w))
    np.testing.assert_allclose(once.segments_, again.segments_)
    both = ConcavityRepair().fit(np.column_stack([1 - s, s]), np.where(y, "yes", "no"), sample_weight=w)
    np.testing.assert_allclose(once.transform(s), both.transform(np.column_stack([1 - s, s])))
    margins = ConcavityRepair(scores_are="margins").fit(s - 0.5, y, sample_weight=w)
    np.testing.assert_allclose(margins.transform(s - 0.5) + 0.5, once.transform(s))


def test_constant_scores_and_errors():
    constant = ConcavityRepair().fit(np.full(10, 0.4), [0, 1] * 5)
    assert len(constant.segments_) == 0 and constant.curve_.area == 0.5
    assert clone(constant).least == 4.0
    with pytest.raises(NotFittedError):
        ConcavityRepair().transform([0.1])
    with pytest.raises(ValueError, match="an ROC curve is for two classes"):
        ConcavityRepair().fit(np.full((3, 3), 1 / 3), [0, 1, 2])
    with pytest.raises(ValueError, match="at least two classes"):
        ConcavityRepair().fit([0.1, 0.2], [1, 1])
