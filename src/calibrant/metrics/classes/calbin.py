"""CalBin: calibration in overlapping windows of rows with neighbouring forecasts."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..._checks import Array, one_of
from ..._types import Labels, Weights
from ...links.groups import Groups
from .forecasts import Probabilities, class_forecasts

_MOST_WINDOWS = 10_000_000


def calbin(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    window: float | None = None,
    form: Literal["window", "example"] = "window",
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> float:
    r"""CalBin: mean distance of forecast and observed frequency in windows of s rows that follow in order of forecast.

    .. math:: \frac1{n - s + 1} \sum_{b=0}^{n-s} \frac1s
        \Bigl| \sum_{i=b+1}^{b+s} (p_{(i)} - f_{(i)}) \Bigr|, \quad s = \lfloor n/10 \rfloor

    for each class, then averaged over the classes; of two classes both have the same value. Caruana & Niculescu-Mizil
    (2004) with s = 100; s = n/10 is Bella et al. (2010), who take the distance of each example from its window's
    frequency, ``form="example"``:

    .. math:: \frac1{n - s + 1} \sum_b \frac1s \sum_{i=b+1}^{b+s} \Bigl| p_{(i)} - \frac1s \sum_{k=b+1}^{b+s} f_{(k)}
        \Bigr|

    (the factor 1/s and the last window are missing in print). Rows with equal forecasts count with the share of events
    among them, so that their order does not matter. A calibrated forecaster does not score 0 but
    ``noise_floor(calbin, y_proba)``.

    Parameters
    ----------
    y_true, y_proba, classes
        As in :func:`brier_score`.
    window : float, optional
        Number of rows s in a window; a tenth of them, at least 1, unless told.
    form : {"window", "example"}
        Distance of the window's mean forecast, or mean distance of its examples' forecasts.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice. With other weights, windows have mass s and start
        at about unit steps. More than ten million windows are replaced by ten million.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.calbin([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], window=2)
    0.1667

    Differs from the paper in: the form, unless ``form="example"``; the factor 1/s and the last window; the mean over
    the classes, of which the chapter gives one value each.
    """
    one_of(form, "form", ("window", "example"))
    distance = _of_windows if form == "window" else _of_examples
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    values = []
    for column in forecasts.one_against_rest():
        size = _window(window, column.total)
        values.append(distance(Groups.of(column.p, column.events, column.weights), size))
    return float(np.mean(values))


def _window(window: Any, n: float) -> float:
    if window is None:
        return min(max(1.0, float(np.floor(n / 10 + 1e-9))), n)
    if isinstance(window, bool) or not isinstance(window, (int, float, np.number)) or not 0 < window <= n:
        raise ValueError(f"`window` must be a number of rows up to {n:g}, all of them; got {window!r}.")
    return float(window)


def _starts(n: float, size: float) -> Array:
    """Where windows begin: unit steps from 0 to n - size."""
    steps = round(n - size)
    return np.linspace(0.0, n - size, min(steps + 1, _MOST_WINDOWS))


def _running(values: Array) -> Array:
    out = np.empty(len(values) + 1)
    out[0] = 0.0
    np.cumsum(values, out=out[1:])
    return out


def _of_windows(groups: Groups, size: float) -> float:
    """Mean of |sum of p - f| / s. Running sums are linear in the mass within a group of equal forecasts."""
    excess = _running(groups.mass * groups.x - groups.hits)
    mass = _running(groups.mass)
    if mass[-1] == len(groups.x) and (groups.mass == 1).all() and size == int(size):
        change = excess[int(size) :] - excess[: len(excess) - int(size)]
    else:
        start = _starts(mass[-1], size)
        change = np.interp(start + size, mass, excess) - np.interp(start, mass, excess)
    return float(np.mean(np.abs(change, out=change)) / size)


def _of_examples(groups: Groups, size: float) -> float:
    """Mean of sum |p - f̄| / s: the mass of forecasts below the window's frequency tells where the sign changes."""
    mass, hits, moment = (_running(part) for part in (groups.mass, groups.hits, groups.mass * groups.x))
    start = _starts(mass[-1], size)
    end = start + size
    frequency = (np.interp(end, mass, hits) - np.interp(start, mass, hits)) / size
    turn = np.clip(mass[np.searchsorted(groups.x, frequency)], start, end)
    first, middle, last = (np.interp(place, mass, moment) for place in (start, turn, end))
    below = frequency * (turn - start) - (middle - first)
    above = (last - middle) - frequency * (end - turn)
    return float(np.mean(below + above) / size)
