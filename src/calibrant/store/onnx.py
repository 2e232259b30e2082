"""Calibrators of Gaussian forecasts as ONNX models, to be used where Python is not."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .._checks import probabilities
from .._files import write_atomically
from .._version import __version__
from ..maps import AffineMap, BetaMap, Map, PiecewiseLinearMap, ProbabilityMap, SplineMap, StepMap
from .onnx_graph import Graph
from .shared_maps import LEVELS, shared_maps, standard_quantiles


def export_onnx(calibrator: Any, path: str | os.PathLike[str], *, levels: Any = LEVELS, cdf: bool = False) -> None:
    r"""Write a fitted calibrator of normal forecasts as an ONNX model in double precision.

    .. math:: q_\tau = \mu + \sigma k_\tau, \qquad F(y) = \Phi\big(T((y - \mu) / \sigma)\big)

    with :math:`k_\tau` the calibrated quantile of a standard normal forecast and T the fitted map: its knots are found
    by a binary search, :math:`\Phi` is W. J. Cody's rational approximation.

    The model takes columns ``mean`` and ``std`` (and ``y`` for ``cdf``), float64 (n,), and gives ``quantiles`` (n, L)
    and ``cdf`` (n,). Its metadata tell method, rows, levels and library version.

    Parameters
    ----------
    calibrator : fitted QuantileCalibrator, ScaleCalibrator ("nll", "coverage") or ResidualCalibrator
        Or a chain or choice of these: all rows must have one map in common.
    path : path
        Written exactly as given, whole or not at all.
    levels : array-like (L,)
        Levels of the quantiles, between 0 and 1.
    cdf : bool, default False
        Whether to give distribution functions at outcomes too.

    Examples
    --------
    >>> import tempfile
    >>> from calibrant import Normal, QuantileCalibrator
    >>> cal = QuantileCalibrator().fit(Normal([0.0, 1.0, 2.0], 1.0), [0.5, 0.5, 3.5])
    >>> with tempfile.TemporaryDirectory() as folder:                         # doctest: +SKIP
    ...     export_onnx(cal, f"{folder}/shop.onnx", levels=[0.1, 0.5, 0.9])
    """
    onnx = _onnx()
    maps = shared_maps(calibrator)
    taus = np.atleast_1d(probabilities(levels, "levels"))
    graph, inputs, outputs = Graph(onnx), ["mean", "std"], {"quantiles": ["rows", len(taus)]}
    column = [graph("Unsqueeze", name, [1]) for name in inputs]
    graph("Add", column[0], graph("Mul", column[1], standard_quantiles(calibrator, taus)), name="quantiles")
    if cdf:
        score = graph("Div", graph("Sub", "y", "mean"), "std")
        _finish(graph, score, maps)
        inputs, outputs["cdf"] = [*inputs, "y"], ["rows"]
    notes = {
        "method": type(calibrator).__name__,
        "rows": str(getattr(calibrator, "n_rows_", 0)),
        "levels": ",".join(repr(float(tau)) for tau in taus),
        "library": f"calibrant {__version__}",
    }
    content = graph.model(inputs, outputs, notes)

    def fill(file: BinaryIO) -> None:
        file.write(content)

    write_atomically(Path(path), fill)


def _onnx() -> Any:
    try:
        return importlib.import_module("onnx")
    except ImportError as reason:
        raise ImportError("export_onnx needs the package onnx: pip install 'calibrant[onnx]'.") from reason


# ---- the distribution function ----
def _finish(graph: Graph, score: str, maps: list[Map]) -> None:
    """All maps but the last on scores, the last and the normal law together."""
    *before, last = maps or [AffineMap()]
    for map in before:
        score = _written(SCORES, map)(graph, map, score)
    if type(last) in ENDS:
        level = ENDS[type(last)](graph, last, score)
    else:
        level = graph.normal_both(_written(SCORES, last)(graph, last, score))[0]
    graph("Where", graph("IsNaN", score), score, level, name="cdf")


def _written(table: dict[type, Callable[..., str]], map: Map) -> Callable[..., str]:
    if type(map) not in table:
        raise TypeError(
            f"the distribution function of a {type(map).__name__} cannot be exported "
            f"{'but as the last of a chain' if type(map) in ENDS else 'yet'}; quantiles can: cdf=False."
        )
    return table[type(map)]


def _affine(graph: Graph, map: AffineMap, z: str) -> str:
    return graph("Add", float(map.intercept), graph("Mul", float(map.slope), z))


def _bent(graph: Graph, map: PiecewiseLinearMap, z: str) -> str:
    start = np.maximum(np.arange(len(map.knots) + 1) - 1, 0)
    piece = graph.rank(map.knots, z)
    knot, level, slope = (graph("Gather", table, piece) for table in (map.knots[start], map.levels[start], map._slopes))
    return graph("Add", level, graph("Mul", slope, graph("Sub", z, knot)))


def _spline(graph: Graph, map: SplineMap, z: str) -> str:
    piece = graph.rank(map.knots, z)
    knot, value, slope, bend = (graph("Gather", table, piece) for table in map._pieces)
    d = graph("Sub", z, knot)
    height = graph("Mul", graph("Add", graph("Mul", bend, d), slope), d)
    return graph("Where", graph("IsInf", z), z, graph("Add", height, value))


def _steps(graph: Graph, map: StepMap, z: str) -> str:
    return graph("Gather", map._scores, graph.rank(map.knots, _slackened(graph, z)))


def _step_levels(graph: Graph, map: StepMap, z: str) -> str:
    return graph("Gather", np.append(0.0, map.cumulative), graph.rank(map.knots, _slackened(graph, z)))


def _slackened(graph: Graph, z: str) -> str:
    """A little to the right, as `StepMap` does: a round trip may miss a knot by rounding."""
    size = graph("Min", graph("Abs", z), 1e9)
    return graph("Add", z, graph("Mul", graph("Add", size, 1.0), 1e-9))


def _probability(graph: Graph, map: ProbabilityMap, z: str) -> str:
    """R(Φ(z)), measured from the nearer end of [0, 1]."""
    p, q, r, s, rho = map._table
    low, high = graph.normal_both(z)
    piece, upper = graph.rank(map.knots, z), graph("Greater", z, 0.0)
    at = [graph("Gather", table, piece) for table in (p[:-1], q[:-1], p[1:], q[1:], r[:-1], s[1:], rho)]
    left = graph("Where", upper, graph("Sub", at[1], high), graph("Sub", low, at[0]))
    right = graph("Where", upper, graph("Sub", high, at[3]), graph("Sub", at[2], low))
    below = graph("Add", at[4], graph("Mul", at[6], graph("Max", left, 0.0)))
    above = graph("Add", at[5], graph("Mul", at[6], graph("Max", right, 0.0)))
    return graph("Where", graph("Less", below, above), below, graph("Sub", 1.0, above))


def _beta(graph: Graph, map: BetaMap, z: str) -> str:
    """σ(a ln Φ(z) - b ln Φ(-z) + c), from the smaller tail."""
    low, high = graph.normal_logs(z)
    odds = graph("Sub", graph("Mul", float(map.a), low), graph("Mul", float(map.b), high))
    odds = graph("Add", odds, float(map.c))
    small = graph("Exp", graph("Neg", graph("Abs", odds)))
    share = graph("Div", small, graph("Add", small, 1.0))
    return graph("Where", graph("Greater", odds, 0.0), graph("Sub", 1.0, share), share)


SCORES: dict[type, Callable[..., str]] = {
    AffineMap: _affine, PiecewiseLinearMap: _bent, SplineMap: _spline, StepMap: _steps,
}  # fmt: skip
ENDS: dict[type, Callable[..., str]] = {StepMap: _step_levels, ProbabilityMap: _probability, BetaMap: _beta}
