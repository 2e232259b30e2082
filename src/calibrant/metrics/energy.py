"""Energy score of forecasts of several numbers at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import Array, complain, nonempty, one_of, sample_weights, to_array
from .._types import Weights
from ..numerics.blocks import row_blocks
from ._inputs import average, no_weights_per_row

ESTIMATORS = ("mean", "fair")


def energy_score(
    y_true: Any, samples: Any, *, estimator: str = "mean", sample_weight: Weights = None, per_row: bool = False
) -> float | Array:
    r"""Energy score of samples of vectors: paths of twelve months, wind in two directions; smaller is better.

    .. math:: \frac1T \sum_t \Bigl(\frac1m \sum_i \lVert x_{ti} - y_t\rVert
        - \frac1{2m^2} \sum_{i,j} \lVert x_{ti} - x_{tj}\rVert\Bigr)

    Gneiting & Raftery (2007), eq. 22, the counterpart of the CRPS for vectors: with d = 1 it is the CRPS of a discrete
    `Ensemble`. All numbers count alike: bring them to one scale before.

    Parameters
    ----------
    y_true : array-like (n, d)
        Outcomes.
    samples : array-like (n, m, d)
        m samples of each forecast.
    estimator : {"mean", "fair"}
        Whether samples are the forecast itself, or draws of a law whose score is wanted: then the second sum is divided
        by :math:`2m(m-1)`.
    sample_weight, per_row
        As in :func:`nll`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.energy_score([[0.0, 0.0]], [[[3.0, 4.0], [0.0, 0.0]]])
    1.25
    """
    one_of(estimator, "estimator", ESTIMATORS)
    no_weights_per_row(sample_weight, per_row)
    y, x = nonempty(to_array(y_true, "y_true"), "y_true"), to_array(samples, "samples")
    if y.ndim != 2 or x.ndim != 3 or (len(y), y.shape[1]) != (len(x), x.shape[2]):
        raise ValueError(f"`y_true` must be (n, d) and `samples` (n, m, d); got shapes {y.shape} and {x.shape}.")
    for name, values in (("y_true", y), ("samples", x)):
        complain(name, "finite", values, ~np.isfinite(values))
    m = x.shape[1]
    if m < (2 if estimator == "fair" else 1):
        raise ValueError(f"`samples` must be {2 if estimator == 'fair' else 1} of each forecast at least; got {m}.")
    pairs = m * (m - 1) if estimator == "fair" else m * m
    scores = np.empty(len(y))
    for rows in row_blocks(len(y), m * x.shape[2]):
        away = np.linalg.norm(x[rows] - y[rows, None, :], axis=2).mean(axis=1)
        scores[rows] = away - _distances(x[rows]) / pairs
    return scores if per_row else average(scores, sample_weights(sample_weight, len(y)))


def _distances(x: Array) -> Array:
    """Distances of all pairs of samples, added up, (n,); a step of the second sample at a time."""
    total = np.zeros(len(x))
    for step in range(1, x.shape[1]):
        total += np.linalg.norm(x[:, step:] - x[:, :-step], axis=2).sum(axis=1)
    return total
