"""CRPS of ensembles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibrant import Ensemble

from .timing import Line, cpu_seconds


def lines(n: int = 100_000, m: int = 500) -> Iterator[Line]:
    """Our estimators against the sort they need, and peers."""
    import properscoring
    import scoringrules

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((n, m)), rng.standard_normal(n)
    sort = cpu_seconds(lambda: np.sort(x, axis=1))
    for estimator in ("empirical", "fair"):
        seconds = cpu_seconds(lambda e=estimator: Ensemble(x).ensemble_crps(y, estimator=e))
        yield Line(f"ensemble CRPS ({estimator}), {n:.0e} x {m}", seconds, "row-wise sort", sort, 1.5)
    seconds = cpu_seconds(lambda: Ensemble(x, kind="discrete").crps(y))
    yield Line("  the same as the CRPS of the discrete law", seconds, "row-wise sort", sort)
    seconds = cpu_seconds(lambda: scoringrules.crps_ensemble(y, x, estimator="pwm", backend="numpy"), 1)
    yield Line("  scoringrules (pwm, numpy)", seconds, "row-wise sort", sort)
    few = slice(0, 1000)  # without numba, properscoring makes an array of n x m x m
    ours = cpu_seconds(lambda: Ensemble(x[few]).ensemble_crps(y[few]))
    yield Line(f"ensemble CRPS, 1e+03 x {m}", ours, "itself", ours)
    seconds = cpu_seconds(lambda: properscoring.crps_ensemble(y[few], x[few]), 1)
    yield Line("  properscoring, as many", seconds, "ours", ours)
