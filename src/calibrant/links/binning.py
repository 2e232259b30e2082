"""Calibration of binary probabilities by bins of equal size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log_expit

from .._checks import Array
from .base import Link
from .trials import Trials

TRUSTS = np.geomspace(0.5, 1e4, 18)  # events' worth of trust in the forecast of each bin


@dataclass(frozen=True, eq=False)
class BinningLink(Link):
    r"""Within a bin the forecast probability times observed over expected events, :math:`(k+\alpha)/(e+\alpha)`.

    The ratio, not the share, is what a bin learns: where few events are expected nothing changes, and a probability of
    :math:`10^{-50}` is not lifted to the mean of its bin.

    Parameters
    ----------
    edges : array (K, B - 1)
        Inner edges of the bins, in logits.
    log_ratio : array (K, B)

    Examples
    --------
    >>> link = BinningLink(np.array([[0.0]]), np.log([[0.5, 1.0]]))
    >>> np.exp(link.log_probability(np.array([[-1.0], [1.0]]))).ravel() / expit([-1.0, 1.0])
    array([0.5, 1. ])
    """

    _ascending: ClassVar[tuple[str, ...]] = ("edges",)

    edges: Array
    log_ratio: Array

    @classmethod
    def fit(cls, trials: Trials, *, penalty: float | str = "evidence", n_bins: int = 10) -> Self:
        """Bins of equal numbers of expected events.

        Parameters
        ----------
        trials : Trials
        penalty : float or "evidence"
            α, or the one under which the outcomes of all problems are most probable.
        n_bins : int
        """
        inner, seen, expected = count_events(trials, n_bins)
        trust = most_probable_trust(seen, expected) if penalty == "evidence" else float(penalty)
        return cls(inner, np.log((seen + trust) / (expected + trust)))

    def log_odds(self, logits: Array) -> Array:
        """Logits of the probability times its bin's ratio."""
        out = np.empty(logits.shape)
        for j, (inner, ratio) in enumerate(zip(self.edges, self.log_ratio, strict=True)):
            log_p = np.minimum(log_expit(logits[:, j]) + ratio[np.searchsorted(inner, logits[:, j])], -1e-12)
            out[:, j] = log_p - np.log(-np.expm1(log_p))
        return out


def count_events(trials: Trials, n_bins: int) -> tuple[Array, Array, Array]:
    """Inner edges (K, B - 1) of bins of equal expectation, and events seen and expected (K, B)."""
    edges, seen, expected = [], [], []
    for points in zip(trials.logits, trials.rows, trials.events, strict=True):
        x, rows, events = (part[points[1] > 0] for part in points)
        order = np.argsort(x, kind="stable")
        mass = rows * expit(x)
        reached = np.cumsum(mass[order])
        at = np.searchsorted(reached, reached[-1] * np.arange(1, n_bins) / n_bins * (1 - 1e-12))
        inner = _gaps(x[order], at)
        cell = np.searchsorted(inner, x)
        edges.append(inner)
        seen.append(np.bincount(cell, events, n_bins))
        expected.append(np.bincount(cell, mass, n_bins))
    return np.array(edges), np.array(seen), np.array(expected)


def _gaps(x: Array, at: NDArray[np.intp]) -> Array:
    """Half way from these entries of a sorted column to the next larger ones."""
    here = x[np.minimum(at, len(x) - 1)]
    following = np.append(x, x[-1])[np.searchsorted(x, here, side="right")]
    return np.asarray(0.5 * (here + following))


def most_probable_trust(seen: Array, expected: Array) -> float:
    r"""The α under which k events where e are expected are most probable, their ratio being Gamma(α, α).

    .. math:: \log p(k) = \log\frac{\Gamma(k+\alpha)}{\Gamma(\alpha)}
        + \alpha\log\frac{\alpha}{\alpha+e} - k\log(\alpha+e) + \text{const}

    >>> float(most_probable_trust(np.array([5.0, 5.0]), np.array([5.0, 5.0])))
    10000.0
    """
    k, e, trust = seen.ravel()[:, None], expected.ravel()[:, None], TRUSTS[None, :]
    each = gammaln(k + trust) - gammaln(trust) - trust * np.log1p(e / trust) - k * np.log(trust + e)
    return float(TRUSTS[np.argmax(each.sum(axis=0))])
