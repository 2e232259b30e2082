"""What classifiers say: probabilities, logits or margins, one column a class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from .._brief import Brief
from .._checks import Array, column_names, complain, finite, nonempty, one_of, to_array
from .class_labels import Classes, class_numbers, completed, label_of_column, labels_of_columns, named_columns

KINDS = ("probabilities", "logits", "margins", "positive")
LAST_DIGITS = 1e-12
_LONG = 32  # entries of a row
ROUNDING = 1e-3  # sums of half-precision probabilities are that far from 1


@dataclass(frozen=True, eq=False, repr=False)
class ClassScores(Brief):
    r"""Scores of n rows for K classes, and of what kind they are.

    Parameters
    ----------
    values : array (n, K)
        Of two classes too: the columns of probabilities are 1 - p and p, of logits 0 and x, of margins -s and s, of
        positive scores 1 and the ratio r.
    kind : {"probabilities", "logits", "margins", "positive"}
        Probabilities add up to 1; logits are log probabilities up to a constant a row; margins are any numbers that
        grow with how likely the class is, such as an SVM's decision function; positive scores add up to anything, such
        as naive Bayes products, and serve decisions only.
    classes : array-like (K,), optional
        Labels of the columns, where these are known; the first is None where only the second column was given, by
        name.

    Examples
    --------
    >>> scores = ClassScores(np.array([[0.2, 0.8], [0.9, 0.1]]), classes=["dog", "cat"])
    >>> scores[1:].classes
    array(['dog', 'cat'], dtype='<U3')
    """

    values: Array
    kind: str = "probabilities"
    classes: Classes | None = None

    def __post_init__(self) -> None:
        """Check the labels."""
        if self.classes is not None:
            object.__setattr__(self, "classes", named_columns(self.classes, self.n_classes))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> ClassScores:
        return ClassScores(self.values[rows], self.kind, self.classes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and classes."""
        return self.values.shape

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def probabilities(self) -> Array:
        """Probabilities (n, K) that the scores stand for; margins have none."""
        return self.values if self.kind == "probabilities" else np.asarray(np.exp(self.log_probabilities()))

    def log_probabilities(self, clip: float = 1e-12) -> Array:
        """Log probabilities (n, K), of probabilities at least ``clip``; margins have none."""
        if self.kind == "margins":
            raise ValueError(
                "margins are no probabilities. Use PlattCalibrator, IsotonicCalibrator, BinningCalibrator or "
                'VennAbersCalibrator; or say scores_are="logits" of the calibrator, which then takes them for log odds.'
            )
        self._refuse_positive()
        if self.kind == "logits":
            return np.asarray(log_softmax(self.values, axis=1))
        return np.asarray(np.log(np.maximum(self.values, clip)))

    def log_odds(self, clip: float = 1e-12) -> Array:
        r"""Each class against the rest, (n, K): :math:`\ln p_j - \ln(1 - p_j)`; margins as they are.

        Probabilities are kept in [clip, 1 - clip].
        """
        self._refuse_positive()
        if self.kind == "margins":
            return self.values
        if self.kind == "logits":
            return _logits_against_rest(self.values)
        p = np.clip(self.values, clip, 1 - clip)
        return np.asarray(np.log(p) - np.log1p(-p))

    def log_scores(self) -> Array:
        """What decisions add the logs of class weights to, (n, K): logs, -inf of 0, less the largest of the row."""
        with np.errstate(divide="ignore"):
            logs = self.values if self.kind in ("logits", "margins") else np.log(self.values)
        return less_largest(logs)

    def in_order_of(self, classes: Classes) -> ClassScores:
        """Columns in the order of the classes that are wanted; as they are where nobody has named them.

        >>> ClassScores(np.array([[0.2, 0.8]]), classes=["dog", "cat"]).in_order_of(np.array(["cat", "dog"])).values
        array([[0.8, 0.2]])
        """
        if self.n_classes != len(classes):
            raise ValueError(
                f"`scores` must have a column for each of the {len(classes)} classes; got {self.n_classes}."
            )
        own = completed(self.classes, classes)
        if own is None:
            return self
        _, order = class_numbers(classes, len(classes), own=own, y="classes_")
        same = bool((order == np.arange(len(order))).all())
        return self if same else ClassScores(self.values[:, order], self.kind, classes)

    def _refuse_positive(self) -> None:
        if self.kind == "positive":
            raise ValueError("positive scores are no probabilities. Divide them by their sums, or use logits.")


def as_scores(values: Any, kind: str = "probabilities", name: str = "scores") -> ClassScores:
    """Read scores: (n,) for the second of two classes, or (n, K) with a column a class.

    Parameters
    ----------
    values : ClassScores, array-like, frame or tensor
        Of a frame the columns tell the classes: ``cat`` and ``dog``, or ``p_cat`` and ``p_dog``; so
        does the name of a single column.
    kind : {"probabilities", "logits", "margins", "positive"}
        What plain numbers are; `ClassScores` know.

    Examples
    --------
    >>> as_scores([0.2, 0.9]).values
    array([[0.8, 0.2],
           [0.1, 0.9]])
    >>> as_scores([-2.2, 3.0])
    Traceback (most recent call last):
    ...
    ValueError: `scores` must be probabilities between 0 and 1; 2 of 2 values are not, first scores[0] = -2.2. Logits
    or margins? Say scores_are="logits" or "margins".
    """
    if isinstance(values, ClassScores):
        return values
    one_of(kind, "scores_are", KINDS)
    array = finite(to_array(values, name), name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise ValueError(f"`{name}` must be (n,) or (n, classes); got shape {array.shape}.")
    nonempty(array, name)
    names = column_names(values) or [getattr(values, "name", None)]
    classes = labels_of_columns(names) if array.ndim == 2 and len(names) > 1 else label_of_column(names[0])
    if kind == "probabilities":
        array = _checked_probabilities(array, name)
    elif kind == "positive":
        array = _checked_positive(array, name)
    elif array.ndim == 1:
        array = np.column_stack([-array if kind == "margins" else np.zeros(len(array)), array])
    elif kind == "margins" and array.shape[1] == 2:
        array = np.column_stack([array[:, 0] - array[:, 1], array[:, 1] - array[:, 0]])
    return ClassScores(array, kind, classes)


def less_largest(x: Array) -> Array:
    """Rows less their largest entry; columns are compared one by one, unless rows are long."""
    most = reduce(np.maximum, x.T) if x.shape[1] < _LONG else x.max(axis=1)
    return np.asarray(x - most[:, None])


def softmax_rows(x: Array) -> Array:
    r"""Rows :math:`e^{x_j} / \sum_k e^{x_k}`.

    >>> softmax_rows(np.log([[0.2, 0.6]]))
    array([[0.25, 0.75]])
    """
    p = np.exp(less_largest(x))
    p /= (p @ np.ones(p.shape[1]))[:, None]
    return p


def log_softmax_rows(x: Array) -> Array:
    r"""Rows :math:`x_j - \log\sum_k e^{x_k}`.

    >>> np.exp(log_softmax_rows(np.log([[0.2, 0.6]])))
    array([[0.25, 0.75]])
    """
    logs = less_largest(x)
    logs -= np.log(np.exp(logs) @ np.ones(logs.shape[1]))[:, None]
    return logs


def with_rest(p: Array) -> Array:
    """Probabilities (n, 2) of the rest and of an event.

    >>> with_rest(np.array([0.2, 0.9]))
    array([[0.8, 0.2],
           [0.1, 0.9]])
    """
    both = np.empty((len(p), 2))
    np.subtract(1, p, out=both[:, 0])
    both[:, 1] = p
    return both


def _checked_probabilities(array: Array, name: str) -> Array:
    if not (array.min() >= 0 and array.max() <= 1):
        hint = 'Logits or margins? Say scores_are="logits" or "margins".'
        complain(name, "probabilities between 0 and 1", array, ~((array >= 0) & (array <= 1)), hint)
    if array.ndim == 1:
        return with_rest(array)
    total = reduce(np.add, array.T) if array.shape[1] < _LONG else array.sum(axis=1)
    error = np.abs(total - 1)
    if error.max() > ROUNDING:
        off = error > ROUNDING
        first = int(np.argmax(off))
        raise ValueError(
            f"rows of `{name}` must add up to 1; {int(off.sum())} of {len(array)} do not, first row {first} adds up to "
            f"{total[first]:.6g}. Divide by the sums, or use DecisionCalibrator, which takes any positive scores."
        )
    exact = error <= LAST_DIGITS  # dividing would only part what is tied
    return array if exact.all() else np.asarray(array / np.where(exact, 1.0, total)[:, None])


def _checked_positive(array: Array, name: str) -> Array:
    hint = 'Log probabilities, logits or margins? Say scores_are="logits" or "margins".'
    complain(name, "0 or positive", array, array < 0, hint)
    if array.ndim == 1:
        return np.column_stack([np.ones(len(array)), array])
    nothing = ~(array > 0).any(axis=1)
    if nothing.any():
        raise ValueError(
            f"rows of `{name}` must have a score above 0; {int(nothing.sum())} of {len(array)} have none, first row "
            f'{int(np.argmax(nothing))}. Products that underflow? Give their logs and say scores_are="logits".'
        )
    return array


def _logits_against_rest(x: Array) -> Array:
    """x_j minus the log of the sum of the other exponentials."""
    if x.shape[1] == 2:
        return np.column_stack([x[:, 0] - x[:, 1], x[:, 1] - x[:, 0]])
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        out[:, j] = x[:, j] - logsumexp(np.delete(x, j, axis=1), axis=1)
    return out
