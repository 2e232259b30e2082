"""Bets against class probabilities: alternatives to the log odds of events."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from .._checks import Array
from ..select.segments.measured import class_fault
from .bets import Bets, Seen, mean_of

SHIFTS = np.array([0.2, 0.4, 0.8, 1.6, -0.2, -0.4, -0.8, -1.6])  # of log odds
LOG_SLOPES = np.array([-1.2, -0.6, -0.3, 0.3, 0.6])
_LEAST = 1e-12  # probabilities nearer to 0 and 1 count as if they were there


class EventBets(Bets):
    r"""Alternatives to the probability p of an event, of log odds x.

    ========== ==========================================
    bias       log odds :math:`x \pm \delta`, δ from 0.2 to 1.6
    confidence log odds :math:`\beta x`, log β from -1.2 to 0.6
    ========== ==========================================
    """

    KINDS: ClassVar[tuple[str, ...]] = ("bias", "confidence")
    WIDTH = "confidence"

    def seen(self, forecasts: Array, y: NDArray[np.bool_]) -> Seen:
        p = np.clip(forecasts, _LEAST, 1 - _LEAST)
        x, sizes = (np.log(p) - np.log1p(-p))[:, None], self._sizes()
        others = np.concatenate([self._other(kind, x, sizes[kind]) for kind in self.KINDS], axis=1)
        won, lost = (self._chosen(log_expit(sign * others) - log_expit(sign * x)) for sign in (1, -1))
        gains = np.where(y[:, None], won, lost)
        if self.tolerance:
            high, low = expit(x + self.tolerance), expit(x - self.tolerance)
            means = [np.exp(won) * share + np.exp(lost) * (1 - share) for share in (high, low)]
            gains -= np.log(np.maximum(np.maximum(*means), 1.0))
        surplus = y - p
        sums = [np.ones(len(p)), surplus, np.sign(x[:, 0]) * surplus, y.astype(np.float64), p]
        return Seen(gains, np.column_stack(sums))

    def size(self, kind: str, sums: Array) -> float:
        """How much more often the event, or the more probable of both, came than was forecast."""
        return mean_of(sums, 1 if kind == "bias" else 2)

    def words(self, kind: str, place: int, sums: Array) -> str:
        return "probabilities " + class_fault(kind, self.size(kind, sums))

    def _other(self, kind: str, x: Array, sizes: Array) -> Array:
        """Log odds by the alternatives of a kind."""
        return x + sizes if kind == "bias" else x * np.exp(sizes)

    def _sizes(self) -> dict[str, Array]:
        return {"bias": SHIFTS, "confidence": LOG_SLOPES}


class TopBets(EventBets):
    r"""Alternatives to the probability that the most probable class is right: log odds :math:`x \pm \delta`."""

    KINDS = ("confidence",)

    def size(self, kind: str, sums: Array) -> float:
        """How much more often the most probable class was right than was forecast."""
        return mean_of(sums, 1)

    def _other(self, kind: str, x: Array, sizes: Array) -> Array:
        return x + sizes

    def _sizes(self) -> dict[str, Array]:
        return {"confidence": SHIFTS}
