"""What calibrators learn from, as expressions of a table's columns."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtri

from ...calibration import GroupedCalibrator
from ...regression import QuantileCalibrator, ResidualCalibrator, ScaleCalibrator
from ...regression.residual import RATIOS, RESIDUALS
from ...summaries import GroupedSummary, ScoreSummary, SpreadSummary, Summary
from ...summaries.scores import NORMAL
from ...tables.columns import Columns
from .frames import LARGEST, all_of, chosen, is_finite, number
from .parts import Part
from .rows import BY_ROWS, FAR, FARTHEST, SPREAD, Scored

_HUGE = 1e150  # its square is a number


def scored(calibrator: Any, columns: Columns) -> Scored | None:
    """What a calibrator learns from as expressions; None where it needs the rows."""
    if isinstance(calibrator, GroupedCalibrator):
        return scored(calibrator.calibrator, columns) if columns.group and calibrator.summary_is_enough else None
    if not getattr(calibrator, "summary_is_enough", False):
        return None
    if type(calibrator) in (QuantileCalibrator, ScaleCalibrator) and columns.kind in _SCORES:
        calibrator._check()
        if getattr(calibrator, "method", None) == "bins":
            return _spread(columns) if columns.kind == "normal" else None
        return _SCORES[columns.kind](columns)
    if type(calibrator) is ResidualCalibrator and calibrator.feature == "difference":
        return {"normal": normal, "points": points}.get(columns.kind, _none)(columns)
    return None


def _none(columns: Columns) -> None:
    return None


def normal(columns: Columns) -> Scored:
    """Normal scores of means and standard deviations, (y - mean) / std."""
    mean, std = map(number, columns.forecast)
    z = (number(str(columns.target)) - mean) / std
    near = z.abs() <= FARTHEST
    fine = near & (std > 0) & (std <= LARGEST)
    return Scored(fine, is_finite(mean) & is_finite(std), [(std > 0, SPREAD), (near, FAR)], z, extremes={"score": None})


def quantiles(columns: Columns) -> Scored:
    """Heights of the polylines through quantiles; rows where some are equal or cross are left to Python."""
    order = np.argsort(columns.keys)
    t = ndtri(np.asarray(columns.keys, dtype=np.float64)[order]).tolist()
    knots = [number(columns.forecast[place]) for place in order]
    z = on_polyline(number(str(columns.target)), knots, t)
    rising, near = all_of(low < high for low, high in pairwise(knots)), z.abs() <= FARTHEST
    good = all_of(map(is_finite, knots))
    fine = near & rising & is_finite(knots[0]) & is_finite(knots[-1])
    return Scored(fine, good, [(rising, BY_ROWS), (near, FAR)], z, extremes={"score": None})


def on_polyline(y: Any, knots: list[Any], t: list[float]) -> Any:
    """Height at y of the line through (knots, t), with the tails that `Quantiles` have; of a jump the upper end."""
    width = t[-1] - t[0]
    spread = knots[-1] / width - knots[0] / width
    cases = [(y < knots[0], t[0] + (y - knots[0]) / spread)]
    for place, (low, high) in enumerate(pairwise(knots)):
        cases.append((y < high, t[place] + (y - low) / (high - low) * (t[place + 1] - t[place])))
    return chosen(*cases, otherwise=t[-1] + (y - knots[-1]) / spread)


def log_spread(columns: Columns) -> Any:
    """The logarithm of the standard deviation, 0 where there is none."""
    std = number(columns.forecast[1])
    return chosen((std > 0, std), otherwise=1.0).log()


def _spread(columns: Columns) -> Scored:
    """Squared normal scores by the logarithm of the standard deviation."""
    plain = normal(columns)
    return replace(plain, x=log_spread(columns), masses=(None, plain.x * plain.x), extremes={"score": plain.x})


def points(columns: Columns) -> Scored:
    """Residuals of point predictions, y less the prediction."""
    point = number(columns.forecast[0])
    rest = number(str(columns.target)) - point
    fine = rest.abs() <= _HUGE
    return Scored(fine, is_finite(point), [(fine, BY_ROWS)], rest, extremes={"score": None})


_SCORES = {"normal": normal, "quantiles": quantiles}


def summary_of(calibrator: Any, columns: Columns, parts: dict[str, Part]) -> Summary:
    """The summary that `summarise` would have made of the rows."""
    if isinstance(calibrator, GroupedCalibrator):
        one = calibrator.calibrator
        return GroupedSummary({name: summary_of(one, columns, {name: part}) for name, part in parts.items()})
    (part,) = parts.values()
    span = part.extremes["score"]
    if getattr(calibrator, "method", None) == "bins":
        return SpreadSummary(part.grid, part.n_rows, span)
    kind = NORMAL
    if isinstance(calibrator, ResidualCalibrator):
        kind = RATIOS if columns.kind == "normal" else RESIDUALS
    return ScoreSummary(part.grid, part.n_rows, span, of=kind)
