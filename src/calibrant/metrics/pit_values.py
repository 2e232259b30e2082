"""Probability integral transforms."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from .._checks import Array, one_of
from .._types import Numbers
from ..distributions.scores import log_pits, score_intervals
from ._inputs import paired


def pit(
    y_true: Numbers, dist: Any, *, kind: Literal["mid", "randomised", "interval"] = "mid", random_state: Any = None
) -> Array:
    r"""Probability integral transforms :math:`p_t = F_t(y_t)`: uniform on [0, 1] if the forecasts are calibrated.

    An outcome on an atom has a whole interval :math:`[P_t(Y < y_t), P_t(Y \le y_t)]`; ``kind`` says what to make of it.
    Without atoms all kinds give :math:`F_t(y_t)`.

    Parameters
    ----------
    y_true, dist
        As in :func:`nll`.
    kind : {"mid", "randomised", "interval"}
        The middle of the interval (mid-P; deterministic, mean 1/2, but not uniform), a uniform draw from it (exactly
        uniform under calibration), or the interval itself.
    random_state : None, int or numpy Generator
        Where the uniform draws come from; only for ``kind="randomised"``.

    Returns
    -------
    array (n,), or (n, 2) for ``kind="interval"``

    Examples
    --------
    >>> from calibrant import Normal, Poisson, metrics
    >>> metrics.pit([0.0, 1.0], Normal([0.0, 0.0], 1.0))
    array([0.5       , 0.84134475])
    >>> metrics.pit([0, 1], Poisson([1.0, 1.0]), kind="interval")
    array([[0.        , 0.36787944],
           [0.36787944, 0.73575888]])
    """
    one_of(kind, "kind", ("mid", "randomised", "interval"))
    if random_state is not None and kind != "randomised":
        raise ValueError(f"`random_state` must be None with kind={kind!r}, which draws nothing.")
    y, law, _ = paired(y_true, dist)
    left, right = score_intervals(law, y)
    if kind == "interval":
        return np.column_stack([ndtr(left), ndtr(right)])
    return np.asarray(np.exp(log_pits(left, right, kind, random_state)[0]) if law.has_atoms else ndtr(right))
