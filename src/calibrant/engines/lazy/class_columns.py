"""Calibrated probabilities of classes as expressions."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from ...classification import BetaCalibrator, PlattCalibrator
from ...classification.beta import BetaCurve
from ...tables.columns import Columns
from ..added import Added
from .classes import shares_of
from .frames import all_of, chosen, is_finite, number

_FAR = 700.0  # logits beyond are certain, and their exponentials no numbers


def class_columns(calibrator: Any, columns: Columns, added: Added) -> dict[str, Any] | None:
    r"""Probabilities by Platt's and by beta curves, :math:`1/(1 + e^{-u})` with u linear in logarithms; else None."""
    known = type(calibrator) in (PlattCalibrator, BetaCalibrator) and columns.scores_are == "probabilities"
    if not known or [str(key) for key in columns.keys] != [str(label) for label in calibrator.classes_]:
        return None
    parts = [number(name) for name in columns.forecast]
    shares, checks = shares_of(parts)
    wanted = shares[1:] if len(shares) == 2 else shares
    made = [_probability(curve, p, calibrator.nearest_) for curve, p in zip(calibrator.curves_, wanted, strict=True)]
    if len(made) == 1:
        made = [1.0 - made[0], made[0]]
    else:
        total = sum(made[1:], made[0])
        made = [p / total for p in made]
    names = added.columns(np.full((1, len(made)), 1 / len(made)), columns.keys)
    good = all_of([*map(is_finite, parts), *(holds for holds, _ in checks)])
    return {name: nw.when(good).then(p) for name, p in zip(names, _clipped(made, float(calibrator.clip)), strict=True)}


def _probability(curve: Any, p: Any, nearest: float) -> Any:
    low = chosen((p > nearest, p), otherwise=nearest)
    near = chosen((low < 1 - nearest, low), otherwise=1 - nearest)
    first, second = near.log(), (1.0 - near).log()
    if isinstance(curve, BetaCurve):
        u = first * curve.a - second * curve.b + curve.m
    else:
        u = (first - second) * -curve.A - curve.B
    held = chosen((u > _FAR, _FAR), (u < -_FAR, -_FAR), otherwise=u)
    return 1.0 / (1.0 + (held * -1.0).exp())


def _clipped(made: list[Any], clip: float) -> list[Any]:
    """All at least ``clip``: what lies above it is shrunk."""
    spare = [chosen((p > clip, p - clip), otherwise=0.0) for p in made]
    total = sum(spare[1:], spare[0])
    return [clip + each * ((1 - clip * len(made)) / total) for each in spare]
