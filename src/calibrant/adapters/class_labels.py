"""Class labels of any type: which column of scores is whose, and labels as numbers of the columns."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import plain_array

Codes = NDArray[np.intp]
Classes = NDArray[Any]

_COUNTED = 100  # the widest range of whole numbers that are counted instead of sorted
_MISSING = ("nan", "NaT", "<NA>", "None")  # how missing labels of any library print
_PREFIXED = re.compile(r"(?P<prefix>p|prob|proba|probability)_(?P<label>.+)", re.IGNORECASE | re.DOTALL)
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """One-dimensional array of labels: texts, numbers, booleans, from lists, NumPy, pandas, polars or tensors.

    >>> as_labels(["spam", "ham"])
    array(['spam', 'ham'], dtype='<U4')
    """
    if y is None:
        raise TypeError(f"`{name}` must be class labels; got None.")
    labels = plain_array(y)
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


def encode(labels: NDArray[Any], classes: Classes, name: str = "y", of: str = "the classes", hint: str = "") -> Codes:
    """Place of each label among the classes; an unknown one is an error.

    >>> encode(np.array(["b", "a", "b"]), np.array(["a", "b"]))
    array([1, 0, 1])
    """
    codes = _places(labels, classes)
    unknown = np.asarray(classes[codes] != labels)
    if unknown.any():
        known = ", ".join(repr(label) for label in classes[:10].tolist())
        more = ", ..." if len(classes) > 10 else ""
        first = int(np.argmax(unknown))
        raise ValueError(
            f"`{name}` must be one of {of} {known}{more}; {int(unknown.sum())} of {len(labels)} labels are not, "
            f"first {name}[{first}] = {labels[[first]].tolist()[0]!r}.{hint}"
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


def class_numbers(
    labels: NDArray[Any], columns: int, classes: Any = None, own: Any = None, *, y: str = "y", scores: str = "scores"
) -> tuple[Classes, Codes]:
    """Classes of the columns of scores, and the number of each label's class: the one place where this is decided.

    The classes that are given; else those that the scores carry; else, of whole numbers below the number of columns,
    the numbers of the columns, so that a class without rows does no harm; else the sorted labels. Labels and classes of
    different types are matched by how they are written.

    >>> class_numbers(np.array([11, 2]), 3, own=np.array(["11", "2", "5"]))
    (array([11,  2,  5]), array([0, 1]))
    """
    if classes is not None:
        alike, known = _alike(labels, named_columns(classes, columns, scores))
        return known, encode(alike, known, y)
    own = completed(own, labels)
    if own is not None:
        alike, known = _alike(labels, own)
        hint = " Rename the columns, or say classes=[...] in their order."
        return known, encode(alike, known, y, f"the columns of `{scores}`,", hint)
    if _are_places(labels, columns):
        return np.arange(columns).astype(labels.dtype), labels.astype(np.intp, copy=False)
    found = distinct(labels)
    if len(found) == 1:
        raise ValueError(f"`{y}` has only the label {found.tolist()[0]!r}. Say classes=[...] with all labels.")
    if len(found) != columns:
        raise ValueError(
            f"`{scores}` has {columns} columns, `{y}` {len(found)} classes. Say classes=[...] with all labels."
        )
    return found, encode(labels, found, y)


def named_columns(classes: Any, columns: int, scores: str = "scores") -> Classes:
    """Labels of the columns of scores, each its own."""
    known = as_labels(classes, "classes")
    if len(known) != columns or len(set(known.tolist())) != columns:
        raise ValueError(f"`classes` must name the {columns} columns of `{scores}`; got {known.tolist()!r}.")
    return known


def labels_of_columns(names: list[Any] | None) -> Classes | None:
    """Labels that the names of a frame's columns tell; None where a frame numbers them itself.

    >>> labels_of_columns(["p_cat", "p_dog"]), labels_of_columns(["cat", "dog"]), labels_of_columns([0, 1])
    (array(['cat', 'dog'], dtype='<U3'), array(['cat', 'dog'], dtype='<U3'), None)
    """
    if names is None:
        return None
    names = [name[-1] if isinstance(name, tuple) else name for name in names]  # nested columns
    if names == list(range(len(names))) or names == [f"column_{k}" for k in range(len(names))]:
        return None
    found = [_PREFIXED.fullmatch(name) if isinstance(name, str) else None for name in names]
    if len({match and match["prefix"] for match in found}) == 1 and found[0]:
        names = [match["label"] for match in found if match]
    return as_labels(names if len({isinstance(name, str) for name in names}) == 1 else list(map(str, names)), "columns")


def label_of_column(name: Any) -> Classes | None:
    """Labels of two columns of which one is given: None, and what a text that names it tells; numbers tell nothing.

    >>> label_of_column("p_spam")
    array([None, 'spam'], dtype=object)
    """
    return np.array([None, label_in(name) or name], dtype=object) if isinstance(name, str) else None


def completed(own: Classes | None, labels: NDArray[Any]) -> Classes | None:
    """Labels of two columns of which only the second has one: the other label is the first's.

    None where that is no label at all, but some name of a column.

    >>> completed(np.array([None, "ham"], dtype=object), np.array(["spam", "ham", "ham"]))
    array(['spam', 'ham'], dtype='<U4')
    """
    if own is None or own[0] is not None:
        return own
    found, second = _alike(distinct(labels), own[1:].astype(np.str_))
    if len(found) != 2 or second[0] not in found:
        return None
    return np.array([found[found != second[0]][0], second[0]])


def label_in(name: str) -> str | None:
    """Label that a single column's name tells by its beginning: ``p_cat``, ``prob_cat``.

    >>> label_in("p_cat"), label_in("Probability_1"), label_in("cat")
    ('cat', '1', None)
    """
    found = _PREFIXED.fullmatch(name)
    return found["label"] if found else None


def _are_places(labels: NDArray[Any], columns: int) -> bool:
    """Whether labels are whole numbers 0, 1, ... below the number of columns."""
    if labels.dtype.kind not in "iuf":
        return labels.dtype.kind == "b" and columns == 2
    within = labels.min() >= 0 and labels.max() < columns
    return bool(within and (labels.dtype.kind != "f" or not (labels % 1).any()))


def _alike(labels: NDArray[Any], classes: Classes) -> tuple[NDArray[Any], Classes]:
    """Labels and classes of one type: classes of the labels' type if they can be, else both as they are written."""
    kinds = [array.dtype.kind if array.dtype.kind not in "biuf" else "number" for array in (labels, classes)]
    if kinds[0] == kinds[1]:
        return labels, classes
    if kinds[0] == "number":
        numbers = _as_numbers(classes, labels.dtype)
        if numbers is not None and len(set(numbers.tolist())) == len(classes):
            return labels, numbers
    return _written(labels), _written(classes)


def _as_numbers(classes: Classes, dtype: np.dtype[Any]) -> Classes | None:
    texts = [text.strip() for text in _written(classes).tolist()]
    try:
        if dtype.kind == "b":
            return np.array([_TRUTH[text.lower()] for text in texts])
        numbers = np.array([float(text) for text in texts])
    except (KeyError, ValueError):
        return None
    whole = dtype.kind in "iu" and bool((numbers % 1 == 0).all())
    return numbers.astype(np.int64) if whole else numbers


def _written(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as texts; whole numbers without a point."""
    whole = labels.dtype.kind == "f" and not (labels % 1).any()
    return labels.astype(np.int64).astype(np.str_) if whole else labels.astype(np.str_)
