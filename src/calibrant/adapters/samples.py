"""Arrays of samples."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._checks import to_array
from ..distributions.base import Distribution
from ..distributions.tables.ensemble import Ensemble
from .frames import sample_columns


def from_samples(obj: Any, kind: Literal["smooth", "discrete"] = "smooth") -> Distribution | None:
    """A 2-D array (n, m), tensor, nested list or frame of samples: m samples of each of n laws."""
    obj = sample_columns(obj)
    if isinstance(obj, (list, np.ndarray)):
        dimensions = to_array(obj, "samples").ndim
    elif hasattr(obj, "detach") or hasattr(obj, "to_numpy"):
        dimensions = len(obj.shape)
    else:
        return None
    return Ensemble(obj, kind=kind) if dimensions == 2 else None
