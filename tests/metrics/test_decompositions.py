from __future__ import annotations

import numpy as np
import properscoring
import pytest
from scipy import stats

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble


def hersbach(y, x):
    """Hersbach's formulas for an ensemble, written out row by row and bin by bin."""
    n, m = x.shape
    x = np.sort(x, axis=1)
    alpha, beta = np.zeros((n, m + 1)), np.zeros((n, m + 1))
    for t in range(n):
        beta[t, 0] = max(x[t, 0] - y[t], 0)
        alpha[t, m] = max(y[t] - x[t, -1], 0)
        for i in range(1, m):
            low, high = x[t, i - 1], x[t, i]
            alpha[t, i] = min(max(y[t] - low, 0), high - low)
            beta[t, i] = min(max(high - y[t], 0), high - low)
    a, b = alpha.mean(axis=0), beta.mean(axis=0)
    reliability = potential = 0.0
    for i in range(m + 1):
        if 0 < i < m:
            g, o = a[i] + b[i], b[i] / (a[i] + b[i])
        elif i == 0:
            o = np.mean(y < x[:, 0])
            g = b[0] / o if o > 0 else 0.0
        else:
            o = np.mean(y <= x[:, -1])
            g = a[m] / (1 - o) if o < 1 else 0.0
        reliability += g * (o - i / m) ** 2
        potential += g * o * (1 - o)
    return reliability, potential


@pytest.mark.parametrize("kind", ["smooth", "discrete"])
def test_ensembles_follow_hersbach(kind, rng):
    centre = rng.normal(size=80)
    x = centre[:, None] + 0.6 * rng.normal(size=(80, 7))  # too narrow: many outliers
    y = centre + rng.normal(size=80)
    parts = metrics.crps_decomposition(y, Ensemble(x, kind=kind))
    reliability, potential = hersbach(y, x)
    assert parts.reliability == pytest.approx(reliability, rel=1e-10)
    assert parts.potential == pytest.approx(potential, rel=1e-10)
    assert parts.crps == pytest.approx(properscoring.crps_ensemble(y, x).mean(), rel=1e-10)
    assert parts.crps == pytest.approx(parts.reliability - parts.resolution + parts.uncertainty, rel=1e-12)


def test_uncertainty_is_the_score_of_all_outcomes_together(rng):
    y = rng.gamma(2.0, size=60)
    climatology = properscoring.crps_ensemble(y, np.tile(y, (60, 1))).mean()
    parts = metrics.crps_decomposition(y, Normal(y, 1.0))
    assert parts.uncertainty == pytest.approx(climatology, rel=1e-10)


def test_a_single_outcome_by_hand():
    # members 0, 1, 3; y = 2: the bin (0, 1) lies below y, (1, 3) half below and half above
    parts = metrics.crps_decomposition([2.0], Ensemble([[0.0, 1.0, 3.0]], kind="discrete"))
    assert parts.reliability == pytest.approx(1 * (0 - 1 / 3) ** 2 + 2 * (1 / 2 - 2 / 3) ** 2)
    assert parts.potential == pytest.approx(2 * 1 / 4)
    assert parts.crps == pytest.approx(1 / 9 + 4 / 9 + 1 / 9)
    assert parts.uncertainty == 0.0


def test_continuous_laws_come_close_to_their_crps(rng):
    mu = 3 * rng.normal(size=5000)
    y = mu + rng.normal(size=5000)
    right, narrow = Normal(mu, 1.0), Normal(mu, 0.3)
    for law in (right, narrow):
        parts = metrics.crps_decomposition(y, law)
        assert parts.crps == pytest.approx(metrics.crps(y, law), rel=1e-3)
        assert parts.crps == pytest.approx(parts.reliability - parts.resolution + parts.uncertainty, rel=1e-12)
    good, bad = metrics.crps_decomposition(y, right), metrics.crps_decomposition(y, narrow)
    assert good.reliability < 1e-3 < 0.05 < bad.reliability
    assert good.resolution > 1.0
    same = metrics.crps_decomposition(y, Normal(np.full(5000, y.mean()), y.std()))
    assert abs(same.resolution) < 0.01  # one law for all resolves nothing


def test_members_must_be_positive():
    with pytest.raises(ValueError, match="`members` must be a whole number of at least 1; got 0"):
        metrics.crps_decomposition([0.0], Normal([0.0], 1.0), members=0)


def test_nll_parts_add_up_and_are_the_kullback_leibler_divergence(rng):
    n, wide = 200_000, 2.0
    mu = rng.normal(size=n)
    y = mu + rng.normal(size=n)
    parts = metrics.nll_decomposition(y, Normal(mu, wide), Normal(mu, 1.0))
    assert parts.nll == pytest.approx(parts.calibration_loss + parts.refinement_loss, rel=1e-12)
    assert parts.nll == pytest.approx(metrics.nll(y, Normal(mu, wide)), rel=1e-12)
    assert parts.refinement_loss == pytest.approx(stats.norm.entropy(), abs=0.01)
    divergence = np.log(wide) + 0.5 / wide**2 - 0.5  # KL(N(0, 1), N(0, wide²))
    assert parts.calibration_loss == pytest.approx(divergence, abs=0.01)


def test_harm_is_a_negative_calibration_loss(rng):
    y = rng.normal(size=1000)
    law = Normal(np.zeros(1000), 1.0)
    assert metrics.nll_decomposition(y, law, Normal(np.zeros(1000), 3.0)).calibration_loss < -0.5
    assert metrics.nll_decomposition(y, law, law).calibration_loss == 0.0


def test_the_calibrated_law_must_allow_the_outcomes():
    law = Ensemble([[0.0, 1.0]], kind="discrete")
    with pytest.raises(ValueError, match="`calibrated` must be positive at every outcome"):
        metrics.nll_decomposition([2.0], law, law)
    with pytest.raises(ValueError, match="`dist` and `calibrated` must both have densities or both consist of atoms"):
        metrics.nll_decomposition([0.0], law, Normal([0.0], 1.0))
