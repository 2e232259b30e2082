"""Fitting and applying quantile recalibration."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from calibrant import Normal, QuantileCalibrator, Recalibrated
from calibrant.maps import fit_ecdf

from .timing import Line, cpu_seconds


def lines(n: int = 10_000_000) -> Iterator[Line]:
    """Floors first, then our tasks, then peers at the size they can do."""
    rng = np.random.default_rng(0)
    mu, y = rng.standard_normal(n), rng.standard_normal(n)
    y = mu + 1.5 * y
    forecasts = Normal(mu, 1.0)
    sort, phi, exp = (cpu_seconds(task) for task in (lambda: np.sort(y), lambda: ndtr(y), lambda: np.exp(mu)))
    for name, promised in (("ecdf", 2.0), ("spline", 3.0)):
        seconds = cpu_seconds(lambda m=name: QuantileCalibrator(map=m).fit(forecasts, y))
        yield Line(f"fit {name}, {n:.0e} normal forecasts", seconds, "sort of as many", sort, promised)
    small = slice(0, 100_000)
    for name in ("spline", "ecdf"):
        cal = QuantileCalibrator(map=name).fit(forecasts[small], y[small])
        seconds = cpu_seconds(lambda c=cal: c.transform(forecasts).cdf(y))
        yield Line(f"transform + cdf, {name} of 1e5 rows, {n:.0e} rows", seconds, "ndtr of as many", phi, 3.0)
    cal = QuantileCalibrator(map="ecdf").fit(forecasts[small], y[small])
    test = slice(0, 10_000)
    seconds = cpu_seconds(lambda: cal.transform(forecasts[test]).crps(y[test]))
    yield Line("exact CRPS, 1e4 forecasts through an ECDF of 1e5 rows", seconds, "exp of 1e7", exp, 0.3)
    z = forecasts[small].to_normal(y[small])
    seconds = cpu_seconds(lambda: Recalibrated(forecasts[test], fit_ecdf(z)).crps(y[test]))
    yield Line("  the same with fit and tables made anew", seconds, "exp of 1e7", exp)
    yield from _peers(mu, y, exp)


def _peers(mu: np.ndarray, y: np.ndarray, exp: float) -> Iterator[Line]:
    import uncertainty_toolbox as uct
    from crepes import ConformalPredictiveSystem

    m = 100_000
    ones = np.ones(m)
    ours = cpu_seconds(lambda: QuantileCalibrator().fit(Normal(mu[:m], 1.0), y[:m]))
    yield Line("fit spline, 1e5 rows", ours, "itself", ours)
    seconds = cpu_seconds(lambda: _toolbox(uct, mu[:m], ones, y[:m]), 1)
    yield Line("  uncertainty-toolbox isotonic recalibration (100 levels), 1e5 rows", seconds, "ours", ours)
    k, calibration = 1_000, 10_000
    residuals = y[:calibration] - mu[:calibration]
    ecdf = fit_ecdf(residuals)
    ours = cpu_seconds(lambda: Recalibrated(Normal(mu[:k], 1.0), ecdf).crps(y[:k]))
    yield Line("exact CRPS, 1e3 forecasts x 1e4 calibration rows", ours, "itself", ours)
    system = ConformalPredictiveSystem().fit(residuals=residuals)
    seconds = cpu_seconds(lambda: system.evaluate(mu[:k], y=y[:k], metrics=["CRPS"]), 1)
    yield Line("  crepes conformal predictive system, CRPS of as many", seconds, "ours", ours)


def _toolbox(uct: object, mu: np.ndarray, sigma: np.ndarray, y: np.ndarray) -> object:
    expected, observed = uct.metrics_calibration.get_proportion_lists_vectorized(mu, sigma, y)  # type: ignore[attr-defined]
    return uct.recalibration.iso_recal(expected, observed)  # type: ignore[attr-defined]
