"""Location and scale of scores, pulled towards 0 and 1 by as much as they are uncertain."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, polygamma, stdtrit

from .cells import Cells

_LEVEL = 0.9213503964748574  # Φ(√2): the location moves once its t statistic is beyond this two-sided level
_PRIOR_ROWS = 20.0  # rows' worth of trust in a normal law's kurtosis


def shrunken_affine(cells: Cells) -> tuple[float, float]:
    r"""Location b and scale s of the law :math:`N(b, s^2)` of scores, shrunk to :math:`N(0, 1)`.

    .. math:: b = m \left(1 - \frac{q^2 s^2/n}{m^2}\right)_+, \qquad
        \log s = (\ell + 2v) \left(1 - \frac{2v}{\ell^2}\right)_+

    m is the mean, :math:`\ell` the bias-corrected log standard deviation about b, v its variance, which grows with the
    kurtosis; q is :math:`\sqrt 2` for many rows and grows as the t quantile for few. What is within its own noise of
    "nothing is wrong" stays there: on calibrated scores this costs 1/(6n) nats, the plain mean and variance 1/n.

    Examples
    --------
    >>> shrunken_affine(Cells(np.array([-1.3, 0.1, 1.3]), np.array([10.0, 10.0, 10.0])))
    (0.0, 1.0)
    """
    n = cells.total
    if n < 2:
        return 0.0, 1.0
    unit = max(float(np.abs(cells.z).max()), 1e-290)  # powers of large scores stay finite
    x = cells.z / unit
    mean = float(cells.mass @ x) / n
    square = float(cells.mass @ np.square(x - mean)) / (n - 1)
    if square <= 0.0:  # all equal: as narrow as that many rows can tell
        return mean * unit, max(1 / n, 1e-12 * unit)
    limit = float(stdtrit(n - 1, _LEVEL)) ** 2 * square / n
    kept = max(0.0, 1 - limit / mean**2) if mean**2 > limit else 0.0
    scale = _shrunken_scale(cells, x - kept * mean, unit, n - kept)
    return kept * mean * unit, scale


def _shrunken_scale(cells: Cells, x: np.ndarray, unit: float, freedom: float) -> float:
    n = cells.total
    square = float(cells.mass @ np.square(x)) / n
    kurtosis = float(cells.mass @ x**4) / n / square**2
    kurtosis = (n * kurtosis + 3 * _PRIOR_ROWS) / (n + _PRIOR_ROWS)
    half = 0.5 * (n - 1)
    variance = float(polygamma(1, half)) * (kurtosis - 1) / 8
    log_scale = 0.5 * np.log(square * n / freedom) + np.log(unit) - 0.5 * float(digamma(half) - np.log(half))
    kept = max(0.0, 1 - 2 * variance / log_scale**2) if log_scale != 0.0 else 0.0
    return float(np.exp(max(kept * (log_scale + 2 * variance), -half)))
