"""What every curve from scores to probabilities is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from .._checks import Array
from ..numerics.soundness import check_columns, check_numbers, check_probabilities


class Curve(ABC):
    """A function from the scores of a class to its probabilities."""

    _ascending: ClassVar[tuple[str, ...]] = ()  # fields that must not decrease, first of all the places of the bends

    @abstractmethod
    def __call__(self, x: Array) -> Array:
        """Probabilities of scores (n,)."""

    def _check_sound(self) -> None:
        check_numbers(self)
        check_columns(self)
        bends = np.asarray(getattr(self, self._ascending[0])) if self._ascending else np.empty(0)
        check_probabilities(self, self, bends)
