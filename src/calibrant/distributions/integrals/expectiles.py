"""Expectiles of laws."""

from __future__ import annotations

import numpy as np

from ..._checks import Array
from ..base import Distribution
from ..location_scale import LocationScale
from .quadrature import deviations

_CLOSE = 1e-9  # relative to the spread: the next step of Newton's would be its square
_MOST = 60


def expectile(law: Distribution, level: float) -> Array:
    r"""The x of each row with :math:`(1 - \tau)\, E(x - Y)_+ = \tau\, E(Y - x)_+`; the mean at level 1/2.

    Newton's method from the mean: the difference of the sides is convex or concave in x, with slope
    :math:`(1 - \tau) F(x) + \tau (1 - F(x))`, so it cannot overshoot twice. Where there is no mean there is no
    expectile.

    Examples
    --------
    >>> from calibrant import Normal
    >>> expectile(Normal([0.0, 10.0], [1.0, 2.0]), 0.9)
    array([ 0.8616, 11.7231])
    """
    x = law.mean()
    if level == 0.5:
        return x
    if isinstance(law, LocationScale) and len(law) > 1 and (standard := law.shared_standard()) is not None:
        return law.unstandardised(np.full(len(law), expectile(standard, level)[0]))
    open_ = np.flatnonzero(np.isfinite(x))
    for _ in range(_MOST):
        part = law[open_]
        below, above = deviations(part, x[open_])
        cdf = part.cdf(x[open_])
        step = (level * above - (1 - level) * below) / ((1 - level) * cdf + level * (1 - cdf))
        x[open_] += step
        open_ = open_[np.abs(step) > _CLOSE * (below + above)]
        if not len(open_):
            break
    return x
