"""Calibrators to be asked for by name, by commands and their help."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .auto import AutoCalibrator
from .candidates import AUTO, METHODS, is_installed, unknown_method


def methods_for(kind: str) -> dict[str, Callable[[], Any]]:
    """Those for forecasts of a kind by name, the default first.

    >>> list(methods_for("points"))
    ['residual', 'point', 'conformal']
    """
    table: dict[str, Callable[[], Any]] = {name: each.make for name, each in METHODS[kind].items()}
    if kind == "points":
        return table
    auto = {AUTO: partial(AutoCalibrator, task="classification" if kind == "scores" else "regression")}
    return {**auto, **table} if kind == "scores" else {**table, **auto}


def methods_with_features(kind: str) -> list[str]:
    """Names of those that can use features, first those that need them.

    >>> methods_with_features("distributions"), methods_with_features("points")
    (['boosted', 'stack', 'auto'], [])
    """
    needing = methods_for_features(kind)
    others = [name for name, each in METHODS[kind].items() if each.sees and name not in needing]
    return [*needing, *others, AUTO] if needing else []


def methods_for_features(kind: str, *, installed: bool = False) -> list[str]:
    """Names of those that need features, perhaps only of those that can be fitted here.

    >>> methods_for_features("distributions")
    ['boosted']
    """
    table = METHODS[kind].items()
    return [name for name, each in table if "X" in each.takes.needs and (is_installed(each) or not installed)]


def method(name: str | None, kind: str, what: str = "", *, features: bool = False) -> tuple[str, Any]:
    """Name and calibrator for forecasts of a kind: those asked for, or the default.

    Parameters
    ----------
    name : str, optional
    kind : {"distributions", "points", "scores"}
    what : str, optional
        What the forecasts are, for the error.
    features : bool
        Whether there are features: the default then is one that uses them, where there is one, and "auto" asks for
        them.

    Examples
    --------
    >>> method(None, "distributions")
    ('quantile', QuantileCalibrator())
    >>> method("platt", "distributions")
    Traceback (most recent call last):
    ...
    ValueError: method 'platt' is not for distributions; these are: quantile, scale, density, gp-beta, ...
    """
    offered = methods_for(kind)
    first = methods_with_features(kind) if features else []
    chosen = next(iter([*first, *offered])) if name is None else name.lower()
    if chosen not in offered:
        raise ValueError(unknown_method(str(name), offered, what or kind))
    made = offered[chosen]()
    if features and chosen in methods_with_features(kind) and "features" in made.get_params(deep=False):
        made.set_params(features=True)
    return chosen, made
