"""Measures of predicted labels: confusion matrix, class proportions, accuracies, F-measure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._brief import Brief
from ..._checks import Array
from ..._types import Labels, Weights
from ...adapters.class_labels import Classes
from .forecasts import label_pairs


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClassProportions(Brief):
    """Classes (K,), and the share of each among the actual and the predicted labels."""

    classes: Classes
    actual: Array
    predicted: Array


def confusion(y_true: Labels, y_pred: Labels, *, classes: Labels | None = None, sample_weight: Weights = None) -> Array:
    r"""Confusion matrix: rows are the actual classes, columns the predicted ones.

    .. math:: C_{jk} = \#\{t : y_t = j, \hat y_t = k\}

    As in Bella et al. (2010), "each column of the matrix represents the instances in a predicted class, while each row
    represents the instances in an actual class"; the matrices printed there are transposed.

    Parameters
    ----------
    y_true, y_pred : array-like (n,)
        Actual and predicted labels of any one type.
    classes : array-like (K,), optional
        Order of rows and columns; the sorted labels that occur in either unless told.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Returns
    -------
    array (K, K)

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.confusion(["spam", "ham", "ham", "ham"], ["spam", "spam", "ham", "ham"])
    array([[2., 1.],
           [0., 1.]])
    """
    actual, predicted, known, weights = label_pairs(y_true, y_pred, classes, sample_weight)
    size = len(known)
    return np.asarray(np.bincount(actual * size + predicted, weights, size * size).reshape(size, size), np.float64)


def class_proportions(
    y_true: Labels, y_pred: Labels, *, classes: Labels | None = None, sample_weight: Weights = None
) -> ClassProportions:
    r"""Share of each class among actual and predicted labels; equal if the decisions are calibrated (type CD).

    .. math:: \tfrac1T \#\{t : y_t = j\}, \quad \tfrac1T \#\{t : \hat y_t = j\}

    Bella et al. (2010), type CD.

    Parameters
    ----------
    y_true, y_pred, classes, sample_weight
        As in :func:`confusion`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> shares = metrics.class_proportions(["a", "b", "b", "b"], ["a", "a", "b", "b"])
    >>> shares.actual, shares.predicted
    (array([0.25, 0.75]), array([0.5, 0.5]))
    """
    actual, predicted, known, weights = label_pairs(y_true, y_pred, classes, sample_weight)
    shares = (np.bincount(codes, weights, len(known)) / weights.sum() for codes in (actual, predicted))
    return ClassProportions(known, *shares)


def accuracy(y_true: Labels, y_pred: Labels, *, classes: Labels | None = None, sample_weight: Weights = None) -> float:
    r"""Share of rows that are predicted right, :math:`\frac1T \#\{t : y_t = \hat y_t\}`.

    Bella et al. (2010), table 2: partially sensitive to type CD, insensitive to type CP.

    Parameters
    ----------
    y_true, y_pred, classes, sample_weight
        As in :func:`confusion`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.accuracy(["a", "b", "b", "b"], ["a", "a", "b", "b"])
    0.75
    """
    table = confusion(y_true, y_pred, classes=classes, sample_weight=sample_weight)
    return float(np.trace(table) / table.sum())


def f_measure(y_true: Labels, y_pred: Labels, *, classes: Labels | None = None, sample_weight: Weights = None) -> float:
    r"""Mean F-measure: over the classes, the harmonic mean of precision and recall.

    .. math:: \frac1C \sum_j \frac{2\, \#\{t : y_t = \hat y_t = j\}}{\#\{t : y_t = j\} + \#\{t : \hat y_t = j\}}

    Bella et al. (2010), table 2. Classes that neither occur nor are predicted are left out of the mean.

    Parameters
    ----------
    y_true, y_pred, classes, sample_weight
        As in :func:`confusion`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.f_measure(["a", "b", "b", "b"], ["a", "a", "b", "b"])
    0.7333
    """
    table = confusion(y_true, y_pred, classes=classes, sample_weight=sample_weight)
    rows = table.sum(axis=0) + table.sum(axis=1)
    there = rows > 0
    return float(np.mean(2 * np.diag(table)[there] / rows[there]))


def macro_accuracy(
    y_true: Labels, y_pred: Labels, *, classes: Labels | None = None, sample_weight: Weights = None
) -> float:
    r"""Macro-averaged accuracy: the mean over the classes of the share of their rows that is predicted right.

    .. math:: \frac1C \sum_j \frac{\#\{t : y_t = \hat y_t = j\}}{\#\{t : y_t = j\}}

    Bella et al. (2010): "the average of the partial accuracies for each class". Classes without rows have no accuracy
    and are left out of the mean. scikit-learn calls it balanced accuracy.

    Parameters
    ----------
    y_true, y_pred, classes, sample_weight
        As in :func:`confusion`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.macro_accuracy(["a", "b", "b", "b"], ["a", "a", "b", "b"])
    0.8333
    """
    table = confusion(y_true, y_pred, classes=classes, sample_weight=sample_weight)
    rows = table.sum(axis=1)
    there = rows > 0
    return float(np.mean(np.diag(table)[there] / rows[there]))
