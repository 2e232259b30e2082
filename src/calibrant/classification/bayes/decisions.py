"""Decisions of least expected cost, from probabilities that are right and costs that may be new every day."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...adapters.class_labels import as_labels
from ...adapters.class_scores import as_scores
from ..objectives import checked_costs


def bayes_decisions(y_proba: Any, cost_matrix: Any, *, classes: Any = None) -> NDArray[Any]:
    r"""Labels of least expected cost given calibrated probabilities; nothing is learned, so that costs may change.

    .. math:: \hat y_i = \arg\min_k \sum_j p_{ij} C_{jk}

    Of two classes the second is predicted above the threshold
    :math:`(C_{01} - C_{00}) / (C_{01} - C_{00} + C_{10} - C_{11})`. `DecisionCalibrator` with ``objective="cost"``
    learns the threshold from labelled rows instead and is right for scores that are no probabilities, but for one table
    of costs only.

    Parameters
    ----------
    y_proba : array-like (n,) or (n, K)
        Probabilities of the second of two classes, or of all: what a calibrator's `transform` gives.
    cost_matrix : array-like (K, K)
        Costs by real (line) and predicted (column) class; gains are negative.
    classes : array-like (K,), optional
        Labels of the columns, a calibrator's ``classes_`` say; else those that a frame's columns tell, else 0 to K - 1.

    Returns
    -------
    array (n,)
        Labels; the first of equally cheap ones.

    Examples
    --------
    >>> from calibrant import bayes_decisions
    >>> p = [0.05, 0.2, 0.6]
    >>> bayes_decisions(p, [[0, 1], [1, 0]], classes=["ham", "spam"])
    array(['ham', 'ham', 'spam'], dtype='<U4')
    >>> bayes_decisions(p, [[0, 1], [10, 0]], classes=["ham", "spam"])
    array(['ham', 'spam', 'spam'], dtype='<U4')

    Differs from the paper in: the chapter says of accurate probabilities that "decisions can be made with a good
    assessment of risks and costs", and writes no rule; this is Bayes'.
    """
    table = as_scores(y_proba, name="y_proba")
    if classes is not None:
        labels = as_labels(classes, "classes")
        table = table.in_order_of(labels)
    else:
        labels = np.arange(table.n_classes) if table.classes is None else np.asarray(table.classes)
        if any(label is None for label in labels.tolist()):
            raise ValueError("`classes` must be given: the one column of `y_proba` names the second class only.")
    expected = table.probabilities() @ checked_costs(cost_matrix, table.n_classes)
    return np.asarray(labels[np.argmin(expected, axis=1)])
