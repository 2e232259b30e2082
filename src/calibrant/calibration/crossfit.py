"""Cross-fitting: forecasts of rows that the model has not seen, for calibrators to learn from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs  # comes with scikit-learn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils import _safe_indexing, assert_all_finite, column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed

from .._checks import Array, column, complain, count, nonempty, plain_array, sample_weights, to_array
from ..adapters.class_labels import as_labels, missing_labels
from .contract import fit_with, takes_of, transform_with
from .feature_table import features_of
from .routing import uses_groups
from .same_rows import warn_same

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]

_PLAIN = (type(None), bool, int, float, str)  # of which a copy is the thing itself


@dataclass(frozen=True)
class Fold:
    """A model and its forecasts of rows that it was not trained on."""

    model: Any
    rows: Rows
    forecasts: Any


@dataclass(frozen=True)
class Sample:
    """What is given to `fit`: rows of X with outcomes, frequency weights and group labels."""

    X: Any
    y: NDArray[Any]
    weights: Array | None = None
    groups: Any = None
    classes: NDArray[Any] | None = None
    """Sorted labels where outcomes are classes."""

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Sample:
        """Check lengths and outcomes; X stays what it is (arrays, frames, texts, sparse matrices)."""
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        if not hasattr(y, "detach") and np.asarray(y).dtype.kind == "c":
            raise ValueError("Complex data not supported: `y` must be real numbers.")
        values = nonempty(to_array(y, "y"), "y")
        if values.ndim == 2 and values.shape[1] == 1:
            text = "A column-vector y was passed when a 1d array was expected."
            warnings.warn(text, DataConversionWarning, stacklevel=4)
        X, y, groups = indexable(X, column(values, "y"), _plain(groups))
        return cls(X, y, sample_weights(sample_weight, len(y)), groups)

    @classmethod
    def labelled(cls, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Sample:
        """The same with class labels of any type as outcomes."""
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        labels = as_labels(column_or_1d(y, warn=True) if hasattr(y, "ndim") and y.ndim == 2 else y)
        gone = missing_labels(labels)
        if gone.any():
            raise ValueError(f"`y` must not be missing (NaN); {int(gone.sum())} of {len(labels)} labels are.")
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        X, labels, groups = indexable(X, labels, _plain(groups))
        weights = sample_weights(sample_weight, len(labels))
        return cls(X, labels, weights, groups, np.unique(labels if weights is None else labels[weights > 0]))

    def groups_for(self, calibrator: Any, rows: Rows) -> Any:
        """Groups of these rows, for a calibrator that needs them."""
        return self.groups[rows] if self.groups is not None and "groups" in takes_of(calibrator).needs else None

    def features_for(self, calibrator: Any, rows: Rows) -> Any:
        """Features of these rows, for a calibrator that takes them."""
        return features_of(self.X, rows) if "X" in takes_of(calibrator).beside else None

    def weights_of(self, rows: Rows) -> Array | None:
        """Weights of these rows."""
        return None if self.weights is None else self.weights[rows]


def _plain(groups: Any) -> Any:
    return None if groups is None else plain_array(groups)


# ---- splits ----
def make_splitter(cv: Any, y: NDArray[Any] | None, *, groups: Any = None, classifier: bool = False) -> Any:
    """Make a splitter of an int, None (5), a splitter or an iterable of (train, test); an int keeps groups apart."""
    cv = 5 if cv is None else cv
    if isinstance(cv, str):
        raise ValueError(f"`cv` must be an int, a splitter, an iterable of splits or 'same'; got {cv!r}.")
    if isinstance(cv, (int, float, np.number)):
        cv = count(cv, "cv", least=2)
        if groups is not None:
            return GroupKFold(cv)
    return check_cv(cv, y, classifier=classifier)


def groups_to_split(cv: Any, groups: Any, calibrator: Any) -> Any:
    """Groups for the splitter, None where it has no use for them; an error where nobody has.

    An explicit splitter decides for itself. An int means groups kept apart, unless the calibrator wants them: a
    calibrator per group needs every group on both sides.
    """
    if groups is None:
        return None
    wanted = "groups" in takes_of(calibrator).needs
    if cv is None or isinstance(cv, (int, np.integer)):
        return None if wanted else groups
    used = hasattr(cv, "split") and uses_groups(cv)
    if not (used or wanted):
        raise ValueError(
            f"`groups` were given, but neither the splits nor {type(calibrator).__name__} take groups. "
            "Use cv=GroupKFold(5) or GroupedCalibrator."
        )
    return groups if used else None


def split_rows(splitter: Any, sample: Sample, params: dict[str, Any]) -> list[Split]:
    """All splits; warns where a row is on both sides of one."""
    n = len(sample.y)
    pairs = splitter.split(sample.X, sample.y, **params)
    splits = [(_positions(train, n), _positions(test, n)) for train, test in pairs]
    splits = [(train, test) for train, test in splits if len(test)]
    if not splits:
        raise ValueError("`cv` must give at least one split with rows to forecast; it gives none.")
    splits = [(_from_start(train, n), _from_start(test, n)) for train, test in splits]
    shared = sum(_shared(*split, n) for split in splits)
    if shared:
        warn_same(f"{shared} rows to forecast are also training rows of their split of `cv`")
    return splits


def _positions(rows: Any, n: int) -> Rows:
    """Row numbers from numbers or a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool and len(rows) == n else rows.astype(np.intp)


def _from_start(rows: Rows, n: int) -> Rows:
    """Row numbers of n rows, where negative ones count from the end."""
    if rows.min(initial=0) >= 0 and rows.max(initial=0) < n:
        return rows
    complain("rows of cv", f"between 0 and {n - 1}", rows, (rows < -n) | (rows >= n))
    return rows % n


def _shared(train: Rows, test: Rows, n: int) -> int:
    """How many rows to forecast are training rows."""
    seen = np.zeros(n, dtype=bool)
    seen[train] = True
    return int(np.count_nonzero(seen[test]))


# ---- models and their out-of-fold forecasts ----
def fit_on(estimator: Any, sample: Sample, params: dict[str, Any], rows: Rows | None = None) -> Any:
    """Fit a clone on these rows (None: all); parameters with one entry per row are sliced along."""
    X, y, own = (sample.X, sample.y, params) if rows is None else _taken(sample, params, rows)
    return clone(estimator).fit(X, y, **own)


def _taken(sample: Sample, params: dict[str, Any], rows: Rows) -> tuple[Any, NDArray[Any], dict[str, Any]]:
    """Features, outcomes and parameters of these rows."""
    sliced = {name: _sliced(value, rows, len(sample.y)) for name, value in params.items()}
    return _rows_of(sample.X, rows), sample.y[rows], sliced


def _rows_of(values: Any, rows: Rows) -> Any:
    return values[rows] if type(values) is np.ndarray else _safe_indexing(values, rows)


def _sliced(value: Any, rows: Rows, n: int) -> Any:
    shape = getattr(value, "shape", None)
    if shape is None and isinstance(value, (list, tuple)):
        shape = (len(value),)
    return _rows_of(value, rows) if shape and shape[0] == n else value


def cross_fit(
    estimator: Any,
    sample: Sample,
    splits: Sequence[Split],
    read: Callable[[Any, Any], Any],
    params: dict[str, Any],
    n_jobs: int | None = None,
) -> list[Fold]:
    """One model per split, with its forecasts ``read(model, X)`` of the split's test rows."""
    work = ((model, sample, split, read, params) for model, split in zip(clones(estimator), splits, strict=False))
    return _each(_fit_fold, work, n_jobs)


def _fit_fold(
    model: Any, sample: Sample, split: Split, read: Callable[[Any, Any], Any], params: dict[str, Any]
) -> Fold:
    train, test = split
    (X, y, own), new = _taken(sample, params, train), _rows_of(sample.X, test)
    model = model.fit(X, y, **own)
    return Fold(model, test, read(model, new))


def clones(estimator: Any) -> Iterator[Any]:
    """Clones without end; of one that has plain parameters and nothing else, copies of the first, which are the same.

    >>> from sklearn.linear_model import Ridge
    >>> endless = clones(Ridge(alpha=2.0).fit([[0.0], [1.0]], [0.0, 1.0]))
    >>> first, second = next(endless), next(endless)
    >>> first is second, vars(first) == vars(second), hasattr(second, "coef_")
    (False, True, False)
    """
    first = clone(estimator)
    usual = getattr(type(first), "__sklearn_clone__", None) is BaseEstimator.__sklearn_clone__
    plain = usual and all(type(value) in _PLAIN for value in vars(first).values())
    pattern = copy(first)  # which nobody fits
    yield first
    while True:
        yield copy(pattern) if plain else clone(estimator)


def _each(call: Callable[..., Any], given: Iterable[tuple[Any, ...]], n_jobs: int | None) -> list[Any]:
    """What a call makes of each of the given arguments, several at a time if there are as many jobs."""
    if effective_n_jobs(n_jobs) == 1:
        return [call(*each) for each in given]
    return list(Parallel(n_jobs=n_jobs)(delayed(call)(*each) for each in given))


def pooled(
    folds: Sequence[Fold], sample: Sample, join: Callable[[Sequence[Any]], Any]
) -> tuple[Rows, Any, Array | None]:
    """Out-of-fold forecasts of all folds in row order: rows, forecasts and weights.

    Rows that no fold forecasts (the first ones of a time-series split) are absent. A row that k folds forecast is there
    k times, each time with 1/k of its weight.
    """
    rows = np.concatenate([fold.rows for fold in folds])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    forecasts = folds[0].forecasts if len(folds) == 1 else join([fold.forecasts for fold in folds])
    times, weights = np.bincount(rows)[rows], sample.weights_of(rows)
    if times.max() > 1:
        weights = 1.0 / times if weights is None else weights / times
    return rows, forecasts[order], weights


# ---- calibrators ----
def fit_calibrators(
    calibrator: Any, parts: Sequence[tuple[Any, Rows, Array | None]], sample: Sample, n_jobs: int | None = None
) -> list[Any]:
    """Fit a clone to each part (forecasts, rows, weights), with groups and features where the calibrator takes them."""
    work = ((own, *part, sample) for own, part in zip(clones(calibrator), parts, strict=False))
    return _each(_fit_calibrator, work, n_jobs)


def _fit_calibrator(calibrator: Any, forecasts: Any, rows: Rows, weights: Array | None, sample: Sample) -> Any:
    beside = {"groups": sample.groups_for(calibrator, rows), "X": sample.features_for(calibrator, rows)}
    beside["classes"] = sample.classes
    return fit_with(calibrator, forecasts, sample.y[rows], sample_weight=weights, **beside)


def apply_calibrator(calibrator: Any, forecasts: Any, groups: Any = None, X: Any = None) -> Any:
    """Calibrated forecasts, with groups and features where the calibrator takes them."""
    if groups is not None and "groups" not in takes_of(calibrator).beside:
        raise ValueError(f"`groups` were given, but {type(calibrator).__name__} takes none. Use GroupedCalibrator.")
    return transform_with(calibrator, forecasts, groups=groups, X=X)
