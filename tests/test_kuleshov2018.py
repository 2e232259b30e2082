"""Equations of Kuleshov et al. (2018) and Psaros, as printed, row by row with SciPy's laws; limits by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from calibrant import Normal, QuantileCalibrator, metrics

T = 200
rng = np.random.default_rng(7)
MU, SIGMA = rng.normal(0, 3, T), rng.uniform(0.5, 2, T)
Y = MU + 1.7 * SIGMA * rng.standard_normal(T) + 0.4
Y[5:9] = MU[5:9] + SIGMA[5:9]  # the same F_t(y_t) four times
LAW, LAWS = Normal(MU, SIGMA), [norm(m, s) for m, s in zip(MU, SIGMA, strict=True)]
PITS = [law.cdf(y) for law, y in zip(LAWS, Y, strict=True)]
LEVELS = [0.05, 0.1, 0.37, 0.5, 0.84, 0.99]


def p_hat(p: float) -> float:
    """Kuleshov, eq. 6 and 8; Psaros, eq. 5, 9 and 11."""
    return len([t for t in range(T) if PITS[t] <= p]) / T


def test_classes_eq_1():
    """The two sides of eq. 1 for each forecast, and their mean squared distance."""
    p = np.repeat([0.1, 0.4, 0.8], [30, 50, 20])
    y = np.random.default_rng(0).random(100) < p
    sides = {v: (sum(y[t] * (p[t] == v) for t in range(100)) / sum(p == v), v) for v in (0.1, 0.4, 0.8)}
    parts = metrics.brier_decomposition(y, p)
    assert parts.miscalibration == pytest.approx(sum((sides[v][0] - v) ** 2 for v in p) / 100, rel=1e-12)


def test_quantiles_and_levels_eq_3_and_8():
    levels, observed = metrics.calibration_curve(Y, LAW, levels=LEVELS)
    below = [sum(Y[t] <= LAWS[t].ppf(p) for t in range(T)) / T for p in LEVELS]
    assert np.array_equal(levels, LEVELS)
    assert observed == pytest.approx(below, abs=1e-15) and observed == pytest.approx(list(map(p_hat, LEVELS)))


@pytest.mark.parametrize(("p1", "p2"), [(0.05, 0.95), (0.1, 0.4), (0.5, 0.51)])
def test_intervals_eq_5(p1, p2):
    inside = [LAWS[t].ppf(p1) <= Y[t] <= LAWS[t].ppf(p2) for t in range(T)]
    assert metrics.coverage(Y, LAW, interval=(p1, p2)) == pytest.approx(sum(inside) / T, abs=1e-15)


@pytest.mark.parametrize("map_", ["isotonic", "step"])
def test_ranks_eq_6_and_algorithm_1(map_):
    """R at the data is P̂, ties together: the pairs of algorithm 1 (Psaros, eq. 10) increase already."""
    made = QuantileCalibrator(map_, ranks="T").fit(LAW, Y).transform(LAW)
    assert made.cdf(Y) == pytest.approx([p_hat(PITS[t]) for t in range(T)], abs=1e-12)


def test_error_eq_9():
    expected = sum((p - p_hat(p)) ** 2 for p in LEVELS)
    assert metrics.calibration_error(Y, LAW, levels=LEVELS) == pytest.approx(expected, rel=1e-12)


def test_sharpness_eq_10():
    assert metrics.sharpness(LAW) == pytest.approx(sum(law.var() for law in LAWS) / T, rel=1e-12)


def test_the_recalibrated_model_is_calibrated():
    """Psaros, eq. 1-8: Q(p) = Φ(Φ⁻¹(p)/s) where forecasts are s times too narrow; R o F is nearly calibrated."""
    draw = np.random.default_rng(1)
    mu, scale = draw.normal(size=20_000), 1.6
    y = mu + scale * draw.standard_normal(20_000)
    p = np.linspace(0.05, 0.95, 19)
    said = Normal(mu, 1.0)
    shares = np.array([np.mean(y <= said.ppf(level)) for level in p])  # eq. 4
    true = norm.cdf(norm.ppf(p) / scale)  # eq. 2 and 6, the same for all t
    assert np.abs(shares - true).max() < 0.01 and np.abs(true - p).max() > 0.1
    made = QuantileCalibrator("isotonic", ranks="T").fit(said[:10_000], y[:10_000]).transform(said[10_000:])
    after = np.array([np.mean(y[10_000:] <= made.ppf(level)) for level in p])  # eq. 8
    assert np.abs(after - p).max() < 0.02
