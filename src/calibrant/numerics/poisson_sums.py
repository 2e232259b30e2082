"""Sums of Poisson probabilities, term by term: quicker than incomplete gamma functions where counts are small."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

_MOST, _HIGHEST = 128.0, 500.0  # counts and rates; no more terms than that, and exp(rate) is far from infinite


def are_few(k: Array, rate: Array) -> NDArray[np.bool_]:
    """Rows of which the terms are worth summing."""
    return np.asarray((k >= 0) & (k <= _MOST) & (rate <= _HIGHEST))


def poisson_sums(k: Array, rate: Array) -> tuple[Array, Array]:
    r"""P(Y <= k) and P(Y = k) of few counts, by Horner's scheme.

    .. math:: P(Y \le k) = e^{-\lambda}\Bigl(1 + \frac\lambda1\Bigl(1 + \frac\lambda2\Bigl(1 + \dots
        \Bigl(1 + \frac\lambda k\Bigr)\Bigr)\Bigr)\Bigr)

    All terms are positive, so that no digits are lost. Rows are taken in falling order of their counts: those that
    have a j-th term come first.

    >>> np.round(poisson_sums(np.array([0.0, 2.0]), np.array([1.0, 1.0])), 4)
    array([[0.3679, 0.9197],
           [0.3679, 0.1839]])
    """
    counts = k.astype(np.uint8)
    order = np.argsort(counts, kind="stable")[::-1]
    reaching = np.cumsum(np.bincount(counts)[::-1])[::-1]
    rate = rate[order]
    total, mass = np.ones(len(k)), np.exp(-rate)
    with np.errstate(under="ignore"):
        for j in range(len(reaching) - 1, 0, -1):
            rows = slice(reaching[j])
            step = rate[rows] / j
            mass[rows] *= step
            total[rows] *= step
            total[rows] += 1.0
        total *= np.exp(-rate)
    out = np.empty((2, len(k)))
    out[:, order] = total, mass
    return out[0], out[1]
