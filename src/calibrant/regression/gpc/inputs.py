"""What a classifier of thresholds is a function of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ..._checks import Array

FARTHEST = 4.0  # scores are features up to here
LENGTHS = {"score": np.array([0.7, 0.35]), "q": np.array([0.2, 0.35])}  # of the kernel along input and threshold
ENDS = {"score": (-FARTHEST, FARTHEST), "q": (0.0, 1.0)}


@dataclass(frozen=True)
class Inputs:
    """The score of q(t), clipped at ±4, or q(t) itself; and t, from -2 to 2 over its range.

    >>> Inputs("q", (0.0, 10.0)).points(np.array([0.0]), np.array([5.0]))
    array([[0.5, 0. ]])
    """

    kind: str
    range: tuple[float, float]

    def points(self, z: Array, t: Array) -> Array:
        """Scores and thresholds, which broadcast, as points (n, 2)."""
        first = self.first(z)
        return np.column_stack([first.ravel(), np.broadcast_to(self.place(t), first.shape).ravel()])

    def first(self, z: Array) -> Array:
        """From scores."""
        return np.asarray(ndtr(z) if self.kind == "q" else np.clip(z, -FARTHEST, FARTHEST))

    def place(self, t: Array) -> Array:
        """From thresholds."""
        low, high = self.range
        return np.asarray(4 * (t - low) / (high - low) - 2)
