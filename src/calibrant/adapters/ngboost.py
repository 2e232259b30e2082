"""NGBoost's distributions."""

from __future__ import annotations

from typing import Any

from ..distributions.base import Distribution
from .scipy import from_scipy


def from_ngboost(obj: Any) -> Distribution | None:
    """What ``NGBRegressor.pred_dist`` gives: the SciPy law it carries."""
    if not any(kind.__module__.startswith("ngboost.") for kind in type(obj).__mro__):
        return None
    law = from_scipy(getattr(obj, "dist", None))
    if law is None:
        raise TypeError(
            f"NGBoost's {type(obj).__name__} is not a law of one number; univariate distributions are accepted."
        )
    return law
