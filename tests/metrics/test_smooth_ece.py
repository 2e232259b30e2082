"""SmoothECE against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import metrics


def naive(events, p, sigma, points=8001):
    """The integral of the residuals under a Gaussian kernel with its reflections at 0 and 1."""
    t = np.linspace(0, 1, points)
    kernel = np.zeros((points, len(p)))
    for j in range(-3, 4):
        for image in (2 * j + p, 2 * j - p):
            kernel += np.exp(-0.5 * ((t[:, None] - image) / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma)
    return np.trapezoid(np.abs(kernel @ ((events - p) / len(p))), t)


@pytest.mark.parametrize("sigma", [0.01, 0.05, 0.2, 0.8])
def test_definition_at_a_bandwidth(sigma, rng):
    p = rng.random(150)
    y = rng.random(150) < 0.25 + 0.5 * p
    assert metrics.smooth_ece(y, p, bandwidth=sigma) == pytest.approx(naive(y, p, sigma), rel=1e-5)


def test_the_bandwidth_is_the_value(rng):
    p = rng.random(300)
    y = rng.random(300) < 0.25 + 0.5 * p
    value = metrics.smooth_ece(y, p)
    assert value == pytest.approx(naive(y, p, value), rel=1e-4)
    assert metrics.smooth_ece(y, p, bandwidth=0.5 * value) > value > metrics.smooth_ece(y, p, bandwidth=2 * value)


@pytest.mark.parametrize(("sigma", "relplot"), [(0.03, 0.1936696), (0.1, 0.178002)])
def test_relplot_agrees(sigma, relplot):
    """relplot 1.0.3, smECE_sigma on a mesh of 20 000 points."""
    p = np.arange(1, 60) / 60
    y = (np.arange(59) * 37 % 59 / 59 < p**2).astype(int)
    assert metrics.smooth_ece(y, p, bandwidth=sigma) == pytest.approx(relplot, rel=5e-4)


def test_one_sign_needs_no_smoothing():
    assert metrics.smooth_ece([0, 0, 1, 1], [0.5, 0.5, 0.5, 1.0]) == pytest.approx(0.125, rel=1e-9)
    assert metrics.smooth_ece([1, 1], [0.0, 0.0]) == pytest.approx(1.0, rel=1e-6)


def test_perfect_forecasts():
    assert metrics.smooth_ece([0, 1, 1], [0.0, 1.0, 1.0]) == 0


def test_continuous_in_the_forecasts():
    y, p = np.array([0, 1] * 50), np.full(100, 0.5)
    near = p + np.where(np.arange(100) % 2 == 0, -1e-9, 1e-9)
    assert metrics.smooth_ece(y, near) == pytest.approx(metrics.smooth_ece(y, p), abs=1e-4)
    assert metrics.ece(y, near, n_bins=10) - metrics.ece(y, p, n_bins=10) > 0.4


def test_kinds(rng):
    y, p = rng.integers(0, 3, 200), rng.dirichlet(np.ones(3), 200)
    expected = np.mean([metrics.smooth_ece(y == j, p[:, j]) for j in range(3)])
    assert metrics.smooth_ece(y, p, kind="class-wise") == pytest.approx(expected, rel=1e-9)
    expected = metrics.smooth_ece(y == p.argmax(axis=1), p.max(axis=1))
    assert metrics.smooth_ece(y, p) == pytest.approx(expected, rel=1e-9)


def test_bandwidths():
    with pytest.raises(ValueError, match="`bandwidth` must be positive; got 0"):
        metrics.smooth_ece([0, 1], [0.2, 0.7], bandwidth=0)
