"""The columns that calibration adds to a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import Array, one_of, probabilities
from .._types import Numbers
from ..distributions import Distribution
from ..distributions.guaranteed import is_guaranteed

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
SUFFIX = "_calibrated"
Place = str | float  # a column of outcomes or thresholds, or one number for all rows


@dataclass(frozen=True)
class Added:
    """What to add, in this order.

    Attributes
    ----------
    items : tuple
        ``("level", 0.1)``, ``("coverage", 0.9)``, ``("mean", None)``, ``("std", None)``, ``("cdf", "y")`` for the
        probability of an outcome up to that in column y, ``("cdf", 30.0)`` for that up to 30. If empty: quantiles at
        five levels.

    Examples
    --------
    >>> from calibrant import Normal
    >>> columns = Added.of(coverage=[0.9], mean=True).columns(Normal([0.0], 1.0))
    >>> {name: values.round(2).tolist() for name, values in columns.items()}
    {'lo-90': [-1.64], 'hi-90': [1.64], 'mean': [0.0]}
    """

    items: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(
        cls,
        *,
        levels: Numbers = (),
        coverage: Numbers = (),
        mean: bool = False,
        std: bool = False,
        cdf: Place | Iterable[Place] = (),
    ) -> Added:
        """Quantiles, then intervals, then moments, then probabilities; one number or name stands for itself."""
        items: list[tuple[str, Any]] = [("level", each) for each in _numbers(levels, "levels")]
        items += [("coverage", each) for each in _numbers(coverage, "coverage")]
        places = [cdf] if isinstance(cdf, str | int | float) else cdf
        return cls((*items, *[("mean", None)] * mean, *[("std", None)] * std, *(("cdf", each) for each in places)))

    def apart(self) -> tuple[Added | None, tuple[Place, ...]]:
        """What is asked for beside distribution functions, None if that is nothing, and the places of these."""
        others = tuple(item for item in self.items if item[0] != "cdf")
        places = tuple(place for kind, place in self.items if kind == "cdf")
        return (None if places and not others else Added(others)), places

    def chances(self) -> list[str]:
        """What the columns of distribution functions are called."""
        return [name for place in self.apart()[1] for name in _names("cdf", place)]

    def among(self, names: Sequence[str]) -> Added:
        """The same; what distribution functions are asked for at must be among these columns, or a number."""
        for place in self.apart()[1]:
            if isinstance(place, str):
                one_of(place, "cdf", names)
        return self

    def names(self) -> list[str]:
        """What the columns of distributions are called."""
        return [name for kind, value in self._asked for name in _names(kind, value)]

    @property
    def _asked(self) -> tuple[tuple[str, Any], ...]:
        return self.items or tuple(("level", level) for level in LEVELS)

    def columns(
        self, forecasts: Any, labels: Iterable[Any] = (), at: Callable[[Place], Array] = np.asarray
    ) -> dict[str, Array]:
        """The columns of calibrated forecasts: of distributions what was asked for, of classes a column a label.

        ``at`` gives the numbers, one a row, at which distribution functions are asked for, NaN where there is none.
        """
        if isinstance(forecasts, Distribution):
            return self._of_laws(forecasts, at)
        if self.items:
            kind = "class probabilities have" if forecasts.ndim == 2 else "calibrated points have"
            raise ValueError(f"{kind} no quantiles, intervals, means or standard deviations to add.")
        if forecasts.ndim == 2:
            return {f"p_{label}": forecasts[:, j] for j, label in enumerate(labels)}
        return {"point": forecasts}

    def _of_laws(self, laws: Distribution, at: Callable[[Place], Array]) -> dict[str, Array]:
        levels = sorted({level for kind, value in self._asked for level in _levels(kind, value)})
        quantiles = dict(zip(levels, laws.quantiles(levels).T, strict=True)) if levels else {}
        out: dict[str, Array] = {}
        for kind, value in self._asked:
            if kind == "coverage" and is_guaranteed(laws):
                out |= dict(zip(_names(kind, value), laws.interval(value or 0.0).T.copy(), strict=True))
            elif kind in ("mean", "std"):
                out[kind] = laws.mean() if kind == "mean" else laws.std()
            elif kind == "cdf":
                out[_names(kind, value)[0]] = _below(laws, at(value))
            else:
                values = [np.ascontiguousarray(quantiles[level]) for level in _levels(kind, value)]
                out |= dict(zip(_names(kind, value), values, strict=True))
        return out


def free_names(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Names for new columns beside those that are taken.

    >>> free_names(["mean", "q0.1"], ["mean", "y"])
    {'mean': 'mean_calibrated', 'q0.1': 'q0.1'}
    """
    used, out = set(taken), {}
    for name in names:
        out[name] = name
        while out[name] in used:
            out[name] += SUFFIX
        used.add(out[name])
    return out


def _below(laws: Distribution, y: Array) -> Array:
    """Distribution functions, NaN where there is no outcome."""
    blank = np.isnan(y)
    return np.where(blank, np.nan, laws.cdf(np.where(blank, 0.0, y)))


def _levels(kind: str, value: Any) -> list[float]:
    if kind not in ("level", "coverage"):
        return []
    return [value] if kind == "level" else [round(0.5 - value / 2, 12), round(0.5 + value / 2, 12)]


def _names(kind: str, value: Any) -> list[str]:
    if kind == "level":
        return [f"q{value:g}"]
    if kind == "cdf":
        return [f"cdf_{value}" if isinstance(value, str) else f"cdf_{value:g}"]
    if kind != "coverage":
        return [kind]
    percent = f"{100 * (value or 0.0):.6g}"
    return [f"lo-{percent}", f"hi-{percent}"]


def _numbers(given: Any, name: str) -> list[float]:
    return [float(each) for each in probabilities(given, name)] if np.size(given) else []
