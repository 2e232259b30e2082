"""One temperature for all classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from calibrant.classification.temperature import TemperatureCalibrator


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose X are its decision values."""

    def __init__(self, classes=2):
        self.classes = classes
        self.classes_ = np.arange(classes)

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X.argmax(axis=1)

    def decision_function(self, X):
        return X


def sample(n, classes, temperature, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, (n, classes))
    return x * temperature, (x + rng.gumbel(size=x.shape)).argmax(axis=1)


def penalised(x, y, weights, penalty):
    def loss(beta):
        logs = log_softmax(beta * log_softmax(x, axis=1), axis=1)
        return -(weights * logs[np.arange(len(y)), y]).sum() + penalty * (beta - np.log(beta) - 1)

    return loss


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator does not appear to accept")
@pytest.mark.parametrize("classes", [3, 10])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 5.0])
def test_same_as_scikit_learn(classes, temperature):
    x, y = sample(2000, classes, temperature)
    weights = np.random.default_rng(1).integers(1, 4, 2000).astype(float)
    peer = CalibratedClassifierCV(FrozenEstimator(Given(classes)), method="temperature").fit(
        x, y, sample_weight=weights
    )
    beta = peer.calibrated_classifiers_[0].calibrators[0].beta_
    ours = TemperatureCalibrator(penalty=0.0, scores_are="logits").fit(x, y, sample_weight=weights)
    # theirs compares values of the loss, which tells temperatures apart to the root of the machine precision only
    assert 1 / ours.temperature_ == pytest.approx(beta, rel=2e-7)
    np.testing.assert_allclose(ours.transform(x), peer.predict_proba(x), atol=1e-7)
    slope = ((softmax(x / ours.temperature_, axis=1) * x).sum(axis=1) - x[np.arange(2000), y]) @ weights
    theirs = ((softmax(beta * x, axis=1) * x).sum(axis=1) - x[np.arange(2000), y]) @ weights
    assert abs(slope) <= 1e-8 * np.abs(x).sum() and abs(slope) <= abs(theirs)


def test_penalised_optimum_and_formula():
    x, y = sample(60, 4, 2.0)
    weights = np.random.default_rng(0).uniform(0, 3, 60)
    loss = penalised(x, y, weights, 3.0)
    expected = minimize_scalar(loss, bounds=(1e-3, 10), options={"xatol": 1e-12}).x
    ours = TemperatureCalibrator(penalty=3.0, scores_are="logits").fit(x, y, sample_weight=weights)
    assert 1 / ours.temperature_ == pytest.approx(expected, rel=1e-6)
    p = softmax(x, axis=1)
    np.testing.assert_allclose(
        TemperatureCalibrator(penalty=3.0).fit(p, y, sample_weight=weights).transform(p),
        softmax(np.log(p) / ours.temperature_, axis=1),
        rtol=1e-9,
    )


def test_recovers_the_temperature_and_many_rows_start_from_few():
    x, y = sample(100_000, 3, 2.5)
    calibrator = TemperatureCalibrator(scores_are="logits").fit(x, y)
    assert calibrator.temperature_ == pytest.approx(2.5, rel=0.02)
    order = np.random.default_rng(0).permutation(len(y))
    again = TemperatureCalibrator(scores_are="logits").fit(x[order], y[order])
    assert again.temperature_ == pytest.approx(calibrator.temperature_, rel=1e-11)


def test_two_classes_are_a_logistic_slope():
    x, y = sample(500, 2, 1.5)
    margin = x[:, 1] - x[:, 0]
    both = TemperatureCalibrator(scores_are="logits").fit(x, y)
    one = TemperatureCalibrator(scores_are="logits").fit(margin, y)
    assert one.temperature_ == pytest.approx(both.temperature_, rel=1e-10)
    np.testing.assert_allclose(one.transform(margin)[:, 1], 1 / (1 + np.exp(-margin / one.temperature_)))


def test_weights_are_frequencies():
    x, y = sample(40, 3, 2.0)
    weights = np.random.default_rng(0).integers(0, 4, 40)
    once = TemperatureCalibrator(scores_are="logits").fit(x, y, sample_weight=weights)
    again = TemperatureCalibrator(scores_are="logits").fit(np.repeat(x, weights, axis=0), np.repeat(y, weights))
    assert once.temperature_ == pytest.approx(again.temperature_, rel=1e-11)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_extremes(penalty):
    p = np.array([[0.9, 0.1], [0.2, 0.8], [1.0, 0.0], [0.0, 1.0]])
    right = TemperatureCalibrator(penalty=penalty).fit(p, [0, 1, 0, 1])
    assert 0 < right.temperature_ < 1 and np.isfinite(right.transform(p)).all()
    wrong = TemperatureCalibrator(penalty=penalty).fit(p, [1, 0, 1, 0])
    assert wrong.temperature_ > (5 if penalty else 1e4) and np.isfinite(wrong.transform(p)).all()
    assert wrong.nearest_ == 0.05  # what 0 is taken for: half of 0.1
    constant = TemperatureCalibrator(penalty=penalty).fit(np.full((4, 2), 0.5), [0, 1, 0, 1])
    np.testing.assert_allclose(constant.transform([[0.5, 0.5]]), 0.5)
    assert (right.transform(p) >= 1e-12).all()


def test_few_rows_do_little_harm():
    calibrator = TemperatureCalibrator().fit([0.3, 0.6], [0, 1])
    assert calibrator.temperature_ > 0.4
    x, y = sample(3, 26, 1.0)
    assert np.isfinite(TemperatureCalibrator(scores_are="logits").fit(x, y, classes=np.arange(26)).temperature_)


def test_errors():
    with pytest.raises(ValueError, match="`penalty` must be 0 or positive"):
        TemperatureCalibrator(penalty=-1.0).fit([0.2, 0.8], [0, 1])
    with pytest.raises(ValueError, match="margins are no probabilities"):
        TemperatureCalibrator(scores_are="margins").fit([-2.0, 8.0], [0, 1])
    with pytest.raises(ValueError, match="positive scores are no probabilities"):
        TemperatureCalibrator(scores_are="positive").fit([[2.0, 8.0], [1.0, 2.0]], [0, 1])
