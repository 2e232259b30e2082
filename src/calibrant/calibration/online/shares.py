"""How much each of several forecasters is believed: by how probable it made what came, with some doubt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..._checks import Array

RATES = (0.0005, 0.005, 0.05)  # of a change of the best forecaster, in a step
DOUBT = 0.005  # of the best rate


@dataclass(eq=False)
class Shares:
    r"""Fixed shares of K forecasters, under several rates of change, which are themselves weighed.

    .. math:: w_k \leftarrow (1-\alpha)\,\frac{w_k f_k(y)}{\sum_j w_j f_j(y)} + \alpha\,\pi_k

    Herbster & Warmuth (1998). The log score of the mixture is at most :math:`\log(1/\pi_k)` for each change and
    :math:`-\log(1-\alpha)` for each step behind the best sequence of forecasters, whatever comes.

    Parameters
    ----------
    prior : array (K,)
        Weights at first, to which shares go.
    by_rate : array (R, K)
        Weights of the forecasters under each rate.
    rates : array (R,)
        Weights of the rates.
    """

    prior: Array
    by_rate: Array
    rates: Array

    @classmethod
    def of(cls, prior: Array) -> Shares:
        """The beginning."""
        return cls(prior, np.tile(prior, (len(RATES), 1)), np.full(len(RATES), 1 / len(RATES)))

    @property
    def weights(self) -> Array:
        """Weights of the forecasters, (K,)."""
        return np.asarray(self.rates @ self.by_rate)

    def learn(self, logs: Array, w: Array, step: float) -> tuple[Array, Array]:
        """Log densities (n,) of the mixture at outcomes that come one after another, and weights (n, K) before each.

        ``logs`` (n, K) are the log densities under each forecaster.
        """
        top = logs.max(axis=1)
        likely = np.exp(logs - top[:, None])
        if (w != 1).any():
            likely = likely ** w[:, None]
        share, doubt = _per_step(step)
        back, kept = share * self.prior, 1 - share
        by_rate, rates, found, weights = self.by_rate, self.rates, np.empty(len(logs)), np.empty(logs.shape)
        for row, f in enumerate(likely):
            weights[row] = rates @ by_rate
            by_rate = by_rate * f
            total = by_rate.sum(axis=1)
            rates = rates * total
            found[row] = whole = rates.sum()
            rates = (1 - doubt) / whole * rates + doubt / len(rates)
            by_rate = by_rate * (kept / total[:, None]) + back
        self.by_rate, self.rates = by_rate, rates
        return np.asarray(np.log(found) / w + top), weights


@lru_cache(maxsize=64)
def _per_step(step: float) -> tuple[Array, float]:
    """Rates (R, 1) of a step of this length, and that of the rates themselves."""
    share = np.array([[1 - (1 - rate) ** step] for rate in RATES])
    share.flags.writeable = False
    return share, 1 - (1 - DOUBT) ** step
