"""Columns of features, of whatever users hand over as X: names, numbers, categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, column_names, plain_array, to_array
from .class_labels import missing_labels

Columns = list[NDArray[Any]]


def check_rows(X: Any, rows: int) -> None:
    """Raise ValueError if these are not features of so many forecasts."""
    if rows_in(X) != rows:
        raise ValueError(f"`X` must have one row per forecast; got {rows_in(X)} for {rows} forecasts.")


def rows_in(X: Any) -> int:
    """Number of rows of features of any kind."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def feature_columns(X: Any, rows: int) -> tuple[tuple[str, ...] | None, Columns]:
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
    return text_names(names), columns


def text_names(names: list[Any] | None) -> tuple[str, ...] | None:
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


def categories_of(column: NDArray[Any]) -> NDArray[Any] | None:
    """The different labels of a column, sorted; None of numbers."""
    if _are_numbers(column) and (column.dtype.kind != "O" or not missing_labels(column).all()):
        return None
    if column.dtype.kind not in "OUS":
        raise TypeError(f"`X` must be numbers, texts or categories; got {column.dtype}. Times? Take parts of them.")
    there = column[~missing_labels(column)].astype(str)
    known = np.empty(len(labels := np.unique(there)), dtype=object)
    known[:] = labels.tolist()
    return known


def numbers_of(column: NDArray[Any], name: str) -> Array:
    """Numbers of a column, NaN where they are missing."""
    if column.dtype.kind == "O":
        column = np.where(missing_labels(column), np.nan, column)
    return to_array(column, name)


def codes_of(column: NDArray[Any], known: NDArray[Any]) -> Array:
    """Numbers of the categories, NaN of what is missing or not known."""
    gone = missing_labels(column)
    number = {label: code for code, label in enumerate(known.tolist())}
    labels = [label if isinstance(label, str) else str(label) for label in column.tolist()]
    return np.where(gone, np.nan, np.array([number.get(label, np.nan) for label in labels], dtype=float))
