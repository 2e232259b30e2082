"""Features beside forecasts: what users hand over as X, as one table of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._checks import Array, column_names, plain_array, to_array
from ..adapters.class_labels import missing_labels

Columns = list[NDArray[Any]]


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Names of the columns of X, and the categories of those that are no numbers.

    Numbers may be missing (NaN). Columns of texts and categorical ones become the numbers of their categories; a
    category that was not there when it was learned is a missing value.

    Parameters
    ----------
    names : tuple of str or None
        None where X had none.
    categories : tuple of (ndarray of object or None)
        None for numbers.

    Examples
    --------
    >>> table = FeatureTable.learn([[1.0, "a"], [2.0, "b"], [None, "a"]], 3)
    >>> table([[5.0, "b"], [6.0, "new"]], 2)
    array([[ 5.,  1.],
           [ 6., nan]])
    """

    names: tuple[str, ...] | None
    categories: tuple[NDArray[Any] | None, ...]

    @classmethod
    def learn(cls, X: Any, rows: int) -> Self:
        """Names and categories of X, which has that many rows."""
        names, columns = _columns(X, rows)
        return cls(names, tuple(_categories(column) for column in columns))

    def __len__(self) -> int:
        return len(self.categories)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of categories of each column, 0 of numbers."""
        return np.array([0 if known is None else len(known) for known in self.categories], dtype=np.intp)

    def __call__(self, X: Any, rows: int) -> Array:
        """Numbers of n rows of X, (n, d); columns of a frame are found by their names."""
        names, columns = _columns(X, rows)
        if len(columns) != len(self):
            raise ValueError(f"`X` must have the {len(self)} columns of the fit; it has {len(columns)}.")
        if self.names is not None and names is not None and names != self.names:
            lacking = [name for name in self.names if name not in names]
            if lacking:
                raise ValueError(
                    f"`X` must have the columns of the fit, {_listed(self.names)}; it lacks {lacking[0]!r}."
                )
            columns = [columns[names.index(name)] for name in self.names]
        out = np.empty((rows, len(self)))
        for place, (column, known) in enumerate(zip(columns, self.categories, strict=True)):
            out[:, place] = _numbers(column, f"X[{self._name(place)}]") if known is None else _codes(column, known)
        return out

    def _name(self, place: int) -> str:
        return repr(self.names[place]) if self.names is not None else f":, {place}"

    def _check_sound(self) -> None:
        """Raise ValueError if it cannot be what was learned."""
        if self.names is not None and (len(self.names) != len(self) or not all(type(n) is str for n in self.names)):
            raise ValueError("FeatureTable.names must be a text for each column.")
        for known in self.categories:
            if known is not None and (np.ndim(known) != 1 or len(set(known.tolist())) < len(known)):
                raise ValueError("FeatureTable.categories must differ.")


def features_of(X: Any, rows: Any) -> Any:
    """Some rows (a slice, a mask or numbers) of features of any kind; None stays None."""
    if X is None or (isinstance(rows, slice) and rows == slice(None)):
        return X
    if isinstance(rows, slice):
        rows = np.arange(_length(X))[rows]
    places = np.flatnonzero(rows) if rows.dtype == bool else rows
    return X.take(places) if hasattr(X, "column_names") else _safe_indexing(X, places)  # pyarrow knows no other way


def by_name(X: Any) -> Any:
    """Columns of a frame in the order of their names, so that the order they came in makes no difference.

    What has no names, or not only texts that differ, stays as it is.
    """
    names = _text_names(column_names(X))
    if names is None or list(names) == sorted(names):
        return X
    return X.select(sorted(names)) if hasattr(X, "select") else X[sorted(names)]


def check_rows(X: Any, rows: int) -> None:
    """Raise ValueError if these are not features of so many forecasts."""
    if _length(X) != rows:
        raise ValueError(f"`X` must have one row per forecast; got {_length(X)} for {rows} forecasts.")


def _length(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def _columns(X: Any, rows: int) -> tuple[tuple[str, ...] | None, Columns]:
    """Names, if all are texts and differ, and columns of X, checked for their number of rows."""
    names = column_names(X)
    if names is not None:
        columns = [_column(X.iloc[:, j] if hasattr(X, "iloc") else X[name]) for j, name in enumerate(names)]
    else:
        table = _table(X)
        if table.ndim != 2:
            hint = " Reshape one feature with X.reshape(-1, 1)." if table.ndim == 1 else ""
            raise ValueError(f"`X` must be 2-dimensional, a row a forecast; got shape {table.shape}.{hint}")
        columns = list(table.T)
    check_rows(X, rows)
    return _text_names(names), columns


def _text_names(names: list[Any] | None) -> tuple[str, ...] | None:
    """The names if all are texts and differ."""
    texts = names is not None and all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return tuple(names) if names is not None and texts else None


def _table(X: Any) -> NDArray[Any]:
    if hasattr(X, "toarray"):  # a sparse matrix
        return np.asarray(X.toarray())
    if isinstance(X, (list, tuple)) and any(isinstance(v, str) for row in X[:100] for v in np.atleast_1d(_row(row))):
        return np.array([_row(row) for row in X], dtype=object)
    return plain_array(X)


def _row(row: Any) -> Any:
    return np.array(list(row), dtype=object) if isinstance(row, (list, tuple)) else row


def _column(column: Any) -> NDArray[Any]:
    """Values of a column; those of a categorical one are labels, whatever they are."""
    if str(getattr(column, "dtype", "")) != "category":
        return plain_array(column)
    values = plain_array(column.astype(object)).astype(object)
    texts: NDArray[Any] = values.astype(str).astype(object)
    texts[missing_labels(values)] = None
    return texts


def _are_numbers(values: NDArray[Any]) -> bool:
    if values.dtype.kind in "biuf":
        return True
    if values.dtype.kind != "O":
        return False
    there = values[~missing_labels(values)]
    return all(hasattr(value, "__float__") and not isinstance(value, str) for value in there.tolist())


def _categories(column: NDArray[Any]) -> NDArray[Any] | None:
    if _are_numbers(column) and (column.dtype.kind != "O" or not missing_labels(column).all()):
        return None
    if column.dtype.kind not in "OUS":
        raise TypeError(f"`X` must be numbers, texts or categories; got {column.dtype}. Times? Take parts of them.")
    there = column[~missing_labels(column)].astype(str)
    known = np.empty(len(labels := np.unique(there)), dtype=object)
    known[:] = labels.tolist()
    return known


def _numbers(column: NDArray[Any], name: str) -> Array:
    if column.dtype.kind == "O":
        column = np.where(missing_labels(column), np.nan, column)
    return to_array(column, name)


def _codes(column: NDArray[Any], known: NDArray[Any]) -> Array:
    """Numbers of the categories, NaN of what is missing or not known."""
    gone = missing_labels(column)
    number = {label: code for code, label in enumerate(known.tolist())}
    labels = [label if isinstance(label, str) else str(label) for label in column.tolist()]
    return np.where(gone, np.nan, np.array([number.get(label, np.nan) for label in labels], dtype=float))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (" and so on" if len(names) > 8 else "")
