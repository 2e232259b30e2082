"""Examples of every law, map and calibrator that is exported: the common tests run on all of them.

A class shows an example itself, by a classmethod ``_example(rng, rows)`` (of a calibrator: ``_example()``), or has
fields that tell one, or is listed here because it is worth trying in several forms.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from scipy.special import ndtri

import calibrant
from calibrant import distributions as d
from calibrant import maps as m
from calibrant.calibration.contract import takes_of

ROWS = 3
REAL = ("loc", "location", "mean", "shift", "intercept", "bias")  # fields of any sign; others are taken for positive


def exported(room: ModuleType, kind: type) -> dict[str, type]:
    """The classes of a kind that a room shows, by name, but for abstract ones."""
    items = {name: getattr(room, name) for name in room.__all__}
    classes = {name: item for name, item in items.items() if isinstance(item, type) and issubclass(item, kind)}
    return {name: item for name, item in classes.items() if not inspect.isabstract(item)}


def missing(room: ModuleType, kind: type, listed: Any) -> dict[str, type]:
    """Those of them that are not listed by name; "Ensemble, ties" lists Ensemble."""
    names = {name.partition(",")[0] for name in listed}
    return {name: item for name, item in exported(room, kind).items() if name not in names}


def example_of(kind: Any, rng: np.random.Generator) -> Any:
    """A batch of ROWS laws, or a map: the class's own example, or one made from its fields."""
    try:
        if hasattr(kind, "_example"):
            return kind._example(rng, ROWS)
        fields = [field for field in dataclasses.fields(kind) if field.init]
        return kind(**{field.name: _value(kind, field, rng) for field in fields})
    except Exception as reason:
        raise AssertionError(
            f"{kind.__name__} shows no example for the common tests: {reason!r}. "
            "Give it a classmethod `_example(rng, rows)` that returns one."
        ) from reason


def unlisted_calibrators(kind: type, listed: dict[str, Any], *, but: tuple[type, ...] = ()) -> dict[str, Any]:
    """Unfitted calibrators of each exported class that is not listed, by name: its own example, or its defaults."""
    known = {type(calibrator) for calibrator in listed.values()} | set(but)
    new = {name: item for name, item in exported(calibrant, kind).items() if item not in known}
    return {name: _calibrator(item) for name, item in new.items()}


def can_fit(calibrator: Any) -> bool:
    """Whether the packages are there that its fit needs."""
    return "X" not in takes_of(calibrator).needs or find_spec("lightgbm") is not None


def fit_example(calibrator: Any, forecasts: Any, y: Any, **weights: Any) -> Any:
    """Fit a calibrator, with features if it needs some."""
    return calibrator.fit(forecasts, y, **weights, **_features(calibrator, forecasts))


def transform_example(calibrator: Any, forecasts: Any) -> Any:
    """Calibrated forecasts, of the same features."""
    return calibrator.transform(forecasts, **_features(calibrator, forecasts))


def _features(calibrator: Any, forecasts: Any) -> dict[str, Any]:
    """What the forecasts show themselves, as X, for calibrators that need X."""
    if "X" not in takes_of(calibrator).needs:
        return {}
    low, middle, high = calibrant.as_distribution(forecasts).quantiles([0.1, 0.5, 0.9]).T
    return {"X": np.column_stack([middle, high - low])}


def _calibrator(kind: Any) -> Any:
    try:
        return kind._example() if hasattr(kind, "_example") else kind()
    except Exception as reason:
        raise AssertionError(
            f"{kind.__name__} shows no example for the common tests: {reason!r}. "
            "Give its arguments defaults, or the class a classmethod `_example()` that returns one."
        ) from reason


def _value(kind: Any, field: Any, rng: np.random.Generator) -> Any:
    by_row = issubclass(kind, d.Distribution) or str(field.type) not in ("float", "Any")
    if by_row and field.name not in kind._by_row:
        raise TypeError(f"the field {field.name!r} ({field.type}) could be anything")
    size = ROWS if by_row else None
    return rng.normal(0, 3 if by_row else 0.5, size) if field.name in REAL else np.exp(rng.normal(0, 0.7, size))


def _columns(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(0, 3, ROWS), np.exp(rng.normal(0, 0.7, ROWS))


def _sorted(rng: np.random.Generator, m: int) -> np.ndarray:
    loc, scale = _columns(rng)
    return np.sort(loc[:, None] + scale[:, None] * rng.standard_normal((ROWS, m)), axis=1)


LAWS: dict[str, Callable[[np.random.Generator], d.Distribution]] = {
    "StudentT": lambda rng: d.StudentT(*_columns(rng), rng.uniform(4, 12, ROWS)),
    "LogNormal": lambda rng: d.LogNormal(rng.normal(0, 1, ROWS), rng.uniform(0.2, 0.8, ROWS)),
    "Gamma": lambda rng: d.Gamma(rng.uniform(2, 8, ROWS), np.exp(rng.normal(0, 0.7, ROWS))),
    "Poisson": lambda rng: d.Poisson(np.exp(rng.uniform(-1, 3, ROWS))),
    "NegativeBinomial": lambda rng: d.NegativeBinomial(np.exp(rng.uniform(-1, 3, ROWS)), rng.uniform(0.1, 0.6, ROWS)),
    "Ensemble": lambda rng: d.Ensemble(_sorted(rng, 12)),
    "Ensemble, ties": lambda rng: d.Ensemble(np.round(_sorted(rng, 12), 0) + np.arange(12) // 6),
    "Ensemble, discrete": lambda rng: d.Ensemble(_sorted(rng, 9), kind="discrete"),
    "Quantiles": lambda rng: d.Quantiles(np.array([0.05, 0.25, 0.5, 0.75, 0.95]), _sorted(rng, 5)),
    "Histogram": lambda rng: d.Histogram(np.array([-2.0, -1.0, 0.0, 0.5, 3.0]), rng.dirichlet(np.ones(4), ROWS)),
    "Mixture": lambda rng: d.Mixture(
        (d.Normal(*_columns(rng)), d.Laplace(*_columns(rng))), rng.dirichlet(np.ones(2), ROWS)
    ),
    "Mixture, recalibrated": lambda rng: d.Mixture(
        [d.Recalibrated(d.Normal(*_columns(rng)), _fitted(m.fit_ecdf, 12)(rng)) for _ in range(2)]
    ),
    "Truncated": lambda rng: d.Truncated(d.Normal(rng.normal(1, 1, ROWS), rng.uniform(0.5, 2, ROWS)), 0.0, 6.0),
    "Recalibrated": lambda rng: d.Recalibrated(d.Normal(*_columns(rng)), _fitted(m.fit_spline)(rng)),
    "Joined": lambda rng: d.concatenate([d.Normal(*_columns(rng))[:1], d.Logistic(*_columns(rng))[1:]]),
}
LAWS |= {name: partial(example_of, kind) for name, kind in missing(d, d.Distribution, LAWS).items()}


def _fitted(fit: Callable[..., m.Map], n: int = 40) -> Callable[[np.random.Generator], m.Map]:
    def make(rng: np.random.Generator) -> m.Map:
        z = rng.normal(0.4, np.exp(rng.uniform(-0.5, 0.5)), n)
        return fit(z + 0.15 * z**2)

    return make


def _bent(rng: np.random.Generator) -> m.Map:
    knots = np.cumsum(rng.uniform(0.2, 1.0, 6)) - 2
    return m.PiecewiseLinearMap(knots, np.cumsum(rng.uniform(0.2, 1.0, 6)) - 2, (0.8, 1.3))


def _flow(rng: np.random.Generator) -> m.Map:
    a, b = np.exp(rng.normal(0, 0.3, (2, ROWS)))
    heights, centres = np.exp(rng.normal(0, 0.5, (ROWS, 3))), np.sort(rng.normal(0, 1, (ROWS, 3)), axis=1)
    return m.FlowMap(a, b, rng.normal(0, 0.5, ROWS), heights, centres, *np.tile([[0.6], [0.2], [1.2]], ROWS))


def _hats(rng: np.random.Generator) -> m.Map:
    smooth = _flow(rng)
    knots = np.cumsum(rng.uniform(0.3, 1.0, (ROWS, 3)), axis=1) - 1.5
    return m.HatFlowMap(smooth.a, smooth.b, smooth.c, smooth.heights, knots, smooth.location, smooth.scale)


def _segments(rng: np.random.Generator) -> m.Map:
    knots = np.sort(rng.normal(0, 1, (ROWS, 4)), axis=1)
    return m.ProbabilityRows.from_log_masses(knots, np.log(rng.dirichlet(np.full(5, 3.0), ROWS)))


def _smooth(rng: np.random.Generator) -> m.Map:
    line = _segments(rng)
    return m.SmoothRows(line.knots, line.levels, line.log_rise)


def _averaged(rng: np.random.Generator) -> m.Map:
    return m.AveragedBetaMap(rng.normal(0, 0.3, (ROWS, 3)), np.tril(rng.normal(0, 0.1, (ROWS, 3, 3))))


MAPS: dict[str, Callable[[np.random.Generator], m.Map]] = {
    "AffineMap": lambda rng: m.AffineMap(float(rng.normal(0, 0.5)), float(np.exp(rng.normal(0, 0.3)))),
    "AffineMap, rows": lambda rng: m.AffineMap(rng.normal(0, 0.5, ROWS), np.exp(rng.normal(0, 0.3, ROWS))),
    "BetaMap": lambda rng: m.BetaMap(*np.exp(rng.normal(0, 0.3, 2)).tolist(), float(rng.normal(0, 0.5))),
    "BetaMap, rows": lambda rng: m.BetaMap(*np.exp(rng.normal(0, 0.3, (2, ROWS))), rng.normal(0, 0.5, ROWS)),
    "PiecewiseLinearMap": _bent,
    "PiecewiseLinearMap, fitted": _fitted(m.fit_ecdf),
    "ProbabilityMap": _fitted(m.fit_isotonic, 8),
    "StepMap": _fitted(m.fit_step, 8),
    "SkewMap": lambda rng: m.SkewMap(
        float(rng.normal(0, 0.2)), float(rng.normal(0, 0.5)), float(rng.uniform(0.8, 1.3))
    ),
    "SplineMap": _fitted(m.fit_spline),
    "SplineMap, kernel": _fitted(m.fit_kernel, 25),
    "UnitTails, rows": lambda rng: m.UnitTails(m.AffineMap(rng.normal(0, 0.5, ROWS), 1.2), -2.0, 2.5),
    "UnitTails": lambda rng: m.UnitTails(m.AffineMap(0.2, float(np.exp(rng.normal(0, 0.3)))), -2.0, 2.5),
}


BATCH_MAPS: dict[str, Callable[[np.random.Generator], m.Map]] = {  # one map a row, and costly
    "FlowMap": _flow,
    "HatFlowMap": _hats,
    "ProbabilityRows": _segments,
    "SmoothRows": _smooth,
    "AveragedBetaMap": _averaged,
}
MAPS |= {name: partial(example_of, kind) for name, kind in missing(m, m.Map, MAPS | BATCH_MAPS).items()}


def some_levels(rng: np.random.Generator, k: int = 7) -> np.ndarray:
    """Probabilities from both tails and the middle."""
    return np.sort(np.concatenate([rng.uniform(0.02, 0.98, k), [1e-4, 1 - 1e-4]]))


def normal_levels(rng: np.random.Generator, k: int = 7) -> np.ndarray:
    return ndtri(some_levels(rng, k))
