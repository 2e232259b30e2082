"""Calibration loss: squared distance of forecasts from the slopes of the ROC curve."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..._checks import one_of
from ..._types import Labels, Weights
from ...links.groups import Groups
from .forecasts import Probabilities, class_forecasts


def calloss(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    segments: Literal["hull", "scores"] = "hull",
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> float:
    r"""Calibration loss: mean squared distance of the forecasts from the frequency in their segment of the ROC curve.

    .. math:: \frac1n \sum_b \sum_{i \in s_b} (p_i - \bar f_b)^2, \quad \bar f_b = \frac1{|s_b|} \sum_{i \in s_b} f_i

    for each class, then averaged over the classes; of two classes both have the same value. Flach & Matsubara (2007);
    Bella et al. (2010), where the square and the division by n are missing in print. The chapter's segments are the
    *distinct scores* ("the number of different estimated probabilities"), ``segments="scores"``; those of the hull are
    ours.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`.
    segments : {"hull", "scores"}
        Segments of the curve's convex hull, the blocks that isotonic regression pools; or of the curve itself, rows
        with equal forecasts, as in the chapter. Where all forecasts differ the latter is the Brier score.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.calloss([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])
    0.01

    Differs from the paper in: the square and the division by n; the segments, unless ``segments="scores"``, and then
    what the words say: by the printed formula all but the first are empty; the mean over the classes.
    """
    one_of(segments, "segments", ("hull", "scores"))
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    values = []
    for column in forecasts.one_against_rest():
        groups = Groups.of(column.p, column.events, column.weights)
        frequency = groups.rising() if segments == "hull" else groups.share
        values.append(np.dot(groups.mass, np.square(groups.x - frequency)) / groups.mass.sum())
    return float(np.mean(values))
