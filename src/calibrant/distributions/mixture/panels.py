r"""How much the components of mixtures disagree, :math:`\int \sum_j w_j (F_j - F)^2\,dt`, between their corners.

Densities jump at the knots of piecewise maps and at the members of ensembles. Between those points and a few quantiles
of every component the integrand is smooth: Gauss-Kronrod (3, 7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._checks import Array
from ...maps.base import Map
from ...numerics.blocks import row_blocks
from ..base import Distribution
from ..recalibrated import Recalibrated
from .grid import REACH, Estimate, variance

if TYPE_CHECKING:
    from .law import Mixture

_SCORES = np.linspace(-REACH, REACH, 17)[None, :]  # of the quantiles at which panels end, too
_JUMP = 1e-3  # of a log slope
_MANY = 2048  # panels a row
_TOLERANCE = 1e-6  # of the three points' error, relative to the score: that of the seven is far smaller
_X = np.array([0.960491268708020283423507092629080, 0.774596669241483377035853079956480,
               0.434243749346802558002071502844628])  # fmt: skip
_K = np.array([0.104656226026467265193823857192073, 0.268488089868333440728569280666710,
               0.401397414775962222905051818618432])  # fmt: skip
NODES = np.concatenate([-_X, [0.0], _X[::-1]])
KRONROD = np.concatenate([_K, [0.450916538658474142345110087045571], _K[::-1]])
GAUSS = np.array([0, 5, 0, 8, 0, 5, 0]) / 9


def corners(law: Distribution) -> Array:
    """Points where a density may jump, (n, k); knots of smooth maps are none."""
    if hasattr(law, "components"):
        return np.hstack([corners(part) for part in law.components])
    if not isinstance(law, Recalibrated):
        return law._kinks()
    knots = [k for k in (_jumps(law.map)[None, :], law.map.row_bends) if k.shape[1]]
    return np.hstack([corners(law.base), *(law.base.from_normal(k) for k in knots)])


def _jumps(map: Map) -> Array:
    """Bends at which the slope of a shared map jumps; all of a batch's."""
    bends = map.bends
    if not len(bends) or map.rows is not None:
        return bends
    left, right = (map.log_slope(np.nextafter(bends, side)) for side in (-np.inf, np.inf))
    return np.asarray(bends[np.abs(right - left) > _JUMP])


def between_corners(law: Mixture, score: Array) -> Estimate:
    """Gauss-Kronrod on all panels of each row; where there are very many, three points a panel are more than enough."""
    panels = corners(law[:1]).shape[1] + _SCORES.size * len(law.components)
    some = slice(1, None, 2) if panels > _MANY else slice(None)
    parts = [_between(law[rows], some) for rows in row_blocks(len(law), len(NODES[some]) * panels)]
    value, error = np.concatenate([np.empty((2, 0)), *parts], axis=1)
    return value, error > _TOLERANCE * score


def _between(law: Mixture, some: slice) -> Array:
    """Value and error of each row, (2, n), from all nodes, or from the three of Gauss, which tell no error."""
    edges = np.hstack([part.from_normal(_SCORES) for part in law.components])
    inner = np.clip(corners(law), edges.min(axis=1, keepdims=True), edges.max(axis=1, keepdims=True))
    edges = np.sort(np.hstack([edges, inner]), axis=1)
    half = 0.5 * np.diff(edges)
    t = (edges[:, :-1] + half)[:, :, None] + half[:, :, None] * NODES[some]
    values = variance(law, t.reshape(len(t), -1)).reshape(t.shape)
    rule = KRONROD if len(NODES[some]) == len(NODES) else GAUSS[some]
    return np.stack([np.vecdot(half, values @ rule), np.vecdot(half, np.abs(values @ (rule - GAUSS[some])))])
