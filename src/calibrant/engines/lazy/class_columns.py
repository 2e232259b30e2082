"""Calibrated probabilities of classes as expressions."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from ...classification import BetaCalibrator, PlattCalibrator
from ...classification.beta import BetaCurve
from ...tables.columns import Columns
from ..added import Added, free_names
from .classes import shares_of
from .frames import all_of, chosen, is_finite, number

_FAR = 700.0  # logits beyond are certain, and their exponentials no numbers


def with_probabilities(frame: Any, calibrator: Any, columns: Columns, added: Added) -> Any:
    r"""A frame with probabilities by Platt's or beta curves, :math:`1/(1 + e^{-u})` with u linear in logarithms.

    None where rows are needed. It is worked out in steps, each of which uses the one before several times.
    """
    known = type(calibrator) in (PlattCalibrator, BetaCalibrator) and columns.scores_are == "probabilities"
    if not known or [str(key) for key in columns.keys] != [str(label) for label in calibrator.classes_]:
        return None
    steps = _Steps(frame)
    parts = [number(name) for name in columns.forecast]
    shares, checks = shares_of(parts)
    good = all_of([*map(is_finite, parts), *(holds for holds, _ in checks)])
    shares = steps.keep([nw.when(good).then(share) for share in shares[-len(calibrator.curves_) :]])
    nearest = calibrator.nearest_
    shares = steps.keep([chosen((p < nearest, nearest), (p > 1 - nearest, 1 - nearest), otherwise=p) for p in shares])
    logits = steps.keep([_logit(curve, p) for curve, p in zip(calibrator.curves_, shares, strict=True)])
    made = steps.keep([_expit(u) for u in logits])
    made = [1.0 - made[0], made[0]] if len(made) == 1 else [p / sum(made[1:], made[0]) for p in made]
    clip = float(calibrator.clip)
    spare = steps.keep([_above(p, clip) for p in steps.keep(made)])
    room = (1 - clip * len(made)) / sum(spare[1:], spare[0])
    names = free_names(
        added.columns(np.full((1, len(made)), 1 / len(made)), columns.keys), frame.collect_schema().names()
    )
    return steps.ended({name: clip + each * room for name, each in zip(names.values(), spare, strict=True)})


class _Steps:
    """Columns that are worked out on the way, and are gone at the end."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, frame.collect_schema().names()
        self.made = 0

    def keep(self, values: list[Any]) -> list[Any]:
        """Work these out, and give what stands for them."""
        names = [f"calibrant {self.made + place}" for place in range(len(values))]
        self.made += len(names)
        self.frame = self.frame.with_columns(**dict(zip(names, values, strict=True)))
        return [nw.col(name) for name in names]

    def ended(self, new: dict[str, Any]) -> Any:
        """The frame as it was, with new columns at its end."""
        return self.frame.with_columns(**new).select(*self.names, *new)


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
