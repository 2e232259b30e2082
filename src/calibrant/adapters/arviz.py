"""Draws of posterior predictions: ArviZ's InferenceData and xarray's datasets, without importing them."""

from __future__ import annotations

from typing import Any

from .._checks import to_array
from ..distributions.base import Distribution
from ..distributions.tables.ensemble import Ensemble

_GROUPS = ("posterior_predictive", "predictions")
_DRAWS = ("chain", "draw")


def from_arviz(obj: Any) -> Distribution | None:
    """The draws of one variable, in all chains, as samples of each row.

    Taken from the group ``posterior_predictive``, else ``predictions``, of an InferenceData or a DataTree; or from a
    dataset or an array with the dimensions chain and draw.
    """
    if not any(kind.__module__.partition(".")[0] in ("arviz", "arviz_base", "xarray") for kind in type(obj).__mro__):
        return None
    if hasattr(obj, "dims") and set(_DRAWS) & {str(name) for name in obj.dims}:
        return _of_array(obj if not hasattr(obj, "data_vars") else _variable(obj))
    group = next((getattr(obj, name) for name in _GROUPS if hasattr(obj, name)), None)
    if group is None:
        raise ValueError(
            f"{type(obj).__name__} must have draws: a group posterior_predictive, or the dimensions chain and draw."
        )
    return _of_array(_variable(group))


def _variable(group: Any) -> Any:
    """The one variable of a group."""
    names = list(group.data_vars)
    if len(names) != 1:
        raise ValueError(
            f"the draws must be of one variable; got {len(names)}: {', '.join(map(str, names))}. Select one, as in "
            f'posterior_predictive["{names[0] if names else "y"}"].'
        )
    return group[names[0]]


def _of_array(array: Any) -> Distribution:
    draws = [name for name in _DRAWS if name in array.dims]
    rows = [name for name in array.dims if name not in draws]
    if len(rows) > 1:
        raise ValueError(f"draws must be along one dimension of rows; got {', '.join(map(str, rows))}. Select one.")
    values = to_array(array.transpose(*rows, *draws).values, "draws")
    return Ensemble(values.reshape(len(values) if rows else 1, -1))
