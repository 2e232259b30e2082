"""Whether numbers that came from anywhere can be what was learned: none missing, in order, rising.

A part of a calibrator names the fields that must not decrease in ``_ascending``; one of which more must hold has a
method ``_check_sound`` that raises ValueError.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .._checks import Array

PLACES = np.concatenate([[-1e3, -40.0], np.linspace(-6, 6, 25), [40.0, 1e3]])  # normal scores, near and far
_BLOCK = 65_536  # bends looked at together
_SLACK = 1e-9  # of rounding, relative, where numbers must not decrease


def check_numbers(part: Any, *, missing: bool = False) -> None:
    """Raise ValueError for NaN, unless these are allowed, and for numbers that decrease where they must not.

    >>> from types import SimpleNamespace
    >>> check_numbers(SimpleNamespace(_ascending=("knots",), knots=np.array([0.0, 2.0, 1.0])))
    Traceback (most recent call last):
    ...
    ValueError: SimpleNamespace.knots must not decrease.
    """
    ascending = getattr(part, "_ascending", ())
    for name, value in vars(part).items():
        for numbers in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(numbers, (np.ndarray, float)):
                _check(np.asarray(numbers), f"{type(part).__name__}.{name}", name in ascending, missing)


def _check(numbers: Any, name: str, ascending: bool, missing: bool) -> None:
    if numbers.dtype.kind != "f":
        return
    if np.isnan(numbers).any() and (ascending or not missing):
        raise ValueError(f"{name} has NaN.")
    if ascending and numbers.ndim and np.any(numbers[..., 1:] < numbers[..., :-1]):
        raise ValueError(f"{name} must not decrease.")


def check_finite(part: Any, *names: str) -> None:
    """Raise ValueError if these attributes are not finite numbers."""
    for name in names:
        if not np.isfinite(np.asarray(getattr(part, name), dtype=np.float64)).all():
            raise ValueError(f"{type(part).__name__}.{name} must be finite.")


def check_columns(part: Any) -> None:
    """Raise ValueError for tables in what serves all rows: they would be spread over all pairs of rows."""
    for name, value in vars(part).items():
        if np.ndim(value) > 1:
            raise ValueError(f"{type(part).__name__}.{name} must be 1-dimensional; got shape {np.shape(value)}.")


def check_rising(part: Any, function: Callable[[Array], Array], bends: Array) -> None:
    """Raise ValueError if a function decreases: at its bends, close to them, between them or beyond."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        blocks = (around(bends[start : start + _BLOCK + 1]) for start in range(0, len(bends), _BLOCK))
        if not (rises(function(PLACES)) and all(rises(function(places)) for places in blocks)):
            raise ValueError(f"{type(part).__name__} must not decrease.")


def check_probabilities(part: Any, curve: Callable[[Array], Array], bends: Array) -> None:
    """Raise ValueError if a curve gives anything but probabilities, at its bends, close to them or between them."""
    with np.errstate(all="ignore"):
        p = curve(np.concatenate([PLACES, around(bends)]))
    if not np.all((p >= -_SLACK) & (p <= 1 + _SLACK)):
        raise ValueError(f"{type(part).__name__} must give probabilities.")


def around(bends: Array) -> Array:
    """The bends, their nearest neighbours on both sides, and the middles between them, sorted.

    >>> len(around(np.array([0.0, 1.0])))
    7
    """
    near = [bends, np.nextafter(bends, -np.inf), np.nextafter(bends, np.inf), 0.5 * (bends[1:] + bends[:-1])]
    return np.unique(np.concatenate(near))


def rises(values: Array) -> bool:
    """Whether there is no NaN and no step down but by rounding.

    >>> rises(np.array([0.0, 1.0, 1.0 - 1e-12])), rises(np.array([1.0, 0.0]))
    (True, False)
    """
    if np.isnan(values).any():
        return False
    before, after = values[..., :-1], values[..., 1:]
    rounding = _SLACK * (1 + np.abs(before))
    return bool(np.all((after >= before) | (np.isfinite(rounding) & (before - after <= rounding))))
