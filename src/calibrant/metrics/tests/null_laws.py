r"""Laws of test statistics when forecasts are calibrated: quadratic forms :math:`\sum_j \lambda_j \chi^2_j`.

Their upper tails follow from Smirnov's formula (1936), with D the Fredholm determinant,

.. math:: P(Q > x) = \frac1\pi \sum_{k\ge1} (-1)^{k+1} \int_{1/\lambda_{2k-1}}^{1/\lambda_{2k}}
    \frac{e^{-xu/2}}{u\sqrt{|D(u)|}}\,du, \quad D(u) = \prod_j (1 - \lambda_j u),

whose integrands have inverse square roots at both ends: Gauss-Chebyshev nodes make them smooth, and the tails keep
their relative accuracy however small they are.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.polynomial import polyval
from scipy.optimize import brentq
from scipy.special import gamma, kve, ndtr

from ..._checks import Array

TERMS, NODES = 60, 32
COSINES = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)  # Gauss-Chebyshev nodes on (-1, 1), weights pi / NODES
SMOOTH = np.sqrt((1 - np.square(COSINES)) / np.cos(np.pi / 2 * COSINES))  # what the inverse square roots leave over
STARTS = np.arange(TERMS)[:, None]
SIGNS = 1.0 - 2.0 * (np.arange(TERMS) % 2)
UPPER = (-130.2137, 745.2337, -1705.091, 1950.646, -1116.360, 255.7844)  # Marsaglia & Marsaglia (2004), g3
CENTRE = (-0.00022633, 6.54034, -14.6538, 14.458, -8.259, 1.91864)  # and g2


def anderson_darling_sf(statistic: float, n: float) -> float:
    r"""P(A² > statistic) for n uniforms.

    :math:`\lambda_j = 1/(j(j+1))` and :math:`D(u) = -\cos(\frac\pi2\sqrt{1+4u})/(\pi u)`. The finite-sample correction
    is that of Marsaglia & Marsaglia (2004).
    """
    if statistic < 0.05:  # the smallest 1e-10 of the law
        return 1.0
    v = 4 * STARTS + 4 + COSINES  # v = sqrt(1 + 4u) runs between the odd numbers 4k+3 and 4k+5
    u = (np.square(v) - 1) / 4
    tail = _alternating(np.exp(-0.5 * statistic * u) * np.sqrt(np.pi / u) * v / 2)
    return float(np.clip(tail - _anderson_darling_fix(tail, n), 0.0, 1.0))


def cramer_von_mises_sf(statistic: float, n: float) -> float:
    r"""P(ω² > statistic) for n uniforms.

    :math:`\lambda_j = 1/(j\pi)^2` and :math:`D(u) = \sin(\sqrt u)/\sqrt u`. The finite-sample correction is the term of
    order 1/n of Csörgő & Faraway (1996), eq. 1.10.
    """
    if statistic <= max(1 / (12 * n), 0.005):  # the smallest possible value, or the smallest 1e-10 of the law
        return 1.0
    v = np.pi * (2 * STARTS + 1.5 + 0.5 * COSINES)  # v = sqrt(u) runs from (2k+1)π to (2k+2)π
    tail = _alternating(np.exp(-0.5 * statistic * np.square(v)) * np.pi / np.sqrt(v))
    if tail < 1e-12:  # the correction would drown in rounding errors
        return tail
    change = _cramer_von_mises_fix(statistic, 1 - tail) / (n * tail)
    factor = 1 - change if change < 0.5 else 0.5 * np.exp(1 - 2 * change)  # never negative
    return float(np.clip(tail * factor, 0.0, 1.0))


def _alternating(values: Array) -> float:
    """Smirnov's alternating sum of integrals, by Gauss-Chebyshev quadrature."""
    return float(np.dot(SIGNS, np.mean(values * SMOOTH, axis=1)))


def _anderson_darling_fix(tail: float, n: float) -> float:
    """What n observations add to the limiting cdf 1 - tail; beyond the end of the fit, a share of the tail."""
    x = 1 - tail
    if x > 0.8:
        t = max(tail, 0.002)
        return float(polyval(1 - t, UPPER)) / n * (tail / t)
    c = 0.01265 + 0.1757 / n
    if x < c:
        v = x / c
        return float(np.sqrt(v) * (1 - v) * (49 * v - 102) * (0.0037 / n**2 + 0.00078 / n + 0.00006) / n)
    return float(polyval((x - c) / (0.8 - c), CENTRE)) * (0.04213 + 0.01365 / n) / n


def _cramer_von_mises_fix(x: float, below: float) -> float:
    """The term of order 1/n of the cdf, a series of Bessel functions."""
    k = np.arange(20)
    m = 2 * k + 1
    near, middle, far = ((4 * k + j) / (2 * np.sqrt(x)) for j in (1, 3, 5))
    half, three_halves = gamma(k + 0.5) / gamma(k + 1), gamma(k + 1.5) / gamma(k + 1)
    second = m * half * (_parabolic(middle, 2) / 9 + 7 / 144 * (_parabolic(near, 2) + _parabolic(far, 2))) / x**0.75
    third = (half * _parabolic(near, 3) / 72 + (m + 2) * three_halves * _parabolic(far, 3) / 6) / x**1.25
    return float(below / 12 - np.sum(second + third) / np.pi)


def _parabolic(y: Array, order: int) -> Array:
    """Csörgő and Faraway's functions of parabolic cylinder type, of order 2 or 3."""
    z = np.square(y) / 4
    quarter, three_quarters = kve(0.25, z), kve(0.75, z)
    bessel = quarter + three_quarters if order == 2 else 2 * quarter + 3 * three_quarters - kve(1.25, z)
    return np.asarray(np.exp(-2 * z) * (y / 2) ** (order - 0.5) * bessel / np.sqrt(np.pi))


def quadratic_form_sf(statistic: float, eigenvalues: Array) -> float:
    r"""P(Q > statistic) of any :math:`Q = \sum_j \lambda_j \chi^2_j`, by the saddlepoint of Lugannani and Rice.

    With :math:`K(\zeta) = -\frac12 \sum_j \log(1 - 2\zeta\lambda_j)` and :math:`K'(\zeta) = x`, Kuonen (1999):
    :math:`P(Q > x) \approx 1 - \Phi(w + w^{-1}\log(v/w))`, :math:`w = \pm\sqrt{2(\zeta x - K)}`,
    :math:`v = \zeta\sqrt{K''}`. Off by a few hundredths of the probability at most, however small it is.

    >>> quadratic_form_sf(3.841, np.array([1.0]))  # 0.05 for one degree of freedom
    0.0517
    """
    kept = eigenvalues[eigenvalues > 1e-12 * eigenvalues.max()]
    lam, x = kept / kept.sum(), statistic / float(kept.sum())
    if x <= 0:
        return 1.0

    def slope(zeta: float) -> float:
        return float((lam / (1 - 2 * zeta * lam)).sum())

    top = 0.5 / lam.max()
    low, high = -0.5 * len(lam) / x - 1.0, top * (1 - 1e-12)
    if slope(high) <= x:
        return 0.0
    zeta = float(brentq(lambda z: slope(z) - x, low, high, xtol=1e-14, rtol=1e-14))
    second = 2 * np.square(lam / (1 - 2 * zeta * lam)).sum()
    w = np.sign(zeta) * np.sqrt(2 * max(0.0, zeta * x + 0.5 * np.log1p(-2 * zeta * lam).sum()))
    v = zeta * np.sqrt(second)
    if abs(w) < 1e-4:  # the limit at the mean
        return float(ndtr(-8 / 6 * (lam**3).sum() / (2 * np.square(lam).sum()) ** 1.5))
    return float(ndtr(-(w + np.log(v / w) / w)))
