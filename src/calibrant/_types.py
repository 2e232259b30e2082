"""What users may hand over where numbers or labels are meant; `_checks` turns it into arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


class Frame(Protocol):
    """A column or frame of pandas or polars."""

    def to_numpy(self) -> Any:
        """Its values."""


class Tensor(Protocol):
    """A tensor of torch."""

    def detach(self) -> Any:
        """Itself, without its history."""


Number: TypeAlias = float | np.number[Any] | np.bool_
Entry: TypeAlias = Number | NDArray[Any] | None
Numbers: TypeAlias = Number | NDArray[Any] | Sequence[Entry | Sequence[Entry]] | Frame | Tensor
"""A number, or an array, list, column, frame or tensor of numbers; None in lists is a missing one."""
Weights: TypeAlias = Numbers | None
"""Frequencies, one a row; None is once each."""
Labels: TypeAlias = Sequence[Any] | NDArray[Any] | Frame | Tensor
"""Labels of any type, one a row."""
