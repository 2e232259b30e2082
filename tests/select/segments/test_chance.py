"""P-values of segments, and what is left of them when there are several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from calibrant.metrics.classes.forecasts import EventForecasts
from calibrant.select.segments.chance import adjusted, events_by_chance
from calibrant.select.segments.faults import ClassFaults, LawFaults


def tails(p, seen):
    """P(X >= seen) and P(X <= seen) of independent events, by convolution."""
    law = np.array([1.0])
    for each in p:
        law = np.convolve(law, [1 - each, each])
    return law[seen:].sum(), law[: seen + 1].sum()


@pytest.mark.parametrize("seen", [2, 5, 8, 22, 30, 38, 60])
def test_number_of_events(seen, rng):
    p = rng.beta(1, 4, 60)  # 12 expected
    events = np.arange(60) < seen
    exact = min(1.0, 2 * min(tails(p, seen)))
    assert events_by_chance(p, events, np.ones(60)) == pytest.approx(exact, rel=0.06)
    assert events_by_chance(1 - p, ~events, np.ones(60)) == pytest.approx(exact, rel=0.06)


def test_certain_events_and_weights(rng):
    p, weights = np.array([0.2, 0.4, 0.5, 0.1, 1.0, 0.0]), np.array([9.0, 7.0, 8.0, 6.0, 5.0, 4.0])
    events = np.array([True, False, True, False, True, False])
    times = np.repeat(np.arange(6), weights.astype(int))
    both = events_by_chance(p, events, weights), events_by_chance(p[times], events[times], np.ones(len(times)))
    assert both[0] == pytest.approx(both[1], rel=1e-9)
    assert both[0] == pytest.approx(2 * tails(p[times][(p[times] > 0) & (p[times] < 1)], 17)[0], rel=0.06)
    assert events_by_chance(np.full(4, 0.5), np.ones(4, dtype=bool), np.ones(4)) == pytest.approx(2 / 16)
    assert events_by_chance(np.full(4, 0.5), np.arange(4) < 2, np.ones(4)) == 1.0


def test_p_values_of_calibrated_laws(rng):
    z = rng.normal(size=(400, 80))
    rows = np.ones(80, dtype=bool)
    for kind in ("bias", "width"):
        found = [LawFaults(each, np.ones(80)).chance(kind, rows) for each in z]
        assert stats.kstest(found, "uniform").pvalue > 0.01
    found = np.array([LawFaults(each, np.ones(80)).chance("coverage", rows) for each in z])
    assert np.mean(found <= 0.05) <= 0.08 and found.min() > 0


def test_p_values_literally(rng):
    z = rng.normal(0.2, 1.2, 50)
    faults, rows = LawFaults(z, np.ones(50)), np.ones(50, dtype=bool)
    assert faults.chance("bias", rows) == pytest.approx(2 * ndtr(-abs(z.sum()) / np.sqrt(50)))
    law = stats.chi2(49)
    around = np.sum((z - z.mean()) ** 2)
    assert faults.chance("width", rows) == pytest.approx(2 * min(law.cdf(around), law.sf(around)))
    out = int(np.sum(np.abs(z) > 1.6448536269514722))
    count = stats.binom(50, 0.1)
    assert faults.chance("coverage", rows) == pytest.approx(min(1, 2 * min(count.cdf(out), count.sf(out - 1))))


def test_gains_are_log_likelihood_ratios(rng):
    z = np.clip(rng.normal(0.4, 1.5, 300), -5, 5)  # what is farther counts as that far
    faults = LawFaults(z, np.ones(300))
    bias, width, coverage = faults.gains(faults.columns.sum(axis=1))
    normal = stats.norm.logpdf
    assert bias == pytest.approx(np.sum(normal(z, z.mean(), 1) - normal(z, 0, 1)))
    fitted = normal(z, z.mean(), z.std()) - normal(z, z.mean(), 1)
    assert width == pytest.approx(np.sum(fitted))
    out = np.sum(np.abs(z) > 1.6448536269514722)
    count = stats.binom.logpmf
    assert coverage == pytest.approx(count(out, 300, out / 300) - count(out, 300, 0.1))


def test_what_was_mended_gains_nothing(rng):
    z, rows = rng.normal(1, 2, 500), np.arange(500) < 300
    weights = rng.integers(1, 4, 500).astype(float)
    mended = LawFaults(z, weights).mended(rows)
    assert mended.gains(mended.columns[:, rows].sum(axis=1)).max() < 0.2
    np.testing.assert_array_equal(mended.z[~rows], z[~rows])
    p, events = rng.random(500), rng.random(500) < 0.3
    classes = ClassFaults({"bias": EventForecasts(p, events, None)}, weights).mended(rows)
    assert classes.gains(classes.columns[:, rows].sum(axis=1)).max() < 1e-12
    np.testing.assert_array_equal(classes.events["bias"].p[~rows], p[~rows])


def test_false_discoveries_literally(rng):
    p = rng.random(7) ** 3
    harmonic = sum(1 / k for k in range(1, 8))
    in_order = np.sort(p)
    for place, each in enumerate(in_order):
        expected = min(min(1.0, 7 / (j + 1) * harmonic * in_order[j]) for j in range(place, 7))
        assert adjusted(p)[np.flatnonzero(p == each)[0]] == pytest.approx(expected)


def test_false_discovery_rate(rng):
    """Of eight tests, four of which are of nothing and move together, at most 5 % of findings are wrong."""
    wrong = []
    for _ in range(2000):
        shared = rng.normal()
        z = np.concatenate([np.full(4, shared), rng.normal(3.5, 1, 4)])
        found = adjusted(2 * ndtr(-np.abs(z))) <= 0.05
        wrong.append(found[:4].sum() / max(found.sum(), 1))
    assert np.mean(wrong) <= 0.05
