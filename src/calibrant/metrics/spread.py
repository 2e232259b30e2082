"""Predicted spread: how sharp the forecasts are, and whether the errors are as large as they say."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._checks import Array, complain, nonempty, one_of, sample_weights
from .._types import Numbers, Weights
from ..adapters import as_distribution
from ._inputs import average, equal_mass_bins, no_weights_per_row, paired


def sharpness(
    y_true: Any,
    dist: Any = None,
    *,
    kind: Literal["var", "std"] = "var",
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Mean predicted variance; smaller is sharper, which is good only among calibrated forecasts.

    .. math:: \frac1T \sum_t \operatorname{var}(F_t)

    Kuleshov et al. (2018), eq. 10.

    Parameters
    ----------
    y_true : array-like (n,), or the forecasts
        Sharpness is a property of the forecasts alone: outcomes, accepted so that all measures are called alike, are
        checked and have no influence; ``sharpness(dist)`` will do.
    dist : Distribution, or what ``as_distribution`` accepts
        n forecasts.
    kind : {"var", "std"}
        Variances, or standard deviations, which have the unit of y.
    sample_weight, per_row
        As in :func:`nll`.

    Returns
    -------
    float, or array (n,)
        Infinite where a variance does not exist.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.sharpness(Normal([0.0, 0.0], [1.0, 3.0]))
    5.0
    >>> metrics.sharpness([0.2, -0.7], Normal([0.0, 0.0], [1.0, 3.0]), kind="std")
    2.0
    """
    one_of(kind, "kind", ("var", "std"))
    no_weights_per_row(sample_weight, per_row)
    if dist is None:
        law = as_distribution(y_true)
        weights = sample_weights(sample_weight, len(law))
    else:
        _, law, weights = paired(y_true, dist, sample_weight)
    values = nonempty(law.var() if kind == "var" else law.std(), "dist")
    if weights is not None:
        values, weights = values[weights > 0], weights[weights > 0]
    return values if per_row else average(values, weights)


def ence(y_true: Numbers, dist: Any, *, n_bins: int = 10, sample_weight: Weights = None) -> float:
    r"""Expected normalised calibration error: do errors grow as the predicted standard deviations say? 0 is perfect.

    .. math:: \sum_b \frac{n_b}n \frac{|\mathrm{RMV}_b - \mathrm{RMSE}_b|}{\mathrm{RMV}_b}, \quad
        \mathrm{RMV}_b^2 = \frac1{n_b}\sum_{t\in b} \sigma_t^2, \quad
        \mathrm{RMSE}_b^2 = \frac1{n_b}\sum_{t\in b} (y_t - \mu_t)^2

    Levi et al. (2022). Bins hold equal numbers of rows by increasing predicted standard deviation; rows with the
    same one share a bin, so that constant predictions make a single bin. Even a perfect Gaussian forecaster scores
    about :math:`\sqrt{B/(\pi n)}` by noise.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes.
    dist : Distribution, or what ``as_distribution`` accepts
        n forecasts with finite variances.
    n_bins : int
        Number of bins.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.ence([1.0, -1.0, 3.0, -3.0], Normal([0.0] * 4, [1.0, 1.0, 2.0, 2.0]), n_bins=2)
    0.25
    """
    y, law, weights = paired(y_true, dist, sample_weight)
    std = law.std()
    complain("dist", "of finite, positive variance", std, ~(np.isfinite(std) & (std > 0)))
    labels = equal_mass_bins(std, weights, n_bins)
    mass = np.ones(len(y)) if weights is None else weights
    unit = std.max()  # squares of ratios neither over- nor underflow
    with np.errstate(over="ignore"):
        error = np.square((y - law.mean()) / unit)
    rows = np.bincount(labels, mass)
    predicted = np.sqrt(np.bincount(labels, mass * np.square(std / unit)) / rows)
    observed = np.sqrt(np.bincount(labels, mass * error) / rows)
    return float(np.sum(rows * np.abs(predicted - observed) / predicted) / rows.sum())
