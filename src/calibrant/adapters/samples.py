"""Arrays of samples, and arrays that could be anything."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._checks import to_array
from ..distributions.base import Distribution
from ..distributions.tables.ensemble import Ensemble
from .ambiguous import refuse_two_columns
from .frames import sample_columns


def from_samples(obj: Any, kind: Literal["smooth", "discrete"] | None = None) -> Distribution | None:
    """A 2-D array (n, m), tensor, nested list or frame: m samples of each of n laws.

    Two columns are samples only if their names or the kind tell so.
    """
    given, obj = obj, sample_columns(obj)
    if isinstance(obj, (list, np.ndarray)):
        dimensions = to_array(obj, "samples").ndim
    elif hasattr(obj, "detach") or hasattr(obj, "to_numpy"):
        dimensions = len(obj.shape)
    else:
        return None
    if dimensions != 2:
        return None
    if kind is None and obj is given:
        refuse_two_columns(obj)
    return Ensemble(obj, kind=kind or "smooth")
