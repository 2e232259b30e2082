"""CPU seconds of 1e3 to 1e8 rows beside a sort and one pass, and the exponent that they grow with.

``python -m benchmarks scaling`` prints a line for each task and size and writes ``benchmarks/results/scaling.json``.
Each point is measured in a process of its own: the best of five runs below 1e7 rows, one run from there on, stopped
after a minute or at 12 GiB. The exponent is the slope of log seconds over log rows from 1e5 rows on, by least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from scipy.special import expit

from .forked import Found, first_run, in_fork
from .timing import Note, cpu_seconds

SIZES = tuple(10**k for k in range(3, 9))
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
LARGE, FROM, MEMORY = 10**7, 10**5, 12 * 2**30

Work = Callable[[], Any]


def _rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    mu = rng.standard_normal(n)
    y = rng.standard_normal(n)
    y *= 1.5
    y += mu
    return mu, y


def _events(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.standard_normal(n)
    y = rng.random(n) < expit(p)
    p *= 1.5
    return expit(p, out=p), y


def _sort(n: int) -> Work:
    y = _rows(n)[1]
    return lambda: np.sort(y)


def _pass(n: int) -> Work:
    y = _rows(n)[1]
    return lambda: np.exp(y)


def _fit(n: int) -> Work:
    from calibrant import Normal, QuantileCalibrator

    mu, y = _rows(n)
    return lambda: QuantileCalibrator().fit(Normal(mu, 1.0), y)


def _quantiles(n: int) -> Work:
    from calibrant import Normal, QuantileCalibrator

    mu, y = _rows(n)
    calibrator = QuantileCalibrator().fit(Normal(mu[:100_000], 1.0), y[:100_000])
    return lambda: calibrator.transform(Normal(mu, 1.0)).quantiles(LEVELS)


def _crps(n: int) -> Work:
    from calibrant import Normal, metrics

    mu, y = _rows(n)
    return lambda: metrics.crps(y, Normal(mu, 1.0))


def _classes_fit(n: int) -> Work:
    from calibrant import PlattCalibrator

    p, y = _events(n)
    return lambda: PlattCalibrator().fit(p, y)


def _isotonic_fit(n: int) -> Work:
    from calibrant import IsotonicCalibrator

    p, y = _events(n)
    return lambda: IsotonicCalibrator().fit(p, y)


def _classes_apply(n: int) -> Work:
    from calibrant import PlattCalibrator

    p, y = _events(n)
    calibrator = PlattCalibrator().fit(p[:100_000], y[:100_000])
    return lambda: calibrator.transform(p)


TASKS: dict[str, tuple[str, Callable[[int], Work]]] = {
    "sort": ("floor: sort of as many numbers", _sort),
    "one pass": ("floor: exp of as many numbers", _pass),
    "fit": ("fit of a spline map of normal forecasts", _fit),
    "quantiles": ("transform and five quantiles", _quantiles),
    "crps": ("mean CRPS of normal forecasts", _crps),
    "classes fit": ("fit of Platt's map", _classes_fit),
    "isotonic fit": ("fit of an isotonic map", _isotonic_fit),
    "classes apply": ("transform of Platt's map", _classes_apply),
}


def lines() -> Iterator[Note]:
    """A line for each task and size, then the exponents; results are written."""
    from .kept import keep

    records: list[Found] = []
    for task, (words, make) in TASKS.items():
        for n in SIZES:
            found = {"task": task, "rows": n} | in_fork(partial(_measured, make, n), MEMORY)
            records.append(found)
            yield Note(f"{words:44s} {n:>11,d}  {_told(found)}")
    for task, slope in exponents(records).items():
        yield Note(f"{TASKS[task][0]:44s} seconds grow as rows to the power of {slope:.2f}")
    keep("scaling", records, ["calibrant"])


def _measured(make: Callable[[int], Work], n: int, to: Connection) -> Found:
    work = make(n)
    _, first, rise = first_run(work, to)
    again = 0 if n >= LARGE else 4
    return {"seconds": min(first, cpu_seconds(work, again)), "peak_mib": rise / 2**20}


def _told(found: Found) -> str:
    if "seconds" in found:
        return f"{found['seconds'] * 1e3:12.3f} ms {found['peak_mib']:10.1f} MiB"
    return str(found.get("stopped") or found["failed"])


def exponents(records: list[Found]) -> dict[str, float]:
    """The slope of log seconds over log rows from 1e5 rows on, of each task."""
    slopes = {}
    for task in TASKS:
        points = [(r["rows"], r["seconds"]) for r in records if r["task"] == task and "seconds" in r]
        x, y = np.log(np.array([each for each in points if each[0] >= FROM])).T
        slopes[task] = float(np.polyfit(x, y, 1)[0])
    return slopes
