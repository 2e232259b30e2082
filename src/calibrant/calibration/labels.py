"""Group labels: any hashable values, one a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.object_]
Rows = NDArray[np.intp]

_PLAIN = {str, int, bool}  # never missing
_FEW = 1 << 16  # labels whose numbers are sorted by their digits, in one pass
_HANDFUL = 16  # labels that are each looked for in all rows, where these are many
_MISSING = ("nan", "NaT", "<NA>", "None")  # how missing labels of any library print


def labels_of(groups: Any, rows: int, name: str = "groups") -> Labels:
    """Labels as Python objects, so that 1 of an integer column, of a list and of a mixed column are the same group.

    >>> labels_of(np.array([1, 2]), 2) == labels_of([1, 2], 2)
    array([ True,  True])
    """
    if groups is None:
        raise ValueError(f"`{name}` must be given: one label per forecast. No groups? Use the calibrator on its own.")
    shape = np.shape(groups) if hasattr(groups, "shape") else (len(groups),)
    if shape != (rows,):
        raise ValueError(f"`{name}` must have one label per forecast; got shape {shape} for {rows} forecasts.")
    if isinstance(groups, np.ndarray) and groups.dtype.kind == "M":
        groups = groups.astype("M8[us]")  # of finer ones NumPy makes numbers, not dates
    values = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    labels = np.empty(rows, dtype=object)
    labels[:] = values
    if not set(map(type, values)) <= _PLAIN:
        _check(values, name)
    return labels


def whole_or_labels(groups: Any, rows: int) -> NDArray[Any]:
    """Labels for `rows_by_label`: an array of whole numbers stays as it is, which is much faster for many rows."""
    if type(groups) is np.ndarray and groups.dtype.kind == "i" and groups.shape == (rows,):
        return groups
    return labels_of(groups, rows)


def _check(values: list[Any], name: str) -> None:
    """Raise TypeError for what cannot be a label, and ValueError for what is missing."""
    unhashable = {kind for kind in set(map(type, values)) if getattr(kind, "__hash__", None) is None}
    if unhashable:
        odd = next(value for value in values if type(value) in unhashable)
        raise TypeError(f"`{name}` must be labels, such as names or numbers; got {type(odd).__name__} {odd!r}.")
    gaps = {label for label in set(values) if not isinstance(label, str) and str(label) in _MISSING}
    if gaps:
        missing = [row for row, label in enumerate(values) if label in gaps]
        raise ValueError(
            f"`{name}` must not be missing; {len(missing)} of {len(values)} labels are, first {name}[{missing[0]}]. "
            "A group of their own? Give it a name."
        )


def rows_by_label(labels: NDArray[Any]) -> dict[Any, Rows]:
    """Rows of each label, in the order in which the labels first come.

    >>> rows_by_label(labels_of(["b", "a", "b"], 3))
    {'b': array([0, 2]), 'a': array([1])}
    """
    if labels.dtype.kind == "i" and len(labels):
        low, high = int(labels[labels.argmin()]), int(labels[labels.argmax()])
        if high - low < _FEW:
            return _rows_by_number(labels, low, high)
    codes = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    code = np.fromiter(map(codes.__getitem__, labels), dtype=np.intp, count=len(labels))
    order = np.argsort(code.astype(np.uint16) if len(codes) <= _FEW else code, kind="stable")
    return dict(zip(codes, np.split(order, np.cumsum(np.bincount(code))[:-1]), strict=True))


def _rows_by_number(labels: NDArray[Any], low: int, high: int) -> dict[Any, Rows]:
    """The same of whole numbers that lie close together."""
    code = np.subtract(labels, low, dtype=np.int64).astype(np.uint8 if high - low < 256 else np.uint16)
    counts = np.bincount(code)
    present = counts.nonzero()[0]
    if len(present) <= _HANDFUL and len(labels) > _FEW:
        members = [(code == each).nonzero()[0] for each in present]
    else:
        order, last = code.argsort(kind="stable"), counts[present].cumsum().tolist()
        members = [order[start:stop] for start, stop in itertools.pairwise([0, *last])]
    named = zip((present + low).tolist(), members, strict=True)
    return dict(sorted(named, key=lambda pair: int(pair[1][0])))


def places_of(members: Iterable[Rows], rows: int) -> Rows:
    """Where each row lies once the rows of all labels come one after another.

    >>> places_of([np.array([0, 2]), np.array([1])], 3)
    array([0, 2, 1])
    """
    place = np.empty(rows, dtype=np.intp)
    place[np.concatenate(list(members))] = np.arange(rows)
    return place
