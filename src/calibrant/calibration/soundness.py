"""Whether calibrators, which may come from anywhere, make distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..distributions import Distribution, Normal
from ..numerics.soundness import PLACES, rises

POINTS = np.array([0.0, 0.0, 0.0, 3.0, -3.0, 1e3])
_SPREADS = np.array([1.0, 1e-9, 1e9, 2.0, 0.5, 10.0])


def example_laws() -> Normal:
    """Narrow and wide laws, near 0 and far from it."""
    return Normal(POINTS, _SPREADS)


def check_law_forecasts(after: Any) -> None:
    """Raise ValueError if forecasts of the examples are distributions in name only; calibrated points are no matter."""
    if not isinstance(after, Distribution):
        return
    levels = after.cdf(POINTS[:, None] + _SPREADS[:, None] * PLACES)
    if not (np.isfinite(levels).all() and rises(levels) and levels.min() >= 0 and levels.max() <= 1):
        raise ValueError("its forecasts are no distributions.")
