"""The equations of Song et al. (2019), written out as printed, against the package."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_ndtr, ndtr, ndtri

from calibrant import Normal, Recalibrated, metrics
from calibrant.maps import BetaMap
from calibrant.maps.averaged_beta import AveragedBetaMap
from calibrant.regression.gp_beta.inference import Data, Posterior, climb, latents
from calibrant.regression.gp_beta.kernels import JITTER, KERNELS, Scaling
from calibrant.regression.gp_beta.learning import Hyperparameters, Problem
from calibrant.regression.gp_beta.likelihood import PAIRS, log_ratio

A, B, C = 1.4, 0.7, 0.3
ROOT = np.array([[0.3, 0, 0], [0.1, 0.2, 0], [-0.1, 0.1, 0.4]])
SHIFT = np.array([0.1, -0.2, 0.3])


def logistic(z):
    return 1 / (1 + np.exp(-z))


def ratio(q, a, b, c):
    """Eq. 7, second line."""
    top = q**a * (1 - q) ** b * np.exp(-c) * (a - (a - b) * q)
    return top / (q * (1 - q) * (q**a + (1 - q) ** b * np.exp(-c)) ** 2)


def kernel(m1, s1, m2, s2, theta):
    """Eq. 9, variances for the printed σ."""
    total = s1**2 + s2**2 + theta**2
    return theta / np.abs(total) ** 0.5 * np.exp(-((m1 - m2) ** 2) / (2 * total))


def test_eq_2_the_beta_map():
    s1 = np.array([0.01, 0.3, 0.5, 0.98])
    paper = logistic(A * np.log(s1) - B * np.log(1 - s1) + C)
    assert np.allclose(ndtr(BetaMap(A, B, C)(ndtri(s1))), paper, rtol=1e-12)


def test_eq_5_nll_is_calibration_loss_plus_refinement_loss():
    """Two forecasts, each received by half of the rows, and the laws of the outcomes that received them."""
    rng = np.random.default_rng(0)
    n, forecast, law = 400_000, ((0.0, 1.0), (3.0, 1.0)), ((0.5, 1.5), (2.8, 0.6))
    y = np.linspace(-12, 15, 40_001)
    divergence = refinement = 0.0
    for (m, s), (mu, sigma) in zip(forecast, law, strict=True):
        p, q = stats.norm.pdf(y, mu, sigma), stats.norm.pdf(y, m, s)
        divergence += 0.5 * np.trapezoid(p * (stats.norm.logpdf(y, mu, sigma) - np.log(q)), y)
        refinement += 0.5 * np.trapezoid(-p * stats.norm.logpdf(y, mu, sigma), y)
    which = np.arange(n) % 2
    (loc, scale), (mu, sigma) = (np.array(pair)[which].T for pair in (forecast, law))
    ours = metrics.nll_decomposition(mu + sigma * rng.standard_normal(n), Normal(loc, scale), Normal(mu, sigma))
    assert ours.calibration_loss == pytest.approx(divergence, abs=0.01)
    assert ours.refinement_loss == pytest.approx(refinement, abs=0.01)
    assert ours.nll == pytest.approx(ours.calibration_loss + ours.refinement_loss, rel=1e-12)


def test_eq_6_the_calibrated_density_is_the_ratio_times_the_old_one():
    y, base = np.linspace(-2.0, 4.0, 7), Normal([1.0], 1.5)
    paper = ratio(stats.norm.cdf(y, 1.0, 1.5), A, B, C) * stats.norm.pdf(y, 1.0, 1.5)
    assert np.allclose(Recalibrated(base, BetaMap(A, B, C)).pdf(y[None, :])[0], paper, rtol=1e-10)


def test_eq_7_both_lines():
    q, h = np.array([0.02, 0.3, 0.5, 0.9]), 1e-6
    ahead, back = (logistic(A * np.log(v) - B * np.log(1 - v) + C) for v in (q + h, q - h))
    assert np.allclose((ahead - back) / (2 * h), ratio(q, A, B, C), rtol=1e-6)
    p = np.tile([[np.log(A)], [np.log(B)], [C]], 4)
    assert np.allclose(np.exp(log_ratio(p, np.log(q), np.log1p(-q))[0]), ratio(q, A, B, C), rtol=1e-12)


def test_eq_9_the_kernel():
    rng = np.random.default_rng(0)
    mu, sigma, theta = rng.normal(size=6), rng.uniform(0.3, 2, 6), 0.8
    scaling = Scaling(0.0, 1.0, 0.3, True)
    view = KERNELS["embedding"].view(scaling, Normal(mu, sigma))
    paper = kernel(mu[:, None], sigma[:, None], mu, sigma, theta)
    assert np.allclose(KERNELS["embedding"].matrix(view, view, np.log([theta])), paper, rtol=1e-12)
    points = np.exp(-((mu[:, None] - mu) ** 2) / (2 * theta**2))
    assert np.allclose(kernel(mu[:, None], 0.0, mu, 0.0, theta), points)  # as they observe: at σ = 0 an RBF kernel


class Example:
    """Five inducing forecasts, eight rows, and a posterior of the inducing values; all in the paper's letters."""

    def __init__(self):
        rng = np.random.default_rng(1)
        self.mu, self.sigma, self.theta = rng.normal(size=8), rng.uniform(0.5, 1.5, 8), 0.7
        law, scaling = Normal(self.mu, self.sigma), Scaling(0.0, 1.0, 0.3, True)
        view = KERNELS["embedding"].view(scaling, law)
        z = rng.normal(0.3, 1.3, 8)
        data = Data(log_ndtr(z), log_ndtr(-z), np.ones(8))
        problem = Problem(data, view, view[:5], KERNELS["embedding"], scaling)
        self.q = ndtr(z)
        self.prior = problem.prior(Hyperparameters(np.log([self.theta]), ROOT, SHIFT))
        self.fit = climb(Posterior.start(5), self.prior, data, gain=1e-9, most=50).fit
        self.B = ROOT @ ROOT.T

    def gram(self, rows, columns):
        mu, sigma = self.mu, self.sigma
        return kernel(mu[rows, None], sigma[rows, None], mu[columns], sigma[columns], self.theta)

    @property
    def K_u(self):
        return self.gram(np.arange(5), np.arange(5)) + JITTER * np.eye(5)

    def unwhitened(self):
        """m_u and V_u, points outside, latents inside."""
        posterior = self.fit.posterior
        lift = np.kron(np.linalg.cholesky(self.K_u), ROOT)
        order = np.arange(15).reshape(3, 5).T.ravel()
        return lift @ posterior.mean.ravel()[order], lift @ posterior.cover[np.ix_(order, order)] @ lift.T


def test_eq_8_and_10_the_prior():
    """At the inducing points themselves: B ⊗ K, and K ⊗ B in the order that the text goes on with."""
    e = Example()
    phi = e.prior.phi[:5]
    assert np.allclose(phi @ phi.T, e.gram(np.arange(5), np.arange(5)), atol=1e-5)
    draws = np.random.default_rng(0).standard_normal((200_000, 3, 5))
    w = np.einsum("ij,rjk,nk->rin", ROOT, draws, phi)  # as `latents` makes them of whitened values
    paper = np.kron(e.B, e.gram(np.arange(5), np.arange(5)))
    assert np.allclose(np.cov(w.reshape(-1, 15).T), paper, atol=2e-3)
    other = np.kron(e.gram(np.arange(5), np.arange(5)), e.B)
    assert np.allclose(np.cov(w.transpose(0, 2, 1).reshape(-1, 15).T), other, atol=2e-3)
    mean, cover, _ = latents(Posterior.start(5), e.prior)
    assert np.allclose(mean, SHIFT[:, None])  # w has mean 0; δ of the link is added
    for i in range(8):  # rows that are no inducing points too
        assert np.allclose(cover[:, i], [(e.B * e.gram([i], [i]))[pair] for pair in PAIRS], atol=1e-5)


def test_eq_12_the_latents_at_the_rows():
    e = Example()
    m_u, v_u = e.unwhitened()
    c_u, c_wu = np.kron(e.K_u, e.B), np.kron(e.gram(np.arange(8), np.arange(5)), e.B)
    a = c_wu @ np.linalg.inv(c_u)
    m_w = (a @ m_u).reshape(8, 3)
    v_w = np.kron(e.gram(np.arange(8), np.arange(8)), e.B) + a @ (v_u - c_u) @ a.T
    mean, cover, _ = latents(e.fit.posterior, e.prior)
    assert np.allclose(mean.T, m_w + SHIFT, atol=1e-7)
    for i in range(8):
        block = v_w[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        assert np.allclose(cover[:, i], [block[pair] for pair in PAIRS], atol=1e-7)


def test_eq_11_the_bound():
    """Its second form: E_q(w) ln p(y | w) - KL[q(u), N(u | 0, C_u)], by 20³ nodes; less the base's own ln s."""
    e = Example()
    m_u, v_u = e.unwhitened()
    c_u = np.kron(e.K_u, e.B)
    inverse = np.linalg.inv(c_u)
    logs = np.linalg.slogdet(c_u)[1] - np.linalg.slogdet(v_u)[1]
    divergence = 0.5 * (np.trace(inverse @ v_u) + m_u @ inverse @ m_u - 15 + logs)
    assert e.fit.posterior.divergence == pytest.approx(divergence, abs=1e-6)
    x, w = np.polynomial.hermite_e.hermegauss(20)
    nodes = np.stack(np.meshgrid(x, x, x, indexing="ij"), axis=-1).reshape(-1, 3)
    weights = np.einsum("i,j,k->ijk", w, w, w).ravel() / w.sum() ** 3
    mean, cover, _ = latents(e.fit.posterior, e.prior)
    likelihood = 0.0
    for i in range(8):
        block = np.empty((3, 3))
        for value, (j, k) in zip(cover[:, i], PAIRS, strict=True):
            block[j, k] = block[k, j] = value
        w_i = mean[:, i] + nodes @ np.linalg.cholesky(block).T
        likelihood += weights @ np.log(ratio(e.q[i], np.exp(w_i[:, 0]), np.exp(w_i[:, 1]), w_i[:, 2]))
    assert e.fit.bound == pytest.approx(likelihood - divergence, abs=2e-3)


def test_prediction_is_the_average_of_eq_7_over_the_latents():
    """§4.3: ŝ(y) = ∫ r_β s(y) p(w), here by 300 000 draws, as the paper does with some."""
    rng = np.random.default_rng(0)
    map = AveragedBetaMap(SHIFT[None, :], 0.5 * ROOT[None])
    base, y = Normal([1.0], 2.0), np.array([-2.0, 0.5, 3.0])
    w = SHIFT + rng.standard_normal((300_000, 3)) @ (0.5 * ROOT).T
    for value, ours in zip(y, Recalibrated(base, map).pdf(y[None, :])[0], strict=True):
        r = ratio(stats.norm.cdf(value, 1.0, 2.0), np.exp(w[:, 0]), np.exp(w[:, 1]), w[:, 2])
        assert ours == pytest.approx(r.mean() * stats.norm.pdf(value, 1.0, 2.0), rel=3e-3)


@pytest.mark.parametrize(("a", "modes"), [(0.45, 2), (0.475, 1)])
def test_two_modes_need_small_a_and_b(a, modes):
    """Of a normal law, where a = b and c = 0: below √(1 - π/4) = 0.463."""
    y = np.linspace(-6, 6, 24_001)
    f = Recalibrated(Normal([0.0], 1.0), BetaMap(a, a, 0.0)).pdf(y[None, :])[0]
    assert np.count_nonzero((f[1:-1] > f[:-2]) & (f[1:-1] >= f[2:])) == modes
    assert (a < np.sqrt(1 - np.pi / 4)) == (modes == 2)
