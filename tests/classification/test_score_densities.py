"""Densities of scores of each class, and bins averaged over their number."""

from __future__ import annotations

from itertools import pairwise
from math import lgamma

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta as beta_law
from scipy.stats import gaussian_kde

from calibrant import (
    BayesianBinningCalibrator,
    BetaCalibrator,
    BetaDensitiesCalibrator,
    BinningCalibrator,
    KernelDensitiesCalibrator,
)
from calibrant.classification.bayes.beta import fit_beta_laws


def rows(rng, n=600):
    y = rng.random(n) < 0.4
    return np.where(y, rng.beta(4, 2, n), rng.beta(2, 5, n)), y


# ---- two beta laws ----
def test_beta_laws_are_those_of_scipy(rng):
    p, _ = rows(rng)
    means = np.array([[np.log(p).mean(), np.log1p(-p).mean()]])
    a, b, *_ = beta_law.fit(p, floc=0, fscale=1)
    np.testing.assert_allclose(fit_beta_laws(means)[0], [a, b], rtol=1e-5)


def test_bayes_rule_with_beta_laws(rng):
    p, y = rows(rng)
    yes, no = (beta_law(*beta_law.fit(p[side], floc=0, fscale=1)) for side in (y, ~y))
    new = np.linspace(0.02, 0.98, 30)
    expected = y.mean() * yes.pdf(new) / (y.mean() * yes.pdf(new) + (1 - y.mean()) * no.pdf(new))
    ours = BetaDensitiesCalibrator(smoothing=0).fit(p, y).transform(new)[:, 1]
    np.testing.assert_allclose(ours, expected, rtol=1e-4)


def test_beta_laws_are_recovered_and_named_by_the_curve_of_beta_calibration(rng):
    p, y = rows(rng, 200_000)
    curve = BetaDensitiesCalibrator().fit(p, y).curves_[0]
    assert [curve.a, curve.b] == pytest.approx([4 - 2, 5 - 2], abs=0.06)
    other = BetaCalibrator().fit(p, y).curves_[0]
    assert [curve.a, curve.b, curve.m] == pytest.approx([other.a, other.b, other.m], abs=0.12)


def test_smoothing_keeps_laws_of_equal_scores_finite():
    curve = BetaDensitiesCalibrator().fit([0.3] * 5 + [0.8] * 5, [0] * 5 + [1] * 5).curves_[0]
    assert np.isfinite([curve.a, curve.b, curve.m]).all() and curve.a > 0


# ---- kernel densities ----
def test_bayes_rule_with_kernel_densities(rng):
    p, y = rows(rng)
    x, h = logit(p), 0.3
    new = np.linspace(x.min() + 0.1, x.max() - 0.1, 40)
    yes, no = (gaussian_kde(x[side], bw_method=h / np.std(x[side], ddof=1)) for side in (y, ~y))
    expected = y.sum() * yes(new) / (y.sum() * yes(new) + (~y).sum() * no(new))
    ours = KernelDensitiesCalibrator(bandwidth=h, smoothing=0).fit(p, y).transform(expit(new))[:, 1]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=2e-4)
    laplace = KernelDensitiesCalibrator(bandwidth=h).fit(p, y).transform(expit(new))[:, 1]
    np.testing.assert_allclose(laplace, (600 * ours + 1) / 602, rtol=1e-9)


def test_the_bandwidth_of_the_normal_law(rng):
    p, y = rows(rng)
    x = logit(p)
    within = np.sqrt(np.mean(np.square(x - np.where(y, x[y].mean(), x[~y].mean()))))
    h = 1.06 * within * min(y.sum(), (~y).sum()) ** -0.2
    told = KernelDensitiesCalibrator(bandwidth=h).fit(p, y).transform(p)
    np.testing.assert_allclose(KernelDensitiesCalibrator().fit(p, y).transform(p), told, rtol=1e-9)


def test_many_rows_in_cells(rng):
    p, y = rows(rng, 30_000)
    few = KernelDensitiesCalibrator(bandwidth=0.2, smoothing=0).fit(p[:3000], y[:3000])
    assert len(few.curves_[0].knots) == 513
    x = logit(p)
    new = np.array([-2.0, -0.5, 0.0, 0.7, 2.0])
    dense = [np.exp(-0.5 * np.square((new[:, None] - x[side]) / 0.2)).sum(axis=1) for side in (y, ~y)]
    ours = KernelDensitiesCalibrator(bandwidth=0.2, smoothing=0).fit(p, y).transform(expit(new))[:, 1]
    np.testing.assert_allclose(ours, dense[0] / (dense[0] + dense[1]), rtol=0, atol=1e-3)


def test_a_curve_that_falls_is_found(rng):
    x = rng.normal(0, 2, 20_000)
    true = 0.2 + 0.6 * np.exp(-0.5 * x**2)
    y = rng.random(20_000) < true
    new = np.linspace(-3, 3, 25)
    found = KernelDensitiesCalibrator(scores_are="margins").fit(x, y).transform(new)[:, 1]
    assert np.abs(found - 0.2 - 0.6 * np.exp(-0.5 * new**2)).max() < 0.06


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.inf])
def test_bad_bandwidths(bandwidth):
    with pytest.raises(ValueError, match="`bandwidth` must be positive; got"):
        KernelDensitiesCalibrator(bandwidth).fit([0.1, 0.9], [0, 1])


# ---- bins averaged over their number ----
def as_published(p, y, sizes, new):
    """Naeini, Cooper & Hauskrecht (2015), eq. 4 to 7, for scores that all differ; new ones by nearest edges."""
    order = np.argsort(p)
    p, y, n = p[order], y[order], len(p)
    scores, shares = [], []
    for size in sizes:
        parts = np.split(np.arange(n), [round(n * b / size) for b in range(1, size)])
        cuts = [0.0, *((p[a[-1]] + p[b[0]]) / 2 for a, b in pairwise(parts)), 1.0]
        log, theta = 0.0, []
        for part, (low, high) in zip(parts, pairwise(cuts), strict=True):
            middle = (low + high) / 2
            alpha, beta = 2 / size * middle, 2 / size * (1 - middle)
            ones, zeros = y[part].sum(), (~y[part]).sum()
            log += lgamma(2 / size) - lgamma(len(part) + 2 / size)
            log += lgamma(ones + alpha) - lgamma(alpha) + lgamma(zeros + beta) - lgamma(beta)
            theta.append((ones + alpha) / (len(part) + 2 / size))
        scores.append(log)
        shares.append(np.array(theta)[np.searchsorted(cuts[1:-1], new, side="right")])
    weight = np.exp(np.array(scores) - max(scores))
    return np.average(shares, axis=0, weights=weight)


def test_bayesian_binning_as_published(rng):
    p = rng.random(120)
    y, new = rng.random(120) < p**2, rng.random(50)
    sizes = [1, 2, 3, 4, 5, 6, 8, 10, 12]
    ours = BayesianBinningCalibrator(sizes).fit(p, y).transform(new)[:, 1]
    np.testing.assert_allclose(ours, as_published(p, y, sizes, new), rtol=1e-7)


def test_numbers_of_bins_from_the_rows(rng):
    p = rng.random(1000)
    y = rng.random(1000) < p**2
    told = BayesianBinningCalibrator(range(1, 101)).fit(p, y).transform(p)
    np.testing.assert_allclose(BayesianBinningCalibrator().fit(p, y).transform(p), told)


def test_averaging_needs_no_number_of_bins(rng):
    p = rng.random(10_000)
    y, new = rng.random(10_000) < p**2, np.linspace(0.005, 0.995, 200)
    models = {size: BinningCalibrator(size) for size in (2, 5, 20, 100, 400)} | {"all": BayesianBinningCalibrator()}
    error = {key: np.square(model.fit(p, y).transform(new)[:, 1] - new**2).mean() for key, model in models.items()}
    mine = error.pop("all")
    assert mine < 2 * min(error.values()) and sum(mine < 0.5 * other for other in error.values()) >= 3


def test_bad_numbers_of_bins(rng):
    p, y = rows(rng, 20)
    for given, message in (([], "at least one number of bins"), ([2, 0], "whole number of at least 1; got 0")):
        with pytest.raises(ValueError, match=message):
            BayesianBinningCalibrator(given).fit(p, y)
    with pytest.raises(ValueError, match="`prior_rows` must be a number of rows above 0; got 0"):
        BayesianBinningCalibrator(prior_rows=0).fit(p, y)
