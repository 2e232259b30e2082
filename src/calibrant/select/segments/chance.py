"""How probable so many or so few events are, and which of several findings can be believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr

from ..._checks import Array

_STEEPEST = 40.0  # log odds


def events_by_chance(p: Array, events: NDArray[np.bool_], weights: Array) -> float:
    r"""Two-sided p-value of the number of independent events with these probabilities.

    Twice the smaller tail, by the saddlepoint formula of Lugannani and Rice (1980) for whole numbers: with
    :math:`K(s) = \sum w \ln(1 - p + p e^s)`, :math:`K'(s) = x`, :math:`r = \sqrt{2(s x - K)}` and
    :math:`u = (1 - e^{-s}) \sqrt{K''(s)}`,

    .. math:: P(X \ge x) \approx \Phi(-r) + \phi(r) (1/u - 1/r)

    Examples
    --------
    Eight or more heads of ten coins have probability 56 / 1024 = 0.055:

    >>> events_by_chance(np.full(10, 0.5), np.arange(10) < 8, np.ones(10))
    0.113
    """
    seen, mean = float(np.dot(weights, events)), float(np.dot(weights, p))
    if seen < mean:
        p, seen, mean = 1 - p, float(weights.sum()) - seen, float(weights.sum()) - mean
    variance = float(np.dot(weights, p * (1 - p)))
    if seen - mean <= 0.5 * np.sqrt(variance):  # where the formula divides by nearly 0, and there is nothing to find
        return 1.0
    possible = p > 0
    if seen >= float(weights[possible].sum()) * (1 - 1e-12):  # all that can come came
        return float(min(1.0, 2 * np.exp(np.dot(weights[possible], np.log(p[possible])))))
    certain, some = p == 1, possible & (p < 1)
    x, w, odds = seen - float(weights[certain].sum()), weights[some], logit(p[some])
    s = brentq(lambda s: float(np.dot(w, expit(odds + s))) - x, 0.0, _STEEPEST)
    bent = expit(odds + s)
    height = float(np.dot(w, np.logaddexp(0.0, odds + s) - np.logaddexp(0.0, odds)))
    r = np.sqrt(2 * max(s * x - height, 0.0))
    u = -np.expm1(-s) * np.sqrt(np.dot(w, bent * (1 - bent)))
    tail = ndtr(-r) + np.exp(-r * r / 2) / np.sqrt(2 * np.pi) * (1 / u - 1 / r)
    return float(np.clip(2 * tail, 0.0, 1.0))


def adjusted(p_values: Array) -> Array:
    r"""P-values adjusted for the false discovery rate, whatever the dependence of the tests.

    .. math:: \tilde p_{(i)} = \min_{j \ge i} \min\Bigl(1, \frac{m}{j} \sum_{k=1}^m \frac1k \, p_{(j)}\Bigr)

    Of findings with :math:`\tilde p \le \alpha` at most a share α is wrong on average. Benjamini and Yekutieli (2001),
    theorem 1.3.

    Examples
    --------
    >>> adjusted(np.array([0.01, 0.5, 0.02])).round(3)
    array([0.055, 0.917, 0.055])
    """
    m = len(p_values)
    order = np.argsort(-p_values, kind="stable")
    ranks = np.arange(m, 0, -1)
    harmonic = np.sum(1 / np.arange(1, m + 1))
    out = np.empty(m)
    out[order] = np.minimum(1.0, np.minimum.accumulate(p_values[order] * harmonic * m / ranks))
    return out
