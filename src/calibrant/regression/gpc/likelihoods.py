"""From the latent function of a classifier to probabilities: logistic and probit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit, log_ndtr, ndtr

from ..._checks import Array
from ...numerics.tails import HALF_LOG_2PI, sigmoid

# Monahan & Stefanski (1992): σ(h) is Σ p_i Φ(s_i h) to within 2e-9
_SHARES = np.array([0.003246343272134, 0.051517477033972, 0.195077912673858, 0.315569823632818,
                    0.274149576158423, 0.131076880695470, 0.027912418727972, 0.001449567805354])  # fmt: skip
_SCALES = np.array([1.365340806296348, 1.059523971016916, 0.830791313765644, 0.650732166639391,
                    0.508135425366489, 0.396313345166341, 0.308904252267995, 0.238212616409306])  # fmt: skip


class Terms(NamedTuple):
    r"""Log likelihood of each pair, its slope g, and :math:`W = -g'` with its slope, (n,) each."""

    value: Array
    slope: Array
    curvature: Array
    bend: Array


class Likelihood(ABC):
    r"""The link :math:`\phi(h, b)`: the probability that b = 1 is a symmetric sigmoid of h."""

    @abstractmethod
    def offset(self, z: Array) -> Array:
        """The h of a probability whose normal score is z."""

    @abstractmethod
    def probability(self, h: Array) -> Array:
        """Probability that b = 1."""

    @abstractmethod
    def averaged(self, mean: Array, variance: Array) -> Array:
        """The same, averaged over a normal h."""

    @abstractmethod
    def terms(self, h: Array, below: Array) -> Terms:
        """Log likelihoods of b, 0 or 1, and their derivatives in h."""


class Logit(Likelihood):
    r""":math:`\sigma(h)`.

    >>> Logit().averaged(np.array([1.0]), np.array([0.0])).round(6), expit(1.0).round(6)
    (array([0.731059]), np.float64(0.731059))
    """

    def offset(self, z: Array) -> Array:
        """Logit, from both tails."""
        z = np.clip(z, -1e3, 1e3)
        return np.asarray(log_ndtr(z) - log_ndtr(-z))

    def probability(self, h: Array) -> Array:
        """σ(h)."""
        return sigmoid(np.array(h))

    def averaged(self, mean: Array, variance: Array) -> Array:
        r""":math:`\sum_i p_i \Phi(s_i m / \sqrt{1 + s_i^2 v})`."""
        out = np.zeros(np.broadcast_shapes(mean.shape, variance.shape))
        for share, scale in zip(_SHARES, _SCALES, strict=True):
            out += share * ndtr(scale * mean / np.sqrt(1 + scale**2 * variance))
        return out

    def terms(self, h: Array, below: Array) -> Terms:
        """Of the logistic likelihood: W = σ(1 - σ)."""
        p = expit(h)
        w = p * (1 - p)
        return Terms(log_expit(np.where(below > 0, h, -h)), below - p, w, w * (1 - 2 * p))


class Probit(Likelihood):
    r""":math:`\Phi(h)`."""

    def offset(self, z: Array) -> Array:
        """The score itself."""
        return np.clip(z, -1e3, 1e3)

    def probability(self, h: Array) -> Array:
        """Φ(h)."""
        return np.asarray(ndtr(h))

    def averaged(self, mean: Array, variance: Array) -> Array:
        r""":math:`\Phi(m / \sqrt{1 + v})`."""
        return np.asarray(ndtr(mean / np.sqrt(1 + variance)))

    def terms(self, h: Array, below: Array) -> Terms:
        r"""Of the probit likelihood: :math:`r = \varphi(h)/\Phi(\pm h)`, g = ±r, :math:`W = r(r \pm h)`."""
        sign = np.where(below > 0, 1.0, -1.0)
        x = sign * h
        value = log_ndtr(x)
        r = np.exp(-0.5 * x * x - HALF_LOG_2PI - value)
        w = r * (r + x)
        return Terms(value, sign * r, w, sign * (r - w * (2 * r + x)))


LIKELIHOODS: dict[str, Likelihood] = {"logit": Logit(), "probit": Probit()}
