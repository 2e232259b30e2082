"""Class labels of any type, as numbers 0, 1, ... of sorted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.intp]
Classes = NDArray[Any]

_COUNTED = 100  # the widest range of whole numbers that are counted instead of sorted
_MISSING = ("nan", "NaT", "<NA>", "None")  # how missing labels of any library print


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """One-dimensional array of labels: texts, numbers, booleans, from lists, NumPy, pandas, polars or tensors.

    >>> as_labels(["spam", "ham"])
    array(['spam', 'ham'], dtype='<U4')
    """
    if y is None:
        raise TypeError(f"`{name}` must be class labels; got None.")
    if hasattr(y, "detach"):
        y = y.detach().cpu().numpy()
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy()
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"`{name}` must be 1-dimensional class labels; got shape {labels.shape}.")
    if labels.dtype.kind == "O":
        labels = _of_one_type(labels, name)
    return labels


def _of_one_type(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Python objects of one type as an array of that type; missing ones stay None."""
    gone = missing_labels(labels)
    kinds = {type(label) for label in labels[~gone]}
    if kinds <= {bool, int, float, np.bool_, np.int64, np.float64}:
        if not gone.any():
            return np.array(labels.tolist())
        return np.where(gone, np.nan, labels).astype(np.float64)
    if len(kinds) > 1 and not all(issubclass(kind, str) for kind in kinds):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"`{name}` must be labels of one type; got {names}.")
    return labels if gone.any() else np.array(labels.tolist(), dtype=None if kinds <= {str} else object)


def missing_labels(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Which labels are missing: NaN, None, NaT, NA."""
    if labels.dtype.kind == "f":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind != "O":
        return np.zeros(len(labels), dtype=bool)
    return np.array([not isinstance(label, str) and str(label) in _MISSING for label in labels], dtype=bool)


def encode(labels: NDArray[Any], classes: Classes, name: str = "y") -> Codes:
    """Place of each label among the classes; an unknown one is an error.

    >>> encode(np.array(["b", "a", "b"]), np.array(["a", "b"]))
    array([1, 0, 1])
    """
    codes = _places(labels, classes)
    unknown = np.asarray(classes[codes] != labels)
    if unknown.any():
        known = ", ".join(repr(label) for label in classes[:10].tolist())
        more = ", ..." if len(classes) > 10 else ""
        raise ValueError(
            f"`{name}` must be one of the classes {known}{more}; {int(unknown.sum())} of {len(labels)} labels are not, "
            f"first {name}[{int(np.argmax(unknown))}] = {labels[np.argmax(unknown)].item()!r}."
        )
    return np.asarray(codes, dtype=np.intp)


def _places(labels: NDArray[Any], classes: Classes) -> Codes:
    """Where each label would be among the classes."""
    if labels.dtype.kind in "bi" and classes.dtype.kind in "bi" and (classes == np.arange(len(classes))).all():
        return np.asarray(np.clip(labels, 0, len(classes) - 1), dtype=np.intp)  # they are their own places
    order = np.argsort(classes, kind="stable")
    return np.asarray(order[np.minimum(np.searchsorted(classes[order], labels), len(classes) - 1)])


def distinct(labels: NDArray[Any]) -> Classes:
    """The sorted labels; those of a few whole numbers by counting.

    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    if labels.dtype.kind == "i" and len(labels):
        low, high = labels.min(), labels.max()
        if int(high) - int(low) <= _COUNTED:
            return np.asarray(np.flatnonzero(np.bincount(labels - low)) + low, dtype=labels.dtype)
    return np.unique(labels)


def classes_of(labels: NDArray[Any], columns: int, names: Any = None, fewest: int = 2) -> Classes:
    """The classes that the columns of scores stand for.

    Those given, or the sorted labels. Integer labels below the number of columns number the columns, so that a class
    without rows does no harm.
    """
    found = distinct(labels)
    if len(found) < fewest:
        raise ValueError(f"`y` must have at least two classes; all {len(labels)} labels are {found[0].item()!r}.")
    if names is not None:
        given = as_labels(names, "classes")
        if len(given) != columns or len(np.unique(given)) != columns:
            raise ValueError(f"`classes` must name the {columns} columns of `scores`; got {given.tolist()!r}.")
        return given
    if len(found) == columns:
        return found
    if found.dtype.kind in "iu" and found.min() >= 0 and found.max() < columns:
        return np.arange(columns)
    raise ValueError(
        f"`scores` has {columns} columns, but `y` has {len(found)} classes. Say classes=[...] with their labels."
    )
