"""Measures that other packages have, against these packages or the letter of their formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scoringrules as sr
from scipy.integrate import quad
from scipy.stats import gamma, norm

from calibrant import Ensemble, Gamma, Normal, Poisson, metrics


@pytest.fixture
def rows(rng):
    mu, sigma = rng.normal(size=12), rng.uniform(0.5, 2, 12)
    return mu, sigma, mu + 1.5 * sigma * rng.normal(size=12)


def test_threshold_weighted_crps_is_the_integral_between_the_thresholds(rows):
    mu, sigma, y = rows
    for low, high in ((0.3, np.inf), (-np.inf, 0.3), (-0.5, 0.8)):
        found = metrics.threshold_weighted_crps(y, Normal(mu, sigma), low=low, high=high, per_row=True)
        for row in range(4):

            def squared(u, row=row):
                return (norm.cdf(u, mu[row], sigma[row]) - (u >= y[row])) ** 2

            ends = np.clip([low, high], -15, 15)
            places = [p for p in (y[row], mu[row]) if ends[0] < p < ends[1]]
            assert found[row] == pytest.approx(quad(squared, *ends, points=places, epsabs=1e-10)[0], abs=1e-8)
    parts = [metrics.threshold_weighted_crps(y, Normal(mu, sigma), **one) for one in ({"low": 0.3}, {"high": 0.3})]
    assert sum(parts) == pytest.approx(metrics.crps(y, Normal(mu, sigma)), rel=1e-12)


def test_threshold_weighted_crps_of_samples(rng, rows):
    samples, y = rng.normal(size=(12, 7)), rows[2]
    law = Ensemble(samples, kind="discrete")
    found = metrics.threshold_weighted_crps(y, law, low=0.2, high=np.linspace(0.5, 2, 12), per_row=True)
    ends = zip(np.full(12, 0.2), np.linspace(0.5, 2, 12), strict=True)
    theirs = [
        sr.twcrps_ensemble(np.array([y[k]]), samples[[k]], a=a, b=b, estimator="nrg")[0]
        for k, (a, b) in enumerate(ends)
    ]
    np.testing.assert_allclose(found, theirs, atol=1e-12)


def test_dawid_sebastiani(rows, rng):
    mu, sigma, y = rows
    nll = metrics.nll(y, Normal(mu, sigma), per_row=True)
    np.testing.assert_allclose(
        metrics.dawid_sebastiani(y, Normal(mu, sigma), per_row=True), 2 * nll - np.log(2 * np.pi), rtol=1e-12
    )
    samples = rng.normal(size=(12, 9))
    ours = metrics.dawid_sebastiani(y, Ensemble(samples, kind="discrete"), per_row=True)
    mean, sd = samples.mean(axis=1), samples.std(axis=1)
    np.testing.assert_allclose(ours, ((y - mean) / sd) ** 2 + 2 * np.log(sd), rtol=1e-12)


@pytest.mark.parametrize(("ours", "theirs"), [("mean", "nrg"), ("fair", "fair")])
def test_energy_score(rng, ours, theirs):
    y, samples = rng.normal(size=(5, 3)), rng.normal(size=(5, 8, 3))
    found = metrics.energy_score(y, samples, estimator=ours, per_row=True)
    np.testing.assert_allclose(found, sr.es_ensemble(y, samples, estimator=theirs), rtol=1e-12)
    weight = np.arange(5.0)
    assert metrics.energy_score(y, samples, estimator=ours, sample_weight=weight) == pytest.approx(
        np.average(found, weights=weight)
    )


def test_energy_score_of_numbers_is_the_crps(rng):
    y, samples = rng.normal(size=6), rng.normal(size=(6, 5))
    found = metrics.energy_score(y[:, None], samples[..., None], per_row=True)
    np.testing.assert_allclose(found, Ensemble(samples, kind="discrete").crps(y), rtol=1e-12)


def test_ranked_probability_score(rng):
    p, y = rng.dirichlet(np.ones(4), 9), rng.integers(0, 4, 9)
    names = np.array(["none", "some", "much", "all"])
    found = metrics.ranked_probability_score(names[y], p, classes=names, per_row=True)
    np.testing.assert_allclose(found, sr.rps_score(y + 1, p), rtol=1e-12)
    two = metrics.ranked_probability_score([0, 1, 1], [0.2, 0.3, 0.9])
    assert two == pytest.approx(metrics.brier_score([0, 1, 1], [0.2, 0.3, 0.9]))


def test_mean_absolute_calibration_error_and_area_as_uncertainty_toolbox_has_them(rows):
    mu, sigma, y = rows
    levels = np.linspace(0, 1, 100)
    inside = [np.mean(np.abs((y - mu) / sigma) <= norm.ppf(0.5 + p / 2)) for p in levels]
    below = [np.mean(y <= norm.ppf(p, mu, sigma)) for p in levels]
    for of, share in (("intervals", inside), ("quantiles", below)):
        found = metrics.mean_absolute_calibration_error(y, Normal(mu, sigma), of=of, levels=levels)
        assert found == pytest.approx(np.abs(levels - share).mean(), abs=1e-12)
        area = metrics.miscalibration_area(y, Normal(mu, sigma), of=of, levels=levels)
        fine = np.linspace(0, 1, 400_001)
        assert area == pytest.approx(np.trapezoid(np.abs(np.interp(fine, levels, share) - fine), fine), abs=1e-8)


def test_measures_of_gamma_laws_and_counts_are_those_of_their_pits(rng):
    shape, y = rng.uniform(1, 3, 200), rng.gamma(2.0, 1.0, 200)
    same = Normal(np.zeros(200), 1.0)
    scores = norm.ppf(gamma.cdf(y, shape))
    for measure in (metrics.mean_absolute_calibration_error, metrics.miscalibration_area):
        assert measure(y, Gamma(shape, 1.0)) == pytest.approx(measure(scores, same), abs=1e-9)
    counts = rng.poisson(3.0, 4000)
    assert metrics.mean_absolute_calibration_error(counts, Poisson(np.full(4000, 3.0))) < 0.01


def test_the_worst_group_is_worse_the_smaller_it_is_and_one_of_all_rows_is_all_rows(rng):
    y, law = rng.normal(size=400), Normal(np.zeros(400), 1.0)
    found = metrics.adversarial_group_calibration(y, law, shares=[0.02, 0.2, 1.0], trials=3)
    assert np.all(np.diff(found.errors) < 0)
    assert found.errors[-1] == pytest.approx(metrics.mean_absolute_calibration_error(y, law))
    assert found.deviations[-1] == 0


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: metrics.energy_score([[0.0]], [[0.0]]), r"`y_true` must be \(n, d\) and `samples` \(n, m, d\)"),
        (lambda: metrics.energy_score([[0.0]], [[[0.0]]], estimator="fair"), "`samples` must be 2 of each forecast"),
        (lambda: metrics.threshold_weighted_crps([0.0], Normal([0.0], 1.0), low=2, high=1), "lower"),
        (lambda: metrics.miscalibration_area([0.0], Normal([0.0], 1.0), of="sets"), "`of` must be"),
        (lambda: metrics.adversarial_group_calibration([0.0], Normal([0.0], 1.0), shares=0), "`shares` must be above"),
    ],
)
def test_bad_arguments(call, told):
    with pytest.raises(ValueError, match=told):
        call()
