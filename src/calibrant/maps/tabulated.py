"""Maps on [0, 1] that others make, by fitting a model or as a function, as tables of knots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtr, ndtri
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from .._checks import Array, complain, to_array
from .piecewise import ProbabilityMap
from .ranks import Ranks, rank_pairs

FARTHEST = 8.2  # beyond this score a probability is 0 or 1 to those who take probabilities
_KNOTS = 1025  # equally spaced in scores, and as many in probabilities; up to so many of the data beside them
_WORST = 0.05  # by which a model's probabilities may be moved to make them rise
_ROUNDING = 1e-9
_FLAT = 1e-9  # share of the identity in each table, which makes flat pieces rise
_BEYOND = 1e-11  # probability beyond the last knot, at least


def fit_regressor(z: Array, weights: Array | None, regressor: Any, *, ranks: Ranks = "T") -> ProbabilityMap:
    r"""Fit any regressor to :math:`\{(p_t, \hat P(p_t))\}` (Kuleshov et al. 2018, algorithm 1), kept as a table.

    A copy of the regressor is fitted to T rows of one feature. Its predictions between the smallest and the largest
    :math:`p_t`, cut to [0, 1], are made to rise by isotonic regression; if that moves one by more than 0.05, or one is
    not a number, the regressor is refused.

    Differs from the paper in: what rises by less than that is mended; R goes straight from the outermost data to
    (0, 0) and (1, 1); :math:`10^{-9}` of the identity is mixed in, so that flat pieces have a density.

    >>> from sklearn.linear_model import LinearRegression
    >>> fitted = fit_regressor(ndtri(np.array([0.2, 0.4, 0.6, 0.8])), None, LinearRegression())
    >>> ndtr(fitted(ndtri(np.array([0.2, 0.5])))).round(3)
    array([0.25 , 0.625])
    """
    knots, shares, mass = rank_pairs(z, weights, ranks)
    inside = knots[np.abs(knots) < FARTHEST]
    if len(inside) < 2:
        raise ValueError(
            f"a regressor needs two different CDF values between 0 and 1; got {len(inside)}. Forecasts far too narrow? "
            "Use map='isotonic', or a ScaleCalibrator before it."
        )
    fitted = _fitted(regressor, ndtr(knots), shares, mass)
    at = _places(inside)
    predicted = to_array(fitted.predict(ndtr(at)[:, None]), "map")
    return _table(at, _rising(_column(predicted, at), at, type(regressor).__name__))


def tabulated(function: Callable[[Array], Any]) -> ProbabilityMap:
    """Table of a function p -> R(p), which must rise from 0 to 1, on 2 049 points between scores of ±8.2.

    >>> ndtr(tabulated(np.square)(ndtri(np.array([0.1, 0.5, 0.9])))).round(3)
    array([0.01, 0.25, 0.81])
    """
    at = _places(np.array([-FARTHEST, FARTHEST]))
    p = ndtr(at)
    r = _column(to_array(function(p.copy()), "map"), at)
    complain("map", "a function into [0, 1]", r, ~((r >= -_ROUNDING) & (r <= 1 + _ROUNDING)))
    falls = np.flatnonzero(np.diff(r) < -_ROUNDING)
    if len(falls):
        i = int(falls[0])
        raise ValueError(
            f"`map` must rise with p; it falls from {r[i]:.6g} at p = {p[i]:.6g} to {r[i + 1]:.6g} at {p[i + 1]:.6g}."
        )
    return _table(at, np.maximum.accumulate(r))


def _fitted(regressor: Any, p: Array, shares: Array, mass: Array) -> Any:
    """A fitted copy; rows are repeated for one that takes no weights."""
    copy = clone(regressor) if hasattr(regressor, "get_params") else regressor
    if np.all(mass == 1):
        return copy.fit(p[:, None], shares)
    if has_fit_parameter(copy, "sample_weight"):
        return copy.fit(p[:, None], shares, sample_weight=mass)
    if np.any(mass % 1):
        kind = type(regressor).__name__
        raise ValueError(f"`map` {kind} takes no weights; `sample_weight` must then be whole numbers: rows repeated.")
    rows = np.repeat(np.arange(len(p)), mass.astype(np.intp))
    return copy.fit(p[rows, None], shares[rows])


def _places(inside: Array) -> Array:
    """Scores between the first and the last: evenly spaced, evenly spaced in probability, and some of these."""
    low, high = inside[0], inside[-1]
    even = ndtri(np.linspace(ndtr(low), ndtr(high), _KNOTS)[1:-1])
    some = inside[np.unique(np.linspace(0, len(inside) - 1, _KNOTS).astype(np.intp))]
    at = np.unique(np.concatenate([np.linspace(low, high, _KNOTS), even, some]))
    at = at[(at >= low) & (at <= high)]
    return np.asarray(at[np.append(True, np.diff(ndtr(at)) > 0)])


def _column(r: Array, at: Array) -> Array:
    if r.size != at.size:
        raise ValueError(f"`map` must give one number per probability; got shape {r.shape} for {at.size}.")
    r = r.ravel()
    complain("map", "a function into numbers", r, ~np.isfinite(r))
    return r


def _rising(r: Array, at: Array, kind: str) -> Array:
    r = np.clip(r, 0.0, 1.0)
    risen = isotonic_regression(r).x
    worst = int(np.argmax(np.abs(risen - r)))
    if abs(risen[worst] - r[worst]) > _WORST:
        raise ValueError(
            f"`map` must rise with p; the predictions of {kind} fall around p = {ndtr(at[worst]):.3g}, by more than "
            "could be mended. Use a regressor that rises, IsotonicRegression() say, or map='spline'."
        )
    return np.asarray(risen)


def _table(at: Array, r: Array) -> ProbabilityMap:
    """Through (at, r), made to rise by a few roundings at least from knot to knot."""
    r = np.minimum((1 - _FLAT) * np.clip(r, 0.0, 1.0) + _FLAT * ndtr(at), 1 - _BEYOND)
    least = np.cumsum(4 * np.spacing(r))
    return ProbabilityMap(at, np.maximum.accumulate(r - least) + least)
