"""Calibrators by the names that a command line has for them."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from .. import classification as c
from .. import regression as r
from ..calibration import GroupedCalibrator
from ..select import AutoCalibrator
from ..tables.columns import NAMES, Columns
from ..tables.roles import RoleError

LAWS: dict[str, Any] = {
    "quantile": r.QuantileCalibrator,
    "scale": r.ScaleCalibrator,
    "density": r.DensityCalibrator,
    "gp-beta": r.GPBetaCalibrator,
    "gpc": r.GPCCalibrator,
    "flow": r.FlowCalibrator,
    "stack": r.StackCalibrator,
    "auto": AutoCalibrator,
}
POINTS: dict[str, Any] = {"residual": r.ResidualCalibrator, "point": r.PointCalibrator}
CLASSES: dict[str, Any] = {
    "auto": AutoCalibrator,
    "temperature": c.TemperatureCalibrator,
    "platt": c.PlattCalibrator,
    "beta": c.BetaCalibrator,
    "isotonic": c.IsotonicCalibrator,
    "smooth-isotonic": c.SmoothIsotonicCalibrator,
    "binning": c.BinningCalibrator,
    "vector": c.VectorCalibrator,
    "dirichlet": c.DirichletCalibrator,
    "venn-abers": c.VennAbersCalibrator,
}


def methods_for(columns: Columns) -> dict[str, Any]:
    """Which there are for such forecasts, the default first."""
    return {"points": POINTS, "classes": CLASSES}.get(columns.kind, LAWS)


def method(name: str | None, columns: Columns) -> Any:
    """The calibrator of a name, or the default; one a group where a column of groups is named.

    Examples
    --------
    >>> method(None, Columns("normal", ("mu", "sigma")))
    QuantileCalibrator()
    >>> method("platt", Columns("normal", ("mu", "sigma")))
    Traceback (most recent call last):
    ...
    ValueError: method 'platt' is not for means and standard deviations; these are: quantile, scale, ...
    """
    offered = methods_for(columns)
    chosen = next(iter(offered)) if name is None else name.lower()
    if chosen not in offered:
        exists = chosen in LAWS | POINTS | CLASSES
        close = get_close_matches(chosen, offered, 1)
        text = f"is not for {NAMES[columns.kind]}" if exists else "is not known"
        text += f", {close[0]!r} perhaps" if close and not exists else ""
        raise ValueError(f"method {name!r} {text}; these are: {', '.join(offered)}.")
    kind = offered[chosen]
    made = kind(task=columns.task) if kind is AutoCalibrator else kind()
    if not columns.group:
        return made
    if columns.kind == "classes":
        raise RoleError("class probabilities are not calibrated by group; leave {group} out.")
    return GroupedCalibrator(made)


def candidates_for(columns: Columns, names: list[str] | None = None) -> dict[str, Any]:
    """Calibrators to try, by name; a quick one that suits the forecasts if none is named.

    Examples
    --------
    >>> candidates_for(Columns("points", ("yhat",)))
    {'residual': ResidualCalibrator()}
    """
    quick = {"points": "residual", "classes": "platt" if columns.scores_are == "margins" else "beta"}
    chosen = names or [quick.get(columns.kind, "quantile")]
    if "point" in chosen:
        raise ValueError("method 'point' gives numbers, no distributions to measure; try 'residual'.")
    alone = replace(columns, group=())
    return {name.lower(): method(name, alone) for name in chosen}
