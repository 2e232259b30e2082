"""Features beside forecasts: what users hand over as X, as one table of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._checks import Array, column_names
from ..adapters.feature_columns import categories_of, codes_of, feature_columns, numbers_of, rows_in, text_names


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
        names, columns = feature_columns(X, rows)
        return cls(names, tuple(categories_of(column) for column in columns))

    def __len__(self) -> int:
        return len(self.categories)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of categories of each column, 0 of numbers."""
        return np.array([0 if known is None else len(known) for known in self.categories], dtype=np.intp)

    def __call__(self, X: Any, rows: int) -> Array:
        """Numbers of n rows of X, (n, d); columns of a frame are found by their names."""
        names, columns = feature_columns(X, rows)
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
            out[:, place] = numbers_of(column, f"X[{self._name(place)}]") if known is None else codes_of(column, known)
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
        rows = np.arange(rows_in(X))[rows]
    places = np.flatnonzero(rows) if rows.dtype == bool else rows
    return X.take(places) if hasattr(X, "column_names") else _safe_indexing(X, places)  # pyarrow knows no other way


def by_name(X: Any) -> Any:
    """Columns of a frame in the order of their names, so that the order they came in makes no difference.

    What has no names, or not only texts that differ, stays as it is.
    """
    names = text_names(column_names(X))
    if names is None or list(names) == sorted(names):
        return X
    return X.select(sorted(names)) if hasattr(X, "select") else X[sorted(names)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (" and so on" if len(names) > 8 else "")
