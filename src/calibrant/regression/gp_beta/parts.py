"""Any law as a mixture of narrow normal laws, one at each node of a quadrature in its quantiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._checks import Array
from ...distributions import Distribution, Ensemble
from ...numerics.blocks import row_blocks

PARTS = 33
REACH, WIDTH = 5.0, 0.55  # normal scores that 33 nodes reach, and the width of a part in steps between nodes
MOST_MEMBERS = 64  # of a discrete ensemble that are taken one by one
BLOCK = 262_144  # quantiles at a time


class Parts(NamedTuple):
    """Means and variances (n, c) of normal laws, and their shares (n, c) or (c,)."""

    means: Array
    variances: Array
    shares: Array


def normal_parts(law: Distribution, centre: float = 0.0, unit: float = 1.0, count: int = PARTS) -> Parts:
    r"""Parts of each law in these units: :math:`F \approx \sum_i w_i N(m_i, s_i^2)`.

    A standard normal law is :math:`\int N(t, s^2)\,dN(t; 0, 1-s^2)`; the trapezoidal rule in t, with half as wide
    parts as it has steps, gives nodes :math:`t_i` and shares :math:`w_i`. :math:`m_i` and :math:`s_i^2` are mean and
    variance of the quantile :math:`F^{-1}(\Phi(z))` over :math:`z\sim N(t_i, s^2)`: the parts of a normal law are
    exact but for what the rule leaves, less than 1e-6, and nothing once there are many. The members of a discrete
    ensemble are parts of no width.

    Examples
    --------
    >>> from calibrant import Normal
    >>> parts = normal_parts(Normal([3.0], 2.0))
    >>> mean = parts.means @ parts.shares
    >>> mean, (parts.means**2 + parts.variances) @ parts.shares - mean**2
    (array([3.]), array([4.]))
    """
    if isinstance(law, Ensemble) and law.kind == "discrete" and law.samples.shape[1] <= MOST_MEMBERS:
        return _members(law, centre, unit)
    reach = REACH * (count / PARTS) ** 0.25
    nodes = np.linspace(-reach, reach, count)
    step = nodes[1] - nodes[0]
    width = WIDTH * step * np.sqrt(count / PARTS)
    side = int(np.ceil(12 * width / step))  # half steps that a part reaches
    near = np.exp(-0.5 * np.square(0.5 * step / width * np.arange(-side, side + 1)))
    near /= near.sum()
    z = nodes[0] + 0.5 * step * np.arange(-side, 2 * count - 1 + side)
    means, variances = np.empty((len(law), count)), np.empty((len(law), count))
    for rows in row_blocks(len(law), len(z), BLOCK):
        x = _standardised(law[rows].from_normal(z[None, :]), centre, unit)
        for i in range(count):
            part = x[:, 2 * i : 2 * i + len(near)]
            means[rows, i] = part @ near
            variances[rows, i] = np.square(part - means[rows, i, None]) @ near
    shares = np.exp(-0.5 * np.square(nodes) / (1 - width * width))
    return Parts(means, variances, shares / shares.sum())


def _members(law: Ensemble, centre: float, unit: float) -> Parts:
    weights = np.ones(law.samples.shape) if law.weights is None else np.broadcast_to(law.weights, law.samples.shape)
    members = _standardised(np.where(weights > 0, law.samples, centre), centre, unit)
    return Parts(members, np.zeros(members.shape), weights / weights.sum(axis=1, keepdims=True))


def _standardised(x: Array, centre: float, unit: float) -> Array:
    with np.errstate(over="ignore"):
        return np.clip((x - centre) / unit, -1e6, 1e6)
