"""Two columns that could be means and deviations, ends of intervals, or samples: nobody can tell but the user."""

from __future__ import annotations

from typing import Any

from .._checks import to_array

WAYS = "Say which: Normal(mean, std), Intervals(low, high, coverage) or Ensemble(samples); of variances take the root."


def refuse_two_columns(obj: Any) -> None:
    """Raise ValueError for a table of two columns, or a list of two.

    >>> import numpy as np
    >>> refuse_two_columns(np.zeros((5, 2)))
    Traceback (most recent call last):
    ...
    ValueError: ndarray of shape (5, 2) could be means and standard deviations, lower and upper ends, or samples. Say
    which: Normal(mean, std), Intervals(low, high, coverage) or Ensemble(samples); of variances take the root.
    """
    two_arrays = isinstance(obj, list) and len(obj) == 2 and all(hasattr(column, "shape") for column in obj)
    shape = tuple(obj.shape) if hasattr(obj, "shape") else to_array(obj, "samples").shape
    if two_arrays or shape[1:] == (2,):
        what = f"a list of two arrays ({shape[1]},)" if two_arrays else f"{type(obj).__name__} of shape {shape}"
        raise ValueError(f"{what} could be means and standard deviations, lower and upper ends, or samples. {WAYS}")
