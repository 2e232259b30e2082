"""The measures of the table, from normal scores: one set of numbers per forecast."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri

from .protocol import Forecasts

Array = NDArray[np.float64]

LEVELS = np.arange(1, 11) / 10
FLOOR = float(np.sum(LEVELS * (1 - LEVELS)))  # 1.65: a perfect forecast's expected calibration error is 1.65 / n_test
NODES = (np.arange(400) + 0.5) / 400


def measure(test: Forecasts, map_: Any | None = None) -> dict[str, float]:
    """NLL, CRPS, calibration error, A2 and coverage of the Normal forecasts, recalibrated where a map is given."""
    z = (test.y - test.mean) / test.std
    scores = z if map_ is None else map_(z)
    slope = 0.0 if map_ is None else map_.log_slope(z)
    nodes = ndtri(NODES) if map_ is None else map_.inverse(ndtri(NODES))
    return {
        "nll": float(np.mean(0.5 * scores**2 + 0.5 * np.log(2 * np.pi) + np.log(test.std) - slope)),
        "crps": float(np.mean(test.std * _crps(z, nodes))),
        "ce": calibration_error(scores),
        "a2": anderson_darling(scores),
        "cov90": float(np.mean(np.abs(scores) <= ndtri(0.95))),
    }


def calibration_error(scores: Array) -> float:
    """Sum over ten levels of the squared distance between nominal and observed level."""
    observed = np.mean(ndtr(scores)[:, None] <= LEVELS, axis=0)
    return float(np.sum((LEVELS - observed) ** 2))


def anderson_darling(scores: Array) -> float:
    """A2 of the PIT values against the uniform law."""
    ordered = np.sort(scores)
    odd = 2 * np.arange(1, len(ordered) + 1) - 1
    return float(-len(ordered) - np.mean(odd * (log_ndtr(ordered) + log_ndtr(-ordered[::-1]))))


def _crps(z: Array, nodes: Array) -> Array:
    """Twice the mean pinball loss over equally spaced levels, by prefix sums."""
    count = np.searchsorted(nodes, z)
    below = np.concatenate([[0.0], np.cumsum(nodes)])
    level = np.concatenate([[0.0], np.cumsum(NODES)])
    level_node = np.concatenate([[0.0], np.cumsum(NODES * nodes)])
    under = z * level[count] - level_node[count]
    rest = len(nodes) - count
    over = (below[-1] - below[count]) - (level_node[-1] - level_node[count]) - z * (rest - (level[-1] - level[count]))
    return np.asarray(2 * (under + over) / len(nodes))
