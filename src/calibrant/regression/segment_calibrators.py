"""Binary calibrators of any kind, one for each segment of the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from .._checks import Array
from ..calibration.one_score import fit_one_score, one_probability
from ..links import Link

_LEAST = np.log(1e-12)  # of the forecast's own probability: what a calibrator's 0 is taken for


@dataclass(frozen=True, eq=False)
class CalibratorLink(Link):
    r"""What K fitted calibrators say, :math:`c_k(s)`, at least :math:`10^{-12} s`.

    Parameters
    ----------
    calibrators : list of K calibrators
        None where all outcomes were alike.
    shares : array (K,)
        Share of events, which stands for those.
    kind : {"probabilities", "logits", "margins"}
        What they are given: s, its logit, or s called a margin.

    Examples
    --------
    >>> from calibrant import PlattCalibrator
    >>> x, which = np.array([[1.0, -1.0], [0.5, -0.5], [-1.0, 1.0]]), np.array([0, 1, 1])
    >>> link = CalibratorLink.fit(PlattCalibrator(), x, which, np.ones(3))
    >>> np.exp(link.log_probability(x)).round(2)
    array([[0.53, 0.47],
           [0.44, 0.56],
           [0.2 , 0.8 ]])
    """

    calibrators: list[Any]
    shares: Array
    kind: str

    @classmethod
    def fit(cls, calibrator: Any, logits: Array, which: NDArray[np.intp], weights: Array) -> Self:
        """Copies of a calibrator fitted to logits (n, K) and the event of each row (n,)."""
        kind = str(getattr(calibrator, "scores_are", "probabilities"))
        w = None if (weights == 1).all() else weights
        shares = np.bincount(which, weights, logits.shape[1]) / weights.sum()
        mixed = (shares > 0) & (np.bincount(which, minlength=logits.shape[1]) < len(which))
        fitted = [
            fit_one_score(calibrator, _scores(logits[:, k], kind), kind, which == k, w) if mixed[k] else None
            for k in range(logits.shape[1])
        ]
        return cls(fitted, shares, kind)

    def log_odds(self, logits: Array) -> Array:
        """Logits of the calibrated probabilities, (n, K)."""
        log_c = np.minimum(self.log_probability(logits), -1e-16)
        return np.asarray(log_c - np.log(-np.expm1(log_c)))

    def log_probability(self, logits: Array) -> Array:
        """Logs of the calibrated probabilities, (n, K)."""
        out = np.empty(logits.shape)
        for k, calibrator in enumerate(self.calibrators):
            out[:, k] = self.shares[k] if calibrator is None else self._one(calibrator, logits[:, k])
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(np.log(out), log_expit(logits) + _LEAST))

    def _one(self, calibrator: Any, x: Array) -> Array:
        return one_probability(calibrator, _scores(x, self.kind), self.kind)


def _scores(logits: Array, kind: str) -> Array:
    return np.clip(logits, -700, 700) if kind == "logits" else expit(logits)
