"""Calibrators by the names that commands have for them."""

from __future__ import annotations

from typing import Any

from ..adapters.names import NAMES
from ..calibration import HorizonCalibrator
from ..calibration.contract import takes_of
from ..select.candidates import BY_GROUP, grouped_of
from ..select.methods import method, methods_for, methods_for_features, methods_with_features
from ..tables.columns import Columns
from ..tables.roles import RoleError

BY_HORIZON = " by horizon"
_KINDS = {"points": "points", "classes": "scores"}
_QUICK = {"points": "residual", "classes": "beta"}


def kind_of(columns: Columns) -> str:
    """The table of methods that is for such forecasts."""
    return _KINDS.get(columns.kind, "distributions")


def calibrator_of(name: str | None, columns: Columns) -> tuple[str, Any]:
    """Name and calibrator of a method, or of the default; one a group and horizon where such are named.

    Examples
    --------
    >>> calibrator_of(None, Columns("normal", ("mu", "sigma")))
    ('quantile', QuantileCalibrator())
    >>> calibrator_of("platt", Columns("normal", ("mu", "sigma")))
    Traceback (most recent call last):
    ...
    ValueError: method 'platt' is not for means and standard deviations; these are: quantile, scale, ...
    """
    chosen, made = method(name, kind_of(columns), NAMES[columns.kind], features=bool(columns.feature))
    if columns.feature or "X" in made.takes.needs:
        check_features([chosen], columns)
    if columns.group and "groups" not in takes_of(made).beside:  # some see to groups themselves
        chosen, made = chosen + BY_GROUP, grouped_of(made)
    if columns.horizon and "horizon" not in takes_of(made).beside:
        chosen, made = chosen + BY_HORIZON, HorizonCalibrator(made)
    return chosen, made


def candidates_for(columns: Columns, names: list[str] | None) -> dict[str, Any]:
    """Calibrators to try, by name; a quick one that suits the forecasts if none is named.

    Examples
    --------
    >>> candidates_for(Columns("points", ("yhat",)), None)
    {'residual': ResidualCalibrator()}
    """
    quick = "platt" if columns.scores_are == "margins" else _QUICK.get(columns.kind, "quantile")
    seeing = methods_for_features(kind_of(columns), installed=True) if columns.feature else []
    chosen = names or [quick, *seeing]
    if "point" in chosen:
        raise ValueError("method 'point' gives numbers, no distributions to measure; try 'residual'.")
    features = bool(columns.feature)
    found = dict(method(name, kind_of(columns), NAMES[columns.kind], features=features) for name in chosen)
    check_features(list(found), columns, unused=True)
    return found


def check_features(names: list[str], columns: Columns, *, unused: bool = False) -> None:
    """Refuse methods that need features where there are none, and features that none uses unless they may be unused."""
    seeing = methods_with_features(kind_of(columns))
    needing = next((name for name in names if name in methods_for_features(kind_of(columns))), None)
    if needing and not columns.feature:
        text = "method {name!r} needs features; say {feature:COLUMN} for each, or {feature:'*'} for all other columns."
        raise RoleError(text, name=needing)
    if columns.feature and not unused and not set(names) & set(seeing):
        if not seeing:
            text = "no method for {what} uses features; leave {feature} out."
            raise RoleError(text, what=NAMES[columns.kind])
        text = "method {names} uses no features; leave {feature} out, or say {method:{other}}."
        raise RoleError(text, names=", ".join(map(repr, names)), other=seeing[0])


def listed(kind: str) -> str:
    """The names for a kind of forecasts, as the help tells them.

    >>> listed("points")
    'residual (default), point, conformal'
    """
    first, *others = methods_for(kind)
    return ", ".join([f"{first} (default)", *others])
