"""CalBin against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import metrics


def naive(y, p, s, form="window"):
    """Every window on its own; equal forecasts count with the share of events among them."""
    order = np.argsort(p, kind="stable")
    p, f = p[order], y[order].astype(float)
    for value in np.unique(p):
        f[p == value] = f[p == value].mean()
    errors = []
    for b in range(len(p) - s + 1):
        window, frequency = p[b : b + s], f[b : b + s].mean()
        errors.append(abs(window.mean() - frequency) if form == "window" else np.abs(window - frequency).mean())
    return np.mean(errors)


@pytest.mark.parametrize("form", ["window", "example"])
@pytest.mark.parametrize("decimals", [1, 2, 12])
@pytest.mark.parametrize("window", [1, 2, 7, 30, 119, 120])
def test_definition(form, decimals, window, rng):
    p = np.round(rng.random(120), decimals)
    y = rng.random(120) < p**2
    assert metrics.calbin(y, p, window=window, form=form) == pytest.approx(naive(y, p, window, form), rel=1e-11)


@pytest.mark.parametrize("form", ["window", "example"])
def test_definition_with_weights(form, rng):
    p, weight = np.round(rng.random(60), 2), rng.integers(0, 5, 60)
    y = rng.random(60) < p**2
    expected = naive(np.repeat(y, weight), np.repeat(p, weight), 11, form)
    assert metrics.calbin(y, p, window=11, form=form, sample_weight=weight) == pytest.approx(expected, rel=1e-11)


def test_by_hand():
    assert metrics.calbin([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], window=2) == pytest.approx((0.25 + 0 + 0.25) / 3)
    by_example = metrics.calbin([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], window=2, form="example")
    assert by_example == pytest.approx((0.25 + 0.1 + 0.25) / 3)


@pytest.mark.parametrize(("n", "window"), [(200, 20), (107, 10), (14, 1), (7, 1), (1, 1)])
def test_a_tenth_of_the_rows_unless_told(n, window, rng):
    y, p = rng.integers(0, 2, n), rng.random(n)
    assert metrics.calbin(y, p) == pytest.approx(naive(y, p, window), rel=1e-12)


def test_mean_over_the_classes(rng):
    y, p = rng.integers(0, 4, 200), rng.dirichlet(np.ones(4), 200)
    expected = np.mean([naive(y == j, p[:, j], 20) for j in range(4)])
    assert metrics.calbin(y, p) == pytest.approx(expected, rel=1e-12)


def test_both_of_two_classes_have_the_same_value(rng):
    p = rng.random(100).round(2)
    y = rng.integers(0, 2, 100)
    assert metrics.calbin(1 - y, 1 - p) == pytest.approx(metrics.calbin(y, p), rel=1e-12)


def test_one_window_is_the_difference_of_the_means(rng):
    y, p, weight = rng.integers(0, 2, 50), rng.random(50), rng.random(50)
    expected = abs(np.average(p - y, weights=weight))
    value = metrics.calbin(y, p, window=weight.sum(), sample_weight=weight)
    assert value == pytest.approx(expected, rel=1e-12)


def test_windows_of_mass(rng):
    """Weights that are no integers: the same function of the running mass, seen at unit steps."""
    y, p = rng.integers(0, 2, 400), rng.random(400)
    half = metrics.calbin(np.repeat(y, 2), np.repeat(p, 2), sample_weight=np.full(800, 0.5), window=40)
    assert half == pytest.approx(metrics.calbin(y, p, window=40), rel=1e-12)
    fractions = np.where(np.arange(400) < 200, 0.5, 1.5)
    other = metrics.calbin(y, p, window=40, sample_weight=fractions)
    assert abs(other - metrics.calbin(y, p, window=40)) < 0.03


def test_weights_of_millions(rng):
    y, p = rng.integers(0, 2, 100), rng.random(100)
    light, heavy = (metrics.calbin(y, p, sample_weight=np.full(100, w)) for w in (1e4, 1e9))
    assert heavy == pytest.approx(light, rel=1e-5)


def test_probabilities_of_0_and_1_and_minus_0():
    assert metrics.calbin([0, 1, 0, 1], [0.0, 1.0, -0.0, 1.0], window=2) == 0
    assert metrics.calbin([1, 0], [0.0, 1.0], window=1) == 1


def test_calibrated_forecasts_are_at_the_floor(rng):
    p = rng.random(2000)
    y = rng.random(2000) < p
    floor = metrics.noise_floor(metrics.calbin, p)
    assert metrics.calbin(y, p) == pytest.approx(floor, rel=0.4)
    assert metrics.calbin(rng.random(2000) < 0.5 + (p - 0.5) / 3, p) > 4 * floor


@pytest.mark.parametrize("window", [0, 5, -1, np.nan, "10"])
def test_windows_that_cannot_be(window):
    with pytest.raises(ValueError, match=r"`window` must be a number of rows up to 4, all of them; got"):
        metrics.calbin([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], window=window)


def test_forms():
    with pytest.raises(ValueError, match="`form` must be one of 'window', 'example'; got 'mean'"):
        metrics.calbin([0, 1], [0.1, 0.4], form="mean")
