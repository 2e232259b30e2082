"""Conditions on features, in words and as masks, and the bins of features that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array
from ...calibration.feature_table import FeatureTable
from ...regression.features import weighted_quantiles

Mask = NDArray[np.bool_]
Relation = Literal["=", ">", "<=", "is missing"]
MOST_BINS = 24  # of a feature
_WHOLE = 1e15  # whole numbers beyond are not written as such


@dataclass(frozen=True)
class Condition:
    """What a feature has to be: more than a number, at most a number, a value, or missing.

    Attributes
    ----------
    place : int
        Number of the feature.
    name : str
    relation : {"=", ">", "<=", "is missing"}
    value : float
        What it is compared with; of categories the number of theirs.
    label : str
        The value as words say it.

    Examples
    --------
    >>> Condition(0, "price", ">", 12.5, "12.5"), Condition(1, "region", "=", 2.0, "north")
    (price > 12.5, region = north)
    """

    place: int
    name: str
    relation: Relation
    value: float = np.nan
    label: str = ""

    def holds(self, numbers: Array) -> Mask:
        """Which rows of a table of numbers (n, d) it holds for."""
        x = numbers[:, self.place]
        if self.relation == "is missing":
            return np.asarray(np.isnan(x))
        if self.relation == "=":
            return np.asarray(x == self.value)
        return np.asarray(x > self.value if self.relation == ">" else x <= self.value)

    def moved(self, value: float) -> Condition:
        """The same with another threshold."""
        return Condition(self.place, self.name, self.relation, value, f"{value:.15g}")

    def __repr__(self) -> str:
        return f"{self.name} {self.relation} {self.label}".rstrip()


def in_words(conditions: Sequence[Condition]) -> str:
    """Conditions joined by "and"; those of one feature as a range.

    >>> in_words([Condition(0, "price", "<=", 20.0, "20"), Condition(0, "price", ">", 12.5, "12.5")])
    '12.5 < price <= 20'
    >>> in_words([])
    'all rows'
    """
    said: dict[int, list[Condition]] = {}
    for condition in conditions:
        said.setdefault(condition.place, []).append(condition)
    words = []
    for several in said.values():
        ends = {condition.relation: condition for condition in several}
        if len(several) == 2 and set(ends) == {">", "<="}:
            words.append(f"{ends['>'].label} < {several[0].name} <= {ends['<='].label}")
        else:
            words += map(repr, several)
    return " and ".join(words) or "all rows"


def hold(conditions: Sequence[Condition], numbers: Array) -> Mask:
    """Rows that all conditions hold for."""
    rows = np.ones(len(numbers), dtype=bool)
    for condition in conditions:
        rows &= condition.holds(numbers)
    return rows


class FeatureBins(NamedTuple):
    """Bins of a feature: that of each row (n,), the conditions, and which bins each of them has (C, B)."""

    codes: NDArray[np.intp]
    conditions: list[Condition]
    members: Array


def feature_bins(table: FeatureTable, numbers: Array, weights: Array) -> list[FeatureBins]:
    """Bins of all features: categories, or numbers between their quantiles; what is missing is a bin of its own."""
    found = []
    for place, known in enumerate(table.categories):
        name = f"x{place}" if table.names is None else table.names[place]
        x = numbers[:, place]
        if known is None:
            found.append(_of_numbers(place, name, x, weights))
        else:
            found.append(_of_values(place, name, x, weights, [str(label) for label in known]))
    return found


def _of_values(place: int, name: str, x: Array, weights: Array, labels: Sequence[str]) -> FeatureBins:
    """The most frequent categories, each a bin; the others are one that no condition has."""
    gone = np.isnan(x)
    code = np.where(gone, 0, x).astype(np.intp)
    mass = np.bincount(code[~gone], weights[~gone], len(labels))
    kept = np.sort(np.argsort(-mass, kind="stable")[:MOST_BINS])
    kept = kept[mass[kept] > 0]
    number = np.full(len(labels) + 1, len(kept), dtype=np.intp)
    number[kept] = np.arange(len(kept))
    conditions = [Condition(place, name, "=", float(k), labels[k]) for k in kept]
    return _with_missing(place, name, number[code], gone, conditions, np.eye(len(kept), len(kept) + 1))


def _of_numbers(place: int, name: str, x: Array, weights: Array) -> FeatureBins:
    """Bins between quantiles, or of each value where there are few."""
    gone = np.isnan(x)
    there = x[~gone]
    values = np.unique(there)
    few = len(values) <= MOST_BINS
    levels = np.arange(1, MOST_BINS) / MOST_BINS
    tops = values[:-1] if few else np.unique(weighted_quantiles(there, weights[~gone], levels))
    tops = tops[tops < values[-1]] if len(values) else tops
    following = values[np.searchsorted(values, tops, side="right")] if len(tops) else tops
    cuts = [between(low, high) for low, high in zip(tops, following, strict=True)]
    codes = np.searchsorted(tops, x, side="left").astype(np.intp)
    bins = np.arange(len(tops) + 1)
    conditions, members = [], []
    if few and len(values) > 1:
        conditions += [Condition(place, name, "=", float(v), f"{v:.15g}") for v in values]
        members += list(np.eye(len(values)))
    for k, cut in enumerate(cuts):
        label = f"{cut:.15g}"
        conditions += [Condition(place, name, ">", cut, label), Condition(place, name, "<=", cut, label)]
        members += [(bins > k).astype(np.float64), (bins <= k).astype(np.float64)]
    return _with_missing(place, name, codes, gone, conditions, np.array(members).reshape(len(conditions), len(bins)))


def _with_missing(
    place: int, name: str, codes: NDArray[np.intp], gone: Mask, conditions: list[Condition], members: Array
) -> FeatureBins:
    """Add the bin of missing values, and their condition where there are some and others."""
    codes = np.where(gone, members.shape[1], codes)
    members = np.pad(members, ((0, 0), (0, 1)))
    if gone.any() and not gone.all():
        conditions = [*conditions, Condition(place, name, "is missing")]
        members = np.vstack([members, np.eye(1, members.shape[1], members.shape[1] - 1)])
    return FeatureBins(codes, conditions, members)


def between(low: float, high: float) -> float:
    """The shortest number from low to below high.

    >>> between(12.4321, 12.5678), between(3, 4), between(0.1, 0.1 + 1e-17)
    (12.5, 3.0, 0.1)
    """
    low, high = float(low), float(high)
    if abs(low) < _WHOLE and low == round(low):
        return low
    for digits in range(1, 18):
        cut = float(f"{low / 2 + high / 2:.{digits}g}")
        if low <= cut < high:
            return cut
    return low
