"""Other class proportions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from calibrant.classification.prior_shift import PriorShiftCalibrator

MEANS = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
TRAINING = np.array([0.5, 0.3, 0.2])
NEW = np.array([0.1, 0.2, 0.7])


def rows(n, priors, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(len(priors), n, p=priors)
    return MEANS[y] + rng.normal(size=(n, 2)), y


def posterior(x, priors):
    """Bayes' theorem for normal classes."""
    p = priors * np.exp(-0.5 * ((x[:, None, :] - MEANS) ** 2).sum(axis=2))
    return p / p.sum(axis=1, keepdims=True)


def test_finds_the_new_proportions_and_probabilities():
    x, y = rows(20_000, TRAINING, 0)
    calibrator = PriorShiftCalibrator().fit(posterior(x, TRAINING), y)
    np.testing.assert_allclose(calibrator.training_priors_, np.bincount(y) / 20_000)
    x, y = rows(20_000, NEW, 1)
    np.testing.assert_allclose(calibrator.find_priors(posterior(x, TRAINING)), NEW, atol=0.012)
    np.testing.assert_allclose(calibrator.transform(posterior(x, TRAINING)), posterior(x, NEW), atol=0.03)
    logits = PriorShiftCalibrator(scores_are="logits").fit(np.log(posterior(x, TRAINING)) + 3.0, y)
    assert logits.transform(np.log(posterior(x, TRAINING)) + 5.0).shape == (20_000, 3)


def test_given_proportions_are_bayes_theorem():
    x, y = rows(500, TRAINING, 0)
    p = posterior(x, TRAINING)
    calibrator = PriorShiftCalibrator(priors=NEW).fit(p, y)
    expected = p * NEW / calibrator.training_priors_
    np.testing.assert_allclose(calibrator.transform(p), expected / expected.sum(axis=1, keepdims=True), rtol=1e-10)
    np.testing.assert_allclose(calibrator.transform(p[:1]), calibrator.transform(p)[:1])  # rows do not mix
    np.testing.assert_allclose(calibrator.find_priors(p), NEW)


@pytest.mark.parametrize("pseudo_rows", [0.0, 3.0])
def test_most_likely_proportions(pseudo_rows):
    """EM's end against the likelihood of one share, maximised directly."""
    rng = np.random.default_rng(2)
    p = rng.beta(2, 2, 300)
    calibrator = PriorShiftCalibrator(pseudo_rows=pseudo_rows).fit(p, rng.random(300) < 0.4)
    start = calibrator.training_priors_
    new = rng.beta(2, 2.2, 80)

    def loss(share):
        pull = pseudo_rows * (start[0] * np.log(1 - share) + start[1] * np.log(share))
        return -np.log((1 - new) * (1 - share) / start[0] + new * share / start[1]).sum() - pull

    best = minimize_scalar(loss, bounds=(1e-9, 1 - 1e-9), options={"xatol": 1e-12}).x
    assert calibrator.find_priors(new)[1] == pytest.approx(best, abs=1e-6)
    assert loss(calibrator.find_priors(new)[1]) <= loss(best) + 1e-9
    weights = rng.integers(0, 3, 80)
    np.testing.assert_allclose(
        calibrator.find_priors(new, sample_weight=weights), calibrator.find_priors(np.repeat(new, weights)), atol=1e-10
    )


def test_nothing_shifts():
    x, y = rows(20_000, TRAINING, 3)
    p = posterior(x, TRAINING)
    np.testing.assert_allclose(PriorShiftCalibrator().fit(p, y).transform(p), p, atol=0.02)


def test_small_batches_and_absent_classes():
    x, y = rows(500, TRAINING, 0)
    p = posterior(x, TRAINING)
    calibrator = PriorShiftCalibrator().fit(p, y)
    one = calibrator.transform(p[:1])
    assert np.isfinite(one).all() and np.abs(one - p[:1]).max() < 0.5
    assert np.isfinite(PriorShiftCalibrator(pseudo_rows=0.0).fit(p, y).transform(p[:1])).all()
    absent = PriorShiftCalibrator().fit(p, np.minimum(y, 1))
    assert absent.training_priors_[2] > 0 and np.isfinite(absent.transform(p)).all()
    constant = PriorShiftCalibrator(pseudo_rows=0.0).fit(np.full(10, 0.3), [0] * 7 + [1] * 3)
    np.testing.assert_allclose(constant.transform([0.3, 0.3])[:, 1], 0.3)


def test_errors():
    x, y = rows(50, TRAINING, 0)
    p = posterior(x, TRAINING)
    with pytest.raises(ValueError, match="`priors` must add up to 1; they add up to 1.5"):
        PriorShiftCalibrator(priors=[0.5, 0.5, 0.5]).fit(p, y)
    with pytest.raises(ValueError, match="`priors` must have one entry per"):
        PriorShiftCalibrator(priors=[0.5, 0.5]).fit(p, y)
    with pytest.raises(ValueError, match="`pseudo_rows` must be 0 or positive"):
        PriorShiftCalibrator(pseudo_rows=-1.0).fit(p, y)
    with pytest.raises(ValueError, match="margins are no probabilities"):
        PriorShiftCalibrator(scores_are="margins").fit(x[:, 0], y > 0)
