"""Log loss and sharpness of class probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._checks import Array, sample_weights
from ..._types import Labels, Weights
from .._inputs import average, no_weights_per_row
from .forecasts import ClassForecasts, Probabilities, class_forecasts, class_probabilities, class_scale, known_labels


def log_loss(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    classes: Labels | None = None,
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Negative log of the probability given to the class that came, in nats; smaller is better.

    .. math:: -\frac1T \sum_t \ln p_{t, y_t}

    Bella et al. (2010), where the minus sign is missing. Nothing is clipped: a class that comes with forecast
    probability 0 costs infinity.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight, per_row
        As in :func:`brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.log_loss(["ham", "spam"], [0.5, 0.8])
    0.4581
    """
    no_weights_per_row(sample_weight, per_row)
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    losses = log_losses(forecasts)
    return losses if per_row else average(losses, forecasts.weights)


def class_sharpness(
    y_true: Any,
    y_proba: Probabilities | None = None,
    *,
    scale: str = "auto",
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Mean variance of the forecast class; smaller is sharper, which is good only among calibrated forecasts.

    .. math:: \frac1T \sum_t \sum_j p_{tj} (1 - p_{tj})

    Of two classes :math:`p(1 - p)`, as in Kuleshov et al. (2018), §3.5, where it is said to be largest at 0 and 1: it
    is 0 there. It is the :func:`brier_score` of the same scale that calibrated forecasts have in expectation.

    Parameters
    ----------
    y_true : array-like (n,), or the probabilities
        Sharpness is a property of the forecasts alone: labels, accepted so that all measures are called alike, are
        checked and have no influence; ``class_sharpness(y_proba)`` will do.
    y_proba : array-like (n,) or (n, K)
        Probabilities.
    scale, sample_weight, per_row
        As in :func:`brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.class_sharpness([0.5, 0.9])
    0.17
    """
    no_weights_per_row(sample_weight, per_row)
    proba, _ = class_probabilities(y_true if y_proba is None else y_proba)
    if y_proba is not None:
        known_labels(y_true, "y_true", len(proba))
    two = proba.ndim == 1
    spread = 2 * proba * (1 - proba) if two else np.sum(proba * (1 - proba), axis=1)
    spread *= class_scale(scale, 2 if two else proba.shape[1])
    weights = sample_weights(sample_weight, len(spread))
    return spread if per_row else average(spread, weights)


def log_losses(forecasts: ClassForecasts) -> Array:
    """Minus the log probability of what came, row by row."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(_given_to_the_truth(forecasts)))


def _given_to_the_truth(forecasts: ClassForecasts) -> Array:
    p, codes = forecasts.proba, forecasts.codes
    return np.where(codes == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(codes)), codes]
