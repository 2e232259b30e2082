"""Calibration error of smoothed residuals, without bins."""

from __future__ import annotations

import numpy as np
from scipy.fft import dct, idct
from scipy.optimize import brentq

from ..._checks import Array
from ..._types import Labels, Weights
from .ece import Kind, problems_of_kind
from .forecasts import EventForecasts, Probabilities, class_forecasts

_CELLS = 2**14


def smooth_ece(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    kind: Kind = "auto",
    bandwidth: float | None = None,
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> float:
    r"""SmoothECE: the calibration error of residuals smoothed along the forecast, with a bandwidth that finds itself.

    .. math:: \operatorname{smECE}_\sigma = \int_0^1 \Bigl| \frac1n \sum_i (f_i - p_i)\, K_\sigma(t, p_i) \Bigr|\,dt,
        \quad \operatorname{smECE}_{\sigma^*} = \sigma^*

    :math:`K_\sigma` is the Gaussian kernel reflected at 0 and 1. Błasiok & Nakkiran (2023). The value is continuous in
    the forecasts, which that of :func:`ece` is not. Forecasts are shared between the two nearest of 16384 cells and
    smoothed by a cosine transform, in which the reflected kernel is :math:`e^{-(\pi k \sigma)^2/2}`.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`.
    kind : {"auto", "binary", "top-label", "class-wise"}
        As in :func:`ece`.
    bandwidth : float, optional
        A fixed σ in place of σ*.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.smooth_ece([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])
    0.1423
    """
    if bandwidth is not None and not bandwidth > 0:
        raise ValueError(f"`bandwidth` must be positive; got {bandwidth!r}.")
    problems = problems_of_kind(class_forecasts(y_true, y_proba, classes, sample_weight), kind)
    return float(np.mean([_error(_spectrum(problem), bandwidth) for problem in problems]))


def _spectrum(problem: EventForecasts) -> Array:
    """Cosine transform of the mean residuals in cells of the forecast."""
    place = np.clip(problem.p * _CELLS - 0.5, 0, _CELLS - 1)
    cell = np.minimum(place.astype(np.intp), _CELLS - 2)
    right = place - cell
    residual = (problem.events - problem.p) / problem.total
    if problem.weights is not None:
        residual *= problem.weights
    density = np.bincount(cell, residual * (1 - right), _CELLS)
    density[1:] += np.bincount(cell, residual * right, _CELLS - 1)
    return np.asarray(dct(density))


def _error(spectrum: Array, bandwidth: float | None) -> float:
    decay = -0.5 * np.square(np.pi * np.arange(_CELLS))

    def smoothed(sigma: float) -> float:
        return float(np.abs(idct(spectrum * np.exp(decay * sigma**2))).sum())

    if bandwidth is not None:
        return smoothed(bandwidth)
    if smoothed(0.0) <= 1e-15:
        return 0.0
    sigma = brentq(lambda s: smoothed(s) - s, 0.0, 1.0 + 1e-9, xtol=1e-12, rtol=1e-10)
    return float(sigma)
