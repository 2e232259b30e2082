"""Which map a calibrator learns: by name, by somebody's regressor, or given as a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .._checks import Array, one_of
from ..maps import (
    Map,
    fit_beta,
    fit_ecdf,
    fit_isotonic,
    fit_kernel,
    fit_regressor,
    fit_spline,
    fit_step,
    tabulated,
)

FITS: dict[str, Callable[..., Map]] = {
    "spline": fit_spline,
    "ecdf": fit_ecdf,
    "isotonic": fit_isotonic,
    "step": fit_step,
    "beta": fit_beta,
    "kde": fit_kernel,
}
RANKS = ("T+1", "T")
TABLE = "table"  # what a model or function has become in a file
_SHARED: ContextVar[dict[Any, Map] | None] = ContextVar("shared maps", default=None)


def check_map(map: Any, ranks: str | None) -> None:
    """Raise if there is no such map, or if it does not go through ranks and some are asked for."""
    if isinstance(map, str) and map == TABLE:
        raise ValueError(
            "`map` is the table of a model or function that the file does not hold: it forecasts, and cannot learn. "
            "Give the model again: set_params(map=...)."
        )
    if map is None or (isinstance(map, str) and map not in FITS):
        one_of(map, "map", tuple(FITS))
    if not isinstance(map, str):
        _check_made(map)
    if ranks is None or _is_regressor(map):
        return
    if not isinstance(map, str) or map not in ("isotonic", "step", "ecdf"):
        raise ValueError(f"`ranks` is for map 'isotonic', 'step', 'ecdf' and regressors; {map!r} has no ranks.")
    if map == "ecdf" and ranks == "T":
        raise ValueError("`ranks` must be 'T+1' with map='ecdf': the normal score of rank T of T is infinite.")


def _check_made(map: Any) -> None:
    """Raise if this is no regressor, function, or map of all rows."""
    if isinstance(map, type) or not (_is_regressor(map) or callable(map)):
        raise TypeError(f"`map` must be a name, a regressor with fit and predict, or a function of p; got {map!r}.")
    if isinstance(map, Map) and map.rows is not None:
        raise ValueError(f"`map` must serve all rows; got {map.rows} maps.")


def fit_map(map: Any, z: Array, weights: Array | None, *, ranks: Any, heavy_tails: bool) -> Map:
    """The map of this choice that suits normal scores; `check_map` has seen it."""
    if isinstance(map, Map):
        return map
    if _is_regressor(map):
        return fit_regressor(z, weights, map, ranks=ranks or "T")
    if callable(map):
        return tabulated(map)
    how: dict[str, Any] = {}
    if map == "isotonic":
        how = {"ranks": ranks or "T+1"}
    elif map == "step":
        how = {"finite_sample": ranks == "T+1"}
    shared = _SHARED.get()
    if map != "spline" or shared is None:
        return FITS[map](z, weights, heavy_tails=heavy_tails, **how)
    same = (z.tobytes(), None if weights is None else weights.tobytes(), heavy_tails)
    if same not in shared:
        shared[same] = fit_spline(z, weights, heavy_tails=heavy_tails)
    return shared[same]


@contextmanager
def shared_maps() -> Iterator[None]:
    """Context in which the default map of the same scores is fitted once: candidates of a stack begin with it."""
    token = _SHARED.set({})
    try:
        yield
    finally:
        _SHARED.reset(token)


def has_steps(map: Any) -> bool:
    """Whether laws calibrated by such a map have atoms of its own."""
    return map.has_steps if isinstance(map, Map) else isinstance(map, str) and map == "step"


def kept_state(calibrator: Any, learned: str) -> dict[str, Any]:
    """What a file keeps of a calibrator: its state, and of a model or function of others the word "table" only."""
    if not isinstance(calibrator.map, (str, Map)):
        if "n_rows_" in vars(calibrator):
            getattr(calibrator, learned)  # a fit that waits
        return {**vars(calibrator), "map": TABLE}
    return dict(vars(calibrator))


def _is_regressor(map: Any) -> bool:
    return hasattr(map, "fit") and hasattr(map, "predict")
