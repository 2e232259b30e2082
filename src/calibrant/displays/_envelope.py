"""Bands that hold whole curves at once, from curves drawn at random."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from .._checks import Array


def rank_envelope(curves: Array, coverage: float) -> tuple[Array, Array]:
    """The narrowest band between order statistics of one depth that holds a share ``coverage`` of whole curves.

    All places are treated alike: at each, the band leaves out as many curves below as above (the rank envelope of
    Myllymäki et al. 2017).

    Parameters
    ----------
    curves : array (R, m)
        R draws of a curve at m places.
    coverage : float

    Returns
    -------
    low, high : arrays (m,)

    Examples
    --------
    >>> rank_envelope(np.arange(1.0, 100.0)[:, None], 0.9)
    (array([5.]), array([95.]))
    """
    draws = len(curves)
    least = rankdata(curves, method="max", axis=0).min(axis=1)  # draws at most as high, where they are fewest
    most = (draws + 1 - rankdata(curves, method="min", axis=0)).min(axis=1)
    depth = np.sort(np.minimum(least, most))[int((1 - coverage) * draws)]
    ordered = np.sort(curves, axis=0)
    return ordered[int(depth) - 1], ordered[draws - int(depth)]
