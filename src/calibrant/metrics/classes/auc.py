"""Area under the ROC curve: how well scores rank, whatever their calibration."""

from __future__ import annotations

import numpy as np

from ..._types import Labels, Weights
from ...links.groups import Groups
from .forecasts import Probabilities, class_forecasts


def auc(
    y_true: Labels, y_proba: Probabilities, *, classes: Labels | None = None, sample_weight: Weights = None
) -> float:
    r"""Area under the ROC curve: how often a row of the class has a higher probability than one of the rest.

    .. math:: P(p_i > p_k \mid y_i = j, y_k \ne j) + \tfrac12 P(p_i = p_k \mid y_i = j, y_k \ne j)

    1 is a perfect ranking, 1/2 none. Of more than two classes the mean over the classes, each against the rest; those
    without rows, or with all of them, have no ranking and are left out. Increasing maps of the probabilities do not
    change it: Bella et al. (2010), table 2, list it as insensitive to calibration.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.auc([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])
    0.75
    """
    columns = class_forecasts(y_true, y_proba, classes, sample_weight).one_against_rest()
    there = [column for column in columns if column.events.any() and not column.events.all()]
    if not there:
        raise ValueError("`y_true` must have rows of at least two classes: one alone has no ranking.")
    return float(np.mean([area(Groups.of(column.p, column.events, column.weights)) for column in there]))


def area(groups: Groups) -> float:
    """Area under the ROC curve of distinct scores.

    >>> area(Groups.of(np.array([0.1, 0.1, 0.7]), np.array([True, False, True])))
    0.75
    """
    rest = groups.mass - groups.hits
    below = np.cumsum(rest) - 0.5 * rest
    return float(groups.hits @ below / (groups.hits.sum() * rest.sum()))
