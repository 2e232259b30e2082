"""Group labels: any hashable values, one a row."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.object_]
Rows = NDArray[np.intp]

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
    labels = np.empty(rows, dtype=object)
    labels[:] = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    if set(map(type, labels)) == {str}:
        return labels  # as nearly always
    odd = next((label for label in labels if not isinstance(label, Hashable)), None)
    if odd is not None:
        raise TypeError(f"`{name}` must be labels, such as names or numbers; got {type(odd).__name__} {odd!r}.")
    missing = [row for row, label in enumerate(labels) if not isinstance(label, str) and str(label) in _MISSING]
    if missing:
        raise ValueError(
            f"`{name}` must not be missing; {len(missing)} of {rows} labels are, first {name}[{missing[0]}]. "
            "A group of their own? Give it a name."
        )
    return labels


def rows_by_label(labels: Labels) -> dict[Any, Rows]:
    """Rows of each label, in the order in which the labels first come.

    >>> rows_by_label(labels_of(["b", "a", "b"], 3))
    {'b': array([0, 2]), 'a': array([1])}
    """
    codes = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    code = np.fromiter(map(codes.__getitem__, labels), dtype=np.intp, count=len(labels))
    order = np.argsort(code, kind="stable")
    return dict(zip(codes, np.split(order, np.cumsum(np.bincount(code))[:-1]), strict=True))
