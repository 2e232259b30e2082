"""The columns that calibration adds to a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import Array, probabilities
from .._types import Numbers
from ..distributions import Distribution
from ..distributions.guaranteed import is_guaranteed

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
SUFFIX = "_calibrated"


@dataclass(frozen=True)
class Added:
    """What to add, in this order.

    Attributes
    ----------
    items : tuple
        ``("level", 0.1)``, ``("coverage", 0.9)``, ``("mean", None)``, ``("std", None)``. If empty: quantiles at five
        levels.

    Examples
    --------
    >>> from calibrant import Normal
    >>> columns = Added.of(coverage=[0.9], mean=True).columns(Normal([0.0], 1.0))
    >>> {name: values.round(2).tolist() for name, values in columns.items()}
    {'lo-90': [-1.64], 'hi-90': [1.64], 'mean': [0.0]}
    """

    items: tuple[tuple[str, float | None], ...] = ()

    @classmethod
    def of(cls, *, levels: Numbers = (), coverage: Numbers = (), mean: bool = False, std: bool = False) -> Added:
        """Quantiles, then intervals, then moments; one number stands for itself."""
        items: list[tuple[str, float | None]] = [("level", each) for each in _numbers(levels, "levels")]
        items += [("coverage", each) for each in _numbers(coverage, "coverage")]
        return cls((*items, *[("mean", None)] * mean, *[("std", None)] * std))

    def columns(self, forecasts: Any, labels: Iterable[Any] = ()) -> dict[str, Array]:
        """The columns of calibrated forecasts: of distributions what was asked for, of classes a column a label."""
        if isinstance(forecasts, Distribution):
            return self._of_laws(forecasts)
        if self.items:
            kind = "class probabilities have" if forecasts.ndim == 2 else "calibrated points have"
            raise ValueError(f"{kind} no quantiles, intervals, means or standard deviations to add.")
        if forecasts.ndim == 2:
            return {f"p_{label}": forecasts[:, j] for j, label in enumerate(labels)}
        return {"point": forecasts}

    def _of_laws(self, laws: Distribution) -> dict[str, Array]:
        items = self.items or tuple(("level", level) for level in LEVELS)
        levels = sorted({level for kind, value in items for level in _levels(kind, value)})
        quantiles = dict(zip(levels, laws.quantiles(levels).T, strict=True)) if levels else {}
        out: dict[str, Array] = {}
        for kind, value in items:
            if kind == "coverage" and is_guaranteed(laws):
                out |= dict(zip(_names(kind, value), laws.interval(value or 0.0).T.copy(), strict=True))
            elif kind in ("mean", "std"):
                out[kind] = laws.mean() if kind == "mean" else laws.std()
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


def _levels(kind: str, value: float | None) -> list[float]:
    if value is None:
        return []
    return [value] if kind == "level" else [round(0.5 - value / 2, 12), round(0.5 + value / 2, 12)]


def _names(kind: str, value: float | None) -> list[str]:
    if kind == "level":
        return [f"q{value:g}"]
    percent = f"{100 * (value or 0.0):.6g}"
    return [f"lo-{percent}", f"hi-{percent}"]


def _numbers(given: Any, name: str) -> list[float]:
    return [float(each) for each in probabilities(given, name)] if np.size(given) else []
