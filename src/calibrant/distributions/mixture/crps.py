r"""CRPS of mixtures.

Normal components have a closed form (Grimit et al. 2006). In general a mixture scores better than its components do on
average, by the variance of their distribution functions, which does not depend on the outcome:

.. math:: \mathrm{CRPS}(F, y) = \sum_j w_j\,\mathrm{CRPS}(F_j, y) - \int \sum_j w_j (F_j - F)^2\,dt,\qquad
    F = \sum_j w_j F_j

so components with closed forms leave one integral, in which corners count and outcomes do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from ..._checks import Array
from ...numerics.blocks import joined, row_blocks
from ..families.normal import Normal
from ..integrals import quadrature
from ..tables.segments import density
from .grid import Estimate, are_bent_lines, by_doubling, over_cells
from .panels import between_corners, corners

if TYPE_CHECKING:
    from .law import Mixture

_MANY = 24  # more normal components than this are left to quadrature: pairs grow with the square
_FEW_CORNERS = 160  # up to which panels cost less than cells


def crps(law: Mixture, y: Array) -> Array:
    """CRPS of one outcome per row, by the way that suits the components."""
    law = law._flat()
    parts = law.components
    if len(parts) <= _MANY and all(type(part) is Normal for part in parts):
        return joined(_normal_crps(law[rows], y[rows]) for rows in row_blocks(len(law), len(parts)))
    if law.has_atoms or np.any(law.tail_index < 1):
        return quadrature.crps(law, y)
    score = law._average([part.crps(y) for part in parts])
    disagreement, doubtful = _way(law)(law, score)
    out = score - disagreement
    if doubtful.any():  # components of very different scales
        out[doubtful] = quadrature.crps(law[doubtful], y[doubtful])
    return out


def _way(law: Mixture) -> Callable[[Mixture, Array], Estimate]:
    """How the disagreement of the components is integrated."""
    count = corners(law[:1]).shape[1]
    if not count:
        return by_doubling
    if count > _FEW_CORNERS and are_bent_lines(law):
        return over_cells
    return between_corners


def _normal_crps(law: Mixture, y: Array) -> Array:
    r"""Closed form; A is the expected distance of a normal variable from 0, of mean m and standard deviation s.

    .. math:: \sum_i w_i A(y-\mu_i, \sigma_i) - \frac12\sum_{ij} w_i w_j A(\mu_i-\mu_j, \sqrt{\sigma_i^2+\sigma_j^2})
    """
    loc, scale = (np.stack([getattr(part, name) for part in law.components]) for name in ("loc", "scale"))
    shares = [law._share(j) for j in range(len(loc))]
    total = np.zeros(len(y))
    for j, share in enumerate(shares):
        total += share * _expected_distance(y - loc[j], scale[j])
        total -= np.square(share) * scale[j] / np.sqrt(np.pi)
        for i in range(j):
            total -= share * shares[i] * _expected_distance(loc[i] - loc[j], np.hypot(scale[i], scale[j]))
    return total


def _expected_distance(m: Array, s: Array) -> Array:
    r"""Expected absolute value of a normal variable, :math:`2 s\varphi(m/s) + m(2\Phi(m/s) - 1)`."""
    with np.errstate(over="ignore"):
        u = m / s
    return np.asarray(2 * s * density(u) + m * (2 * ndtr(u) - 1))
