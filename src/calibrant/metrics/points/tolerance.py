"""Which share of predictions is good enough, for every tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._brief import Brief
from ..._checks import Array, complain, finite, nonempty, to_array
from ..._types import Numbers, Weights
from .._inputs import average
from .errors import Points, paired_points


@dataclass(frozen=True, eq=False, repr=False)
class ToleranceCurve(Brief):
    """A regression error characteristic (REC) curve.

    Attributes
    ----------
    tolerances : array (m,)
        Increasing tolerances.
    shares : array (m,)
        Share of rows whose absolute error is at most the tolerance.
    area : float
        Area over the whole curve, from 0 to the largest error: the mean absolute error.
    """

    tolerances: Array
    shares: Array
    area: float


def error_tolerance(
    y_true: Numbers, y_pred: Points, *, tolerances: Numbers | None = None, sample_weight: Weights = None
) -> ToleranceCurve:
    r"""Share of predictions within a tolerance, for every tolerance: the REC curve of Bi and Bennett (2003).

    .. math:: \mathrm{REC}(\varepsilon) = \tfrac1T \#\{t : |y_t - \hat y_t| \le \varepsilon\}, \quad
        \int_0^\infty (1 - \mathrm{REC}(\varepsilon))\,d\varepsilon = \tfrac1T \sum_t |y_t - \hat y_t|

    What ROC curves are to classifiers; the error tolerance of Bella et al. (2010) is a point of it.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes.
    y_pred : array-like (n,) or Distribution
        Point predictions; the medians of a Distribution, which minimise the expected absolute error.
    tolerances : array-like (m,), optional
        Where to evaluate the curve; 0 and all its steps unless told.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Examples
    --------
    >>> from calibrant import metrics
    >>> curve = metrics.error_tolerance([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 5.0, 4.5])
    >>> curve.tolerances, curve.shares, curve.area
    (array([0. , 0.5, 2. ]), array([0.25, 0.75, 1.  ]), 0.75)
    """
    y, point, weights = paired_points(y_true, y_pred, sample_weight)
    errors = np.abs(y - point)
    steps, place = np.unique(np.append(errors, 0.0), return_inverse=True)
    mass = np.append(np.ones(len(y)) if weights is None else weights, 0.0)
    below = np.cumsum(np.bincount(place, mass))
    shares = below / below[-1]
    if tolerances is not None:
        wanted = nonempty(finite(np.atleast_1d(to_array(tolerances, "tolerances")), "tolerances"), "tolerances")
        complain("tolerances", "at least 0, and increasing", wanted, np.diff(wanted, prepend=-1e-300) <= 0)
        shares = shares[np.searchsorted(steps, wanted, side="right") - 1]
        steps = wanted
    return ToleranceCurve(steps, shares, average(errors, weights))
