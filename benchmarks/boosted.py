"""Boosted calibrators at 20 features: rows a CPU second, LightGBM's own prediction from the same trees, and fits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from calibrant import BoostedCalibrator, BoostedClassCalibrator, Normal
from calibrant.calibration.boosting.from_lightgbm import forest_of, need_lightgbm

from .timing import Line, Measure, cpu_seconds

FEATURES = 20
_MOST = 5.0  # microseconds a row: 2e5 rows a second
Numbers = NDArray[np.float64]


def lines(n: int = 100_000, trees: int = 1000) -> Iterator[Line | Measure]:
    """Transforms of n rows after fits to 2 000 and to 20 000, and as many trees beside LightGBM."""
    yield from _beside_lightgbm(n, trees)
    for rows in (2_000, 20_000):
        known, new = _features(rows, 0), _features(n, 1)
        for name, make, forecast, outcomes in _tasks(known):
            calibrator, (old, fresh) = make(), (forecast(known), forecast(new))
            fit = cpu_seconds(lambda c=calibrator, f=old, y=outcomes, X=known: c.fit(f, y, X=X), 1)
            yield Line(f"{name}.fit, {rows} x {FEATURES}", fit, "a second", 1.0, 2.0 if rows == 2_000 else None)
            each = cpu_seconds(lambda c=calibrator, f=fresh, X=new: c.transform(f, X=X), 3) / n
            task = f"  transform of {n:.0e} rows, {len(calibrator.forest_)} trees"
            yield Measure(task, each * 1e6, f"microseconds a row, {1 / each:.1e} rows a s", _MOST)


def _beside_lightgbm(n: int, trees: int) -> Iterator[Line]:
    lightgbm = need_lightgbm()
    x = _features(n, 1)
    settings = {"num_leaves": 8, "max_bin": 63, "num_threads": 1, "verbosity": -1, "boost_from_average": False}
    model = lightgbm.train(settings, lightgbm.Dataset(x, _wrong(x)), trees)
    forest = forest_of([(model, trees)], np.zeros(FEATURES, dtype=np.intp), 1)
    floor = cpu_seconds(lambda: model.predict(x, num_threads=1), 1)
    yield Line(f"{n:.0e} rows, {trees} trees: LightGBM's predict", floor, "itself", floor)
    yield Line("Forest, the same trees", cpu_seconds(lambda: forest(x), 3), "LightGBM's predict", floor, 1.0)


def _features(n: int, seed: int) -> Numbers:
    return np.random.default_rng(seed).normal(size=(n, FEATURES))


def _wrong(x: Numbers) -> Numbers:
    """What forecasts do not know."""
    return np.asarray(np.sin(2 * x[:, 0]) * x[:, 1] + (x[:, 2] > 0) * x[:, 3] + 0.5 * x[:, 4])


def _tasks(x: Numbers) -> Iterator[tuple[str, Any, Any, Numbers]]:
    """Name, calibrator, forecasts of features, and outcomes of these."""
    rng = np.random.default_rng(2)
    y = x[:, 5] + _wrong(x) + rng.normal(size=len(x)) * np.exp(0.5 * x[:, 6])
    yield "BoostedCalibrator", BoostedCalibrator, lambda x: Normal(x[:, 5], 1.0), y
    true = expit(x[:, 5] + _wrong(x))
    yield "BoostedClassCalibrator, two", BoostedClassCalibrator, lambda x: expit(x[:, 5]), rng.random(len(x)) < true
    odds = x[:, 5:8] + np.column_stack([_wrong(x), -_wrong(x[:, ::-1]), np.zeros(len(x))])
    labels = (softmax(odds, axis=1).cumsum(axis=1) < rng.random((len(x), 1))).sum(axis=1)
    yield "BoostedClassCalibrator, three", BoostedClassCalibrator, lambda x: softmax(x[:, 5:8], axis=1), labels
