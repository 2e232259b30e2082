"""Applying a calibrator where the data lives."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from ...calibration import GroupedCalibrator
from ...calibration.contract import takes_of
from ...distributions import Distribution, Normal
from ...tables.columns import Columns
from ...tables.lazy_frames import has_dots
from ...tables.rows import MISSING
from ..added import Added, free_names
from ..arrow import roles_to_apply
from .batches import Work, calibrated
from .cdf import with_cdf
from .class_columns import with_probabilities
from .frames import chosen, frame_of, is_finite, number
from .shared import moves_along, standard
from .steps import Steps

_FEW = 64  # groups that a chain of conditions can tell apart


def apply(calibrator: Any, source: Any, columns: Columns, *, added: Added | None = None) -> Any:
    r"""Calibrate the forecasts in a frame, by the engine that holds it.

    A map that all rows share makes of a normal forecast's quantile :math:`\mu + \sigma c`, with one c for each level:
    an expression of the engine's own, with no Python in it. Intervals, means and standard deviations are alike, and so
    are up to 64 groups in one column, and probabilities by temperature and by Platt's, beta and isotonic curves, these
    of up to 64 knots. Distribution functions are :math:`\Phi(T((y - \mu)/\sigma))`, with the pieces of T told apart by
    conditions and arithmetic in place of an erf, which engines lack: of normal forecasts, of points with residuals and
    of quantile columns; but in Dask, which is Python itself. Whatever else there is (calibrators
    that look at the forecast or at features, quantiles of quantile columns, samples, more groups) is worked out batch
    by batch: `mapInArrow` of Spark, `map_partitions` of Dask, `map_batches` of Polars.

    Parameters
    ----------
    calibrator : fitted calibrator
    source : lazy frame
        A Polars LazyFrame, DuckDB relation, Dask frame, PySpark frame or Ibis table.
    columns : Columns
    added : Added, optional
        Which columns; quantiles at five levels.

    Returns
    -------
    lazy frame of the kind that came in
        With columns at its end; they are blank where there is no forecast, or none with a positive spread.

    Examples
    --------
    >>> import polars as pl
    >>> from calibrant import QuantileCalibrator
    >>> frame = pl.LazyFrame({"mu": [0.0, 1.0, 2.0], "sigma": [1.0, 1.0, 1.0], "y": [0.5, 0.5, 3.5]})
    >>> columns = Columns("normal", ("mu", "sigma"), target="y")
    >>> calibrator = QuantileCalibrator().fit(Normal([0.0, 1.0, 2.0], 1.0), [0.5, 0.5, 3.5])
    >>> apply(calibrator, frame, columns, added=Added.of(levels=[0.1, 0.9])).collect_schema().names()
    ['mu', 'sigma', 'y', 'q0.1', 'q0.9']
    """
    frame = frame_of(source)
    names = frame.collect_schema().names()
    added = (added or Added()).among(names)
    roles = roles_to_apply(columns, takes_of(calibrator))
    made = None if has_dots(frame, names) else _made(frame, calibrator, roles, added)
    return calibrated(frame, Work.of(calibrator, roles, added)) if made is None else made.to_native()


def _made(frame: Any, calibrator: Any, columns: Columns, added: Added) -> Any:
    """The frame with new columns; None where rows are needed."""
    if columns.kind == "classes":
        return with_probabilities(frame, calibrator, columns, added)
    constant, places = added.apart()
    found = new_columns(calibrator, columns, constant, frame) if constant is not None else {}
    steps = Steps(frame)
    chances = with_cdf(calibrator, columns, places, steps) if places and found is not None else []
    if found is None or chances is None:
        return None
    found |= dict(zip(added.chances(), chances, strict=True))
    names = free_names(added.names(), steps.names)
    return steps.ended({new: found[name] for name, new in names.items()})


def new_columns(calibrator: Any, columns: Columns, added: Added, frame: Any) -> dict[str, Any] | None:
    """Expressions of the new columns, by name; None where rows are needed."""
    constants = _constants(calibrator, columns, added, frame)
    if constants is None:
        return None
    loc = number(columns.forecast[0])
    scale, good = nw.lit(1.0), is_finite(loc)
    if columns.kind == "normal":
        scale = number(columns.forecast[1])
        good = good & (scale > 0) & is_finite(scale)
    made = {name: scale * c if name == "std" else loc + scale * c for name, c in constants.items()}
    return {name: nw.when(good).then(value) for name, value in made.items()}


def _constants(calibrator: Any, columns: Columns, added: Added, frame: Any) -> dict[str, Any] | None:
    """The c of each new column, a number or by group; None where there are no such."""
    if isinstance(calibrator, GroupedCalibrator):
        return _by_group(calibrator, columns, added, frame)
    law = standard(calibrator, columns)
    return None if law is None else _finite(added, law)


def _finite(added: Added, law: Distribution) -> dict[str, float] | None:
    found = {name: float(values[0]) for name, values in added.columns(law).items()}
    return found if np.isfinite(list(found.values())).all() else None


def _by_group(calibrator: Any, columns: Columns, added: Added, frame: Any) -> dict[str, Any] | None:
    """Numbers by group, where groups are few and named by one column of texts or whole numbers."""
    own = calibrator.calibrators_
    if len(columns.group) != 1 or len(own) > _FEW or columns.kind != "normal":
        return None
    kind, group = frame.collect_schema()[columns.group[0]], nw.col(columns.group[0])
    if not (kind == nw.String or kind.is_integer()) or not all(map(moves_along, (calibrator.common_, *own.values()))):
        return None
    first = calibrator.common_.transform(Normal([0.0], [1.0]))
    found = {name: _finite(added, one.transform(first)) for name, one in own.items()}
    common = _finite(added, first)
    if common is None or None in found.values():
        return None
    text = group.cast(nw.String)
    label = chosen((group.is_null(), nw.lit(MISSING)), (text == "", nw.lit(MISSING)), otherwise=text)
    return {
        column: chosen(*((label == name, c[column]) for name, c in found.items() if c), otherwise=usual)
        for column, usual in common.items()
    }
