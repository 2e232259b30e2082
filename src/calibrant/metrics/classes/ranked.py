"""Score of probabilities of classes that have an order."""

from __future__ import annotations

import numpy as np

from ..._checks import Array
from ..._types import Labels, Weights
from .._inputs import average, no_weights_per_row
from .forecasts import Probabilities, class_forecasts


def ranked_probability_score(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    classes: Labels | None = None,
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Squared error of cumulative probabilities of ordered classes; smaller is better.

    .. math:: \frac1T \sum_t \sum_{j=1}^{K-1} \Bigl(\sum_{i \le j} p_{ti} - 1\{y_t \le j\}\Bigr)^2

    Epstein (1969), Murphy (1971): stars of reviews, classes of damage. A forecast near the class that came costs less
    than one far from it. Of two classes it is the :func:`brier_score`.

    Parameters
    ----------
    y_true, y_proba, sample_weight, per_row
        As in :func:`brier_score`.
    classes : array-like (K,), optional
        Labels of the columns in their order, the lowest first; unless told the columns of a frame as they stand, else
        the sorted labels of ``y_true``.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.ranked_probability_score(["low"], [[0.2, 0.5, 0.3]], classes=["low", "middle", "high"])
    0.73
    """
    no_weights_per_row(sample_weight, per_row)
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    below = np.cumsum(forecasts.table(), axis=1)[:, :-1]
    came = np.arange(below.shape[1]) >= forecasts.codes[:, None]
    away = below - came
    scores = np.einsum("ij,ij->i", away, away)
    return scores if per_row else average(scores, forecasts.weights)
