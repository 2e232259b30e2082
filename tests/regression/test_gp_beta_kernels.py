"""The kernel between laws: E exp(-(Y1 - Y2)² / 2θ²), against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant import Ensemble, Gamma, GPBetaCalibrator, Laplace, Mixture, Normal, StudentT, metrics
from calibrant.regression.gp_beta.kernels import KERNELS, Scaling
from calibrant.regression.gp_beta.parts import normal_parts

UNITS = Scaling(0.0, 1.0, 0.3, True)
KERNEL = KERNELS["quantiles"]
THETAS = (0.1, 0.3, 1.0, 3.0)
RNG = np.random.default_rng(0)
LAPLACE = Laplace([0.2], 1.0)
GAP = Mixture([Laplace([-1.0], 0.3), Normal([1.0], 0.5)], weights=[0.4, 0.6])
SMOOTH = Ensemble(RNG.normal(size=(1, 20)))
REFERENCE = Normal([0.5], 0.7)


def between(one, two, theta):
    view, other = (KERNEL.view(UNITS, law) for law in (one, two))
    return KERNEL.matrix(view, other, np.log([theta]))[0, 0]


def of_densities(one, two, theta, n=2001):
    """The double integral over y1 and y2."""
    y = np.linspace(-14, 14, n)
    step = y[1] - y[0]
    heights = [density(y) * step for density in (one, two)]
    gram = np.exp(-0.5 * np.square((y[:, None] - y) / theta))
    return float(heights[0] @ gram @ heights[1])


def in_quantiles(one, two, theta, n=4001):
    """The double integral over p and q of quantiles, by the midpoint rule."""
    p = (np.arange(n) + 0.5) / n
    x, y = np.sort(one.quantiles(p)[0]), np.sort(two.quantiles(p[2::5])[0])
    return float(np.exp(-0.5 * np.square((x[:, None] - y) / theta)).mean())


def closed(m1, s1, m2, s2, theta):
    """Song et al. (2019), eq. 9, with variances."""
    total = s1**2 + s2**2 + theta**2
    return theta / np.sqrt(total) * np.exp(-((m1 - m2) ** 2) / (2 * total))


def sum_of_parts(one, two, theta):
    out = 0.0
    for m1, v1, w1 in zip(one.means[0], one.variances[0], one.shares, strict=True):
        total = v1 + two.variances[0] + theta**2
        out += w1 * float(two.shares @ (theta / np.sqrt(total) * np.exp(-((m1 - two.means[0]) ** 2) / (2 * total))))
    return out


@pytest.mark.parametrize("theta", THETAS)
def test_parts_of_normal_laws_give_the_closed_form(theta):
    exact = closed(0.3, 1.0, -0.4, 1.5, theta)
    for count, tolerance in ((33, 1e-6), (129, 1e-10)):
        parts = [normal_parts(law, count=count) for law in (Normal([0.3], 1.0), Normal([-0.4], 1.5))]
        assert sum_of_parts(*parts, theta) == pytest.approx(exact, abs=tolerance)
    assert between(Normal([0.3], 1.0), Normal([-0.4], 1.5), theta) == pytest.approx(exact, rel=1e-14)


def laplace(y):
    return stats.laplace.pdf(y, 0.2, 1.0)


def gap(y):
    return 0.4 * stats.laplace.pdf(y, -1.0, 0.3) + 0.6 * stats.norm.pdf(y, 1.0, 0.5)


def gamma(y):
    return stats.gamma.pdf(y, 3.0)


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize(
    ("law", "density", "tolerance"),
    [(LAPLACE, laplace, 3e-4), (GAP, gap, 8e-3), (Gamma([3.0], 1.0), gamma, 2e-4)],
    ids=["laplace", "mixture", "gamma"],
)
def test_against_the_double_integral(law, density, tolerance, theta):
    def reference(y):
        return stats.norm.pdf(y, 0.5, 0.7)

    assert between(law, law, theta) == pytest.approx(of_densities(density, density, theta), abs=tolerance)
    assert between(law, REFERENCE, theta) == pytest.approx(of_densities(density, reference, theta), abs=tolerance)
    view = KERNEL.view(UNITS, law)
    assert KERNEL.diagonal(view, np.log([theta]))[0] == pytest.approx(between(law, law, theta), rel=1e-12)


@pytest.mark.parametrize("theta", THETAS)
def test_ensembles(theta):
    assert between(SMOOTH, SMOOTH, theta) == pytest.approx(in_quantiles(SMOOTH, SMOOTH, theta), abs=2e-3)
    assert between(SMOOTH, REFERENCE, theta) == pytest.approx(in_quantiles(SMOOTH, REFERENCE, theta), abs=5e-4)
    x, y = RNG.normal(size=12), RNG.normal(1.0, 2.0, size=7)
    weights = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 1.0])
    drawn = np.exp(-0.5 * np.square((x[:, None] - y) / theta)) @ weights / weights.sum()
    samples = Ensemble(x[None], kind="discrete"), Ensemble(y[None], weights[None], kind="discrete")
    assert between(*samples, theta) == pytest.approx(drawn.mean(), rel=1e-10)  # the paper's way, by samples


def test_units_and_heavy_tails():
    law = StudentT([2.0, 30.0], [1.0, 10.0], 0.9)
    scaling = Scaling(10.0, 4.0, 0.3, True)
    moved = StudentT((law.loc - 10) / 4, law.scale / 4, 0.9)
    assert np.allclose(KERNEL.view(scaling, law), KERNEL.view(UNITS, moved), rtol=1e-9, atol=1e-9)
    gram = KERNEL.matrix(*[KERNEL.view(scaling, law)] * 2, np.zeros(1))
    assert np.linalg.eigvalsh(gram).min() > 0 and np.isfinite(gram).all()


def skewed(seed, n):
    """Forecasts of one mean and spread, some skewed to the left and some to the right: only the latter are too wide."""
    rng = np.random.default_rng(seed)
    side = rng.choice([-1.0, 1.0], n)
    members = side[:, None] * (np.quantile(rng.gamma(2.0, 1.0, 100_000), np.arange(1, 25) / 25) - 2.0)
    noise = side * (rng.gamma(2.0, 1.0, n) - 2.0)
    return Ensemble(members), np.where(side > 0, 0.3, 1.0) * noise


def test_sees_shapes_that_moments_do_not_tell():
    (law, y), (new, y_new) = skewed(0, 200), skewed(1, 1000)
    by_moments = GPBetaCalibrator(kernel="embedding").fit(law, y).transform(new)
    cal = GPBetaCalibrator(12, kernel="quantiles").fit(law, y)
    assert metrics.nll(y_new, cal.transform(new)) < metrics.nll(y_new, by_moments) - 0.15
    assert cal.kernel_ == "quantiles" and cal.inducing_.shape[1] == 2 and np.all(cal.inducing_[:, 1] > 0)


def test_normal_laws_are_taken_as_they_are():
    law = Normal(RNG.normal(size=5), RNG.uniform(0.5, 2, 5))
    assert np.array_equal(KERNEL.view(UNITS, law), KERNELS["embedding"].view(UNITS, law))
    mixture = Mixture([law, Normal(law.loc + 1, law.scale)])
    assert np.array_equal(KERNEL.view(UNITS, mixture), KERNELS["embedding"].view(UNITS, mixture))
