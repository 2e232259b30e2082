"""How wrong forecasts are in a segment, with intervals, in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..._checks import Array
from ...metrics._inputs import average
from ...metrics.catalogue import LEVEL, MEASURES, Measured, _mean, _share
from ...metrics.evaluation import Evaluation, LawEvaluation
from ...regression.features import weighted_quantiles
from .conditions import Mask
from .faults import COVERAGE, ClassFaults, Faults, LawFaults

_SIGMA = np.array([0.15865525393145707, 0.5, 0.8413447460685429])  # levels of the scores -1, 0 and 1
_MEDIAN_NOISE, _WIDTH_NOISE = 1.2533, 0.9618  # standard errors of median and half-width of one normal score
_RIGHT, _PLAIN = 0.005, 1.1  # excess of a width that is none, and ratio of widths from which on two digits tell
_REACH = float(ndtri(0.5 + LEVEL / 2))


class Extent(NamedTuple):
    """How wrong: a number with its interval, in words; what was promised, and what came."""

    estimate: Measured
    fault: str
    promised: float
    observed: Measured


def extent(kind: str, evaluation: Evaluation, faults: Faults, rows: Mask) -> Extent:
    """How wrong the forecasts of some rows are.

    Of laws: the median score, in predicted standard deviations; the real width over the forecast one, half the distance
    of the scores' 16 and 84 % quantiles; or the share of outcomes in 90 % intervals. Intervals are those of scores that
    are normal in the segment. Of classes: how much more often the event came than was forecast.
    """
    if isinstance(faults, LawFaults) and isinstance(evaluation, LawEvaluation):
        w = faults.weights[rows]
        observed = MEASURES[f"coverage_{100 * COVERAGE:g}"].measured(evaluation[rows], w)
        estimate = observed if kind == "coverage" else _of_scores(kind, faults.z[rows], w)
        return Extent(estimate, law_fault(kind, estimate.value), COVERAGE, observed)
    if isinstance(faults, ClassFaults):
        event, w = faults.events[kind], faults.weights[rows]
        p, came = event.p[rows], event.events[rows].astype(np.float64)
        estimate = _mean(came - p, w, float(w.sum()))
        return Extent(estimate, class_fault(kind, estimate.value), average(p, w), _share(came, w, float(w.sum())))
    raise TypeError(f"no faults of {type(evaluation).__name__} are known.")


def _of_scores(kind: str, z: Array, weights: Array) -> Measured:
    low, middle, high = weighted_quantiles(z, weights, _SIGMA)
    with np.errstate(invalid="ignore"):
        width, n = float((high - low) / 2), float(weights.sum())
    if kind == "bias":
        error = _MEDIAN_NOISE * width / np.sqrt(n)
        return Measured(float(middle), error, float(middle - _REACH * error), float(middle + _REACH * error))
    error = _WIDTH_NOISE / np.sqrt(n)
    return Measured(width, width * error, width * np.exp(-_REACH * error), width * np.exp(_REACH * error))


def law_fault(kind: str, value: float) -> str:
    """The fault in words.

    >>> law_fault("bias", -0.42), law_fault("width", 1.93), law_fault("width", 0.5), law_fault("coverage", 0.723)
    ('0.42 σ too high', '1.9 times too narrow', '2 times too wide', '90 % intervals hold 72 %')
    >>> law_fault("width", 0.98), law_fault("width", 1.003)
    ('1.02 times too wide', 'of the right width')
    """
    if kind == "bias":
        return f"{abs(value):.2g} σ too {'low' if value > 0 else 'high'}"
    if kind == "width":
        return _of_width(value)
    return f"{100 * COVERAGE:g} % intervals hold {100 * value:.0f} %"


def _of_width(ratio: float) -> str:
    """How much too narrow or wide, in digits that tell it from 1."""
    times = ratio if ratio >= 1 else 1 / max(ratio, 1e-300)
    if times < 1 + _RIGHT:
        return "of the right width"
    told = f"{times:.2g}" if times >= _PLAIN else f"{times:.2f}"
    return f"{told} times too {'narrow' if ratio >= 1 else 'wide'}"


def class_fault(kind: str, value: float) -> str:
    """The fault in words.

    >>> class_fault("bias", 0.12), class_fault("confidence", -0.034)
    ('12 points too low', '3.4 points overconfident')
    """
    points = f"{100 * abs(value):.2g} points"
    if kind == "bias":
        return f"{points} too {'low' if value > 0 else 'high'}"
    return f"{points} {'under' if value > 0 else 'over'}confident"
