"""One class against the rest with calibrators of others and our own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from calibrant.classification.beta import BetaCalibrator
from calibrant.classification.binning import BinningCalibrator
from calibrant.classification.isotonic import IsotonicCalibrator
from calibrant.classification.platt import PlattCalibrator
from calibrant.classification.reductions.one_vs_rest import OneVsRestCalibrator
from calibrant.classification.smooth_isotonic import SmoothIsotonicCalibrator
from calibrant.classification.venn_abers import VennAbersCalibrator

OURS = [
    PlattCalibrator(),
    BetaCalibrator(),
    BinningCalibrator(),
    IsotonicCalibrator(),
    SmoothIsotonicCalibrator(),
    VennAbersCalibrator(),
]


def rows(rng, n=500, classes=3):
    x = rng.normal(0, 1, (n, classes))
    return x, (softmax(x, axis=1).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)


@pytest.mark.parametrize("calibrator", OURS, ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("kind", ["probabilities", "logits", "margins"])
@pytest.mark.parametrize("classes", [2, 4])
def test_is_what_our_calibrators_do_by_themselves(calibrator, kind, classes, rng):
    if kind == "margins" and isinstance(calibrator, BetaCalibrator):
        return
    x, y = rows(rng, classes=classes)
    scores = softmax(2 * x, axis=1) if kind == "probabilities" else 2 * x
    alone = clone(calibrator).set_params(scores_are=kind).fit(scores, y).transform(scores)
    wrapped = OneVsRestCalibrator(calibrator, scores_are=kind).fit(scores, y)
    np.testing.assert_allclose(wrapped.transform(scores), alone, rtol=0, atol=1e-9)


def test_columns_are_divided_by_their_sum(rng):
    x, y = rows(rng)
    p = softmax(2 * x, axis=1)
    wrapped = OneVsRestCalibrator(IsotonicRegression(out_of_bounds="clip"), clip=0).fit(p, y, sample_weight=1.0 + y)
    models = [IsotonicRegression(out_of_bounds="clip").fit(p[:, j], y == j, 1.0 + y) for j in range(3)]
    each = np.column_stack([model.predict(p[:, j]) for j, model in enumerate(models)])
    np.testing.assert_allclose(wrapped.transform(p), each / each.sum(axis=1, keepdims=True), atol=1e-14)


def test_two_classes_need_one(rng):
    x, y = rows(rng, classes=2)
    wrapped = OneVsRestCalibrator(_SigmoidCalibration(), scores_are="margins").fit(x[:, 1] - x[:, 0], y)
    assert len(wrapped.calibrators_) == 1
    ours = PlattCalibrator(scores_are="margins").fit(x, y).transform(x)
    np.testing.assert_allclose(wrapped.transform(x), ours, atol=1e-6)


def test_classifiers_get_a_column(rng):
    x, y = rows(rng)
    wrapped = OneVsRestCalibrator(LogisticRegression(), scores_are="logits").fit(x, y)
    each = []
    for j in range(3):
        odds = x[:, j] - np.log(np.exp(np.delete(x, j, axis=1)).sum(axis=1))
        each.append(LogisticRegression().fit(odds[:, None], y == j).predict_proba(odds[:, None])[:, 1])
    np.testing.assert_allclose(wrapped.transform(x), (each / np.sum(each, axis=0)).T, atol=1e-6)
    assert [type(c) for c in wrapped.calibrators_] == [LogisticRegression] * 3


class Halver(BaseEstimator):
    """Knows nothing of weights."""

    def __init__(self, factor=0.5):
        self.factor = factor

    def fit(self, scores, y):
        self.labels_ = np.unique(y)
        return self

    def transform(self, scores):
        return self.factor * scores


def test_a_class_without_rows_gets_what_laplace_would(rng):
    x, y = rows(rng)
    p = softmax(x, axis=1)
    kept = y != 2
    wrapped = OneVsRestCalibrator(Halver()).fit(p[kept], y[kept])
    assert wrapped.calibrators_[2] is None and wrapped.calibrators_[0].labels_.tolist() == [0, 1]
    rest = 1 / (kept.sum() + 2)
    total = 0.5 * p[0, :2].sum() + rest
    np.testing.assert_allclose(wrapped.transform(p[:1])[0], np.append(0.5 * p[0, :2], rest) / total)


def test_what_is_wrong_is_said(rng):
    x, y = rows(rng, 60)
    p = softmax(x, axis=1)
    with pytest.raises(TypeError, match="`calibrator` must have fit and one of transform"):
        OneVsRestCalibrator("platt").fit(p, y)
    with pytest.raises(ValueError, match="`transform` of the calibrator must give a probability for each of 60 rows"):
        OneVsRestCalibrator(Halver(5.0)).fit(p, y).transform(p)
    unseen = OneVsRestCalibrator(IsotonicRegression()).fit(p[:, 0], y == 0)
    with pytest.raises(ValueError, match="got nan in row 1"):
        unseen.transform([p[:, 0].mean(), 1.0])


def test_parameters_reach_inside():
    wrapped = OneVsRestCalibrator(BinningCalibrator(5))
    assert wrapped.get_params()["calibrator__n_bins"] == 5
    assert wrapped.set_params(calibrator__n_bins=3).calibrator.n_bins == 3
