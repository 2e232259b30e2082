"""Calibrated probabilities of classes as expressions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np

from ...classification import BetaCalibrator, IsotonicCalibrator, PlattCalibrator, TemperatureCalibrator
from ...classification.beta import BetaCurve
from ...tables.columns import Columns
from ..added import Added, free_names
from .classes import shares_of
from .frames import all_of, chosen, is_finite, number
from .steps import Steps

_BY_CURVES = (PlattCalibrator, BetaCalibrator, IsotonicCalibrator)
_MOST_KNOTS = 64  # of a chain of conditions
_TINY = 1e-300  # probabilities that are divided by their sum are at least this
_FAR = 700.0  # logits beyond are certain, and their exponentials no numbers


def with_probabilities(frame: Any, calibrator: Any, columns: Columns, added: Added) -> Any:
    r"""A frame with probabilities by temperature, or by the curve of each class: Platt's, beta or isotonic.

    Platt's and beta curves are :math:`1/(1 + e^{-u})` with u linear in logarithms, isotonic ones chains of conditions
    if they have no more than 64 knots. None where rows are needed. It is worked out in steps, each of which uses the
    one before several times.
    """
    known = type(calibrator) in (TemperatureCalibrator, *_BY_CURVES) and columns.scores_are == "probabilities"
    if not known or [str(key) for key in columns.keys] != [str(label) for label in calibrator.classes_]:
        return None
    if any(len(curve.knots) > _MOST_KNOTS for curve in getattr(calibrator, "curves_", []) if hasattr(curve, "knots")):
        return None
    steps = Steps(frame)
    parts = [number(name) for name in columns.forecast]
    shares, checks = shares_of(parts)
    good = all_of([*map(is_finite, parts), *(holds for holds, _ in checks)])
    shares = steps.keep([nw.when(good).then(share) for share in shares])
    made = (_tempered if isinstance(calibrator, TemperatureCalibrator) else _by_curves)(calibrator, shares, steps)
    clip = float(calibrator.clip)
    spare = steps.keep([_above(p, clip) for p in steps.keep(made)])
    room = (1 - clip * len(made)) / sum(spare[1:], spare[0])
    names = free_names(
        added.columns(np.full((1, len(made)), 1 / len(made)), columns.keys), frame.collect_schema().names()
    )
    return steps.ended({name: clip + each * room for name, each in zip(names.values(), spare, strict=True)})


def _tempered(calibrator: Any, shares: list[Any], steps: Steps) -> list[Any]:
    """Powers of probabilities, in logarithms less the largest of them."""
    least = calibrator.nearest_
    held = steps.keep([chosen((p < least, least), otherwise=p) for p in shares])
    logs = steps.keep([p.log() / calibrator.temperature_ for p in held])
    (top,) = steps.keep([nw.max_horizontal(*logs)])
    powers = steps.keep([(each - top).exp() for each in logs])
    return [each / sum(powers[1:], powers[0]) for each in powers]


def _by_curves(calibrator: Any, shares: list[Any], steps: Steps) -> list[Any]:
    """What the curve of each class makes of its probability, or that of the second of two."""
    shares, nearest = shares[-len(calibrator.curves_) :], calibrator.nearest_
    if isinstance(calibrator, IsotonicCalibrator):
        made = steps.keep([_bent(curve, p) for curve, p in zip(calibrator.curves_, shares, strict=True)])
    else:
        held = [chosen((p < nearest, nearest), (p > 1 - nearest, 1 - nearest), otherwise=p) for p in shares]
        pairs = zip(calibrator.curves_, steps.keep(held), strict=True)
        made = steps.keep([_expit(u) for u in steps.keep([_logit(curve, p) for curve, p in pairs])])
    if len(made) == 1:
        return [1.0 - made[0], made[0]]
    held = steps.keep([chosen((p < _TINY, p * 0.0 + _TINY), otherwise=p) for p in made])
    return [p / sum(held[1:], held[0]) for p in held]


def _bent(curve: Any, p: Any) -> Any:
    """Straight pieces between knots, constant beyond."""
    knots, values = curve.knots.tolist(), curve.values.tolist()
    cases = [(p <= knots[0], p * 0.0 + values[0])]
    for (left, low), (right, high) in pairwise(zip(knots, values, strict=True)):
        cases.append((p <= right, (p - left) * ((high - low) / (right - left)) + low))
    return chosen(*cases, otherwise=p * 0.0 + values[-1])


def _logit(curve: Any, p: Any) -> Any:
    first, second = p.log(), (1.0 - p).log()
    if isinstance(curve, BetaCurve):
        return first * curve.a - second * curve.b + curve.m
    return (first - second) * -curve.A - curve.B


def _expit(u: Any) -> Any:
    held = chosen((u > _FAR, _FAR), (u < -_FAR, -_FAR), otherwise=u)
    return 1.0 / (1.0 + (held * -1.0).exp())


def _above(p: Any, clip: float) -> Any:
    """What lies above the clip, which is shrunk to make room for the clip itself."""
    return chosen((p < clip, p * 0.0), otherwise=p - clip)
