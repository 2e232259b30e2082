r"""Closed forms for laws whose normal score is piecewise linear in y: averages over segments of normal scores.

On a segment :math:`[a, b]` of scores, with :math:`G(t) = t\Phi^2 + 2\varphi\Phi - \Phi(\sqrt2\,t)/\sqrt\pi`,
:math:`\int_a^b \Phi^2 = G(b) - G(a)`. Where a segment is so short that the difference would lose digits, Gauss-Legendre
points take its place; both are exact to rounding.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from ..._checks import Array
from ...numerics.tails import HALF_LOG_2PI

_SHORT, _SHORT_HAT = 1e-3, 0.25
_HALF_GAP = 0.5 / np.sqrt(3.0)  # the two Gauss-Legendre points lie this far from the middle of a unit segment
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)


def density(t: Array) -> Array:
    r"""Standard normal density :math:`\varphi(t)`."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(-0.5 * np.square(t) - HALF_LOG_2PI))


def square_below(t: Array) -> Array:
    r"""Integral of the squared normal CDF up to t: :math:`G(t) = \int_{-\infty}^t \Phi^2`."""
    cdf = ndtr(t)
    with np.errstate(under="ignore"):
        return np.asarray(cdf * (t * cdf + 2 * density(t)) - ndtr(np.sqrt(2.0) * t) / np.sqrt(np.pi))


def mean_square(a: Array, b: Array) -> Array:
    r"""Average of :math:`\Phi^2` over :math:`[a, b]`; :math:`\Phi(a)^2` where b = a."""
    width = b - a
    short = width < _SHORT
    out = (square_below(b) - square_below(a)) / np.where(short, 1.0, width)
    if np.any(short):
        middle, half = (0.5 * (a + b))[short], _HALF_GAP * width[short]
        out[short] = 0.5 * (np.square(ndtr(middle - half)) + np.square(ndtr(middle + half)))
    return np.asarray(out)


def hat_products(t: Array) -> tuple[Array, Array, Array]:
    r"""Integrals of :math:`(1-\lambda)^2\varphi, \lambda(1-\lambda)\varphi, \lambda^2\varphi`, λ from 0 to 1."""
    left, width = t[..., :-1], np.diff(t)
    short = width < _SHORT_HAT
    safe = np.where(short, 1.0, width)
    cdf, pdf = ndtr(t), density(t)
    mass, fall = np.diff(cdf), -np.diff(pdf)
    first = (fall - left * mass) / safe
    square = (mass - np.diff(t * pdf) - 2 * left * fall + np.square(left) * mass) / np.square(safe)
    products = (mass - 2 * first + square, first - square, square)
    if np.any(short):
        for product, exact in zip(products, _short_hats(left[short], width[short]), strict=True):
            product[short] = exact
    return products


def _short_hats(left: Array, width: Array) -> tuple[Array, Array, Array]:
    """The same products as Gauss-Legendre sums, for short segments."""
    node = 0.5 + 0.5 * _NODES
    weight = (0.5 * _WEIGHTS) * width[:, None] * density(left[:, None] + node * width[:, None])
    return weight @ np.square(1 - node), weight @ (node * (1 - node)), weight @ np.square(node)


def tail_moments(t: Array) -> tuple[Array, Array, Array]:
    r"""Moments beyond t: :math:`E(Z-t)_+^0,\ E(Z-t)_+,\ E(Z-t)_+^2` of a standard normal Z."""
    sf, pdf = ndtr(-t), density(t)
    return sf, np.maximum(pdf - t * sf, 0.0), np.maximum((1 + np.square(t)) * sf - t * pdf, 0.0)
