"""How results show themselves: a line, numbers to four digits, long arrays by their shape."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

_MOST = 4  # entries that are shown


class Brief:
    """A dataclass (with ``repr=False``) that shows itself in a line.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(repr=False)
    ... class Fit(Brief):
    ...     error: float
    ...     knots: object
    >>> Fit(1 / 3, np.arange(3.0)), Fit(1e-9, np.zeros((100, 2)))
    (Fit(error=0.3333, knots=[0, 1, 2]), Fit(error=1e-09, knots=array (100, 2)))
    """

    __slots__ = ()

    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{each.name}={_short(getattr(self, each.name))}" for each in fields(self) if each.repr)
        return f"{type(self).__name__}({shown})"


def _short(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        few = value.ndim == 1 and len(value) <= _MOST
        return f"[{', '.join(map(_short, value.tolist()))}]" if few else f"array {value.shape}"
    return repr(value)
