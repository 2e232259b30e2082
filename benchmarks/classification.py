"""Calibrators of class probabilities beside scikit-learn and venn-abers, on the same scores and labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression

from calibrant.classification.beta import BetaCalibrator
from calibrant.classification.isotonic import IsotonicCalibrator
from calibrant.classification.platt import PlattCalibrator
from calibrant.classification.smooth_isotonic import SmoothIsotonicCalibrator
from calibrant.classification.venn_abers import VennAbersCalibrator

from .timing import Line, cpu_seconds


def lines(n: int = 1_000_000, fewer: int = 100_000) -> Iterator[Line]:
    """Platt's method and isotonic regression at 1e6 rows, Venn-Abers at 1e5."""
    yield from _platt(n)
    yield from _isotonic(n)
    yield from _venn_abers(fewer)


def _platt(n: int) -> Iterator[Line]:
    x, y = _margins(n)
    theirs, ours = _SigmoidCalibration(), PlattCalibrator(scores_are="margins")
    floor = cpu_seconds(lambda: theirs.fit(x, y), 3)
    yield Line(f"scikit-learn's Platt, fit of {n:.0e} margins", floor, "itself", floor)
    seconds = cpu_seconds(lambda: ours.fit(x, y))
    yield Line("PlattCalibrator.fit, labels read and checked", seconds, "scikit-learn", floor, 1 / 3)
    worst = float(np.abs(ours.transform(x)[:, 1] - theirs.predict(x)).max())
    yield Line(f"  largest difference of a probability: {worst:.1e} (as ms)", worst / 1e3, "1", 1e-3, 1e-8)
    p = expit(x)
    seconds = cpu_seconds(lambda: PlattCalibrator().fit(p, y), 3)
    yield Line("PlattCalibrator.fit of probabilities, their log odds too", seconds, "scikit-learn", floor)
    seconds = cpu_seconds(lambda: BetaCalibrator().fit(p, y), 3)
    yield Line("BetaCalibrator.fit of probabilities, three parameters", seconds, "scikit-learn's Platt", floor)


def _isotonic(n: int) -> Iterator[Line]:
    x, y = _margins(n)
    floor = cpu_seconds(lambda: IsotonicRegression().fit(x, y), 3)
    yield Line(f"scikit-learn's isotonic regression of {n:.0e} margins", floor, "itself", floor)
    for kind in (IsotonicCalibrator, SmoothIsotonicCalibrator):
        seconds = cpu_seconds(lambda kind=kind: kind(scores_are="margins").fit(x, y), 3)
        yield Line(f"{kind.__name__}.fit", seconds, "scikit-learn", floor)


def _venn_abers(n: int) -> Iterator[Line]:
    p, y = _probabilities(n)
    ours = VennAbersCalibrator()
    seconds = cpu_seconds(lambda: ours.fit(p, y).transform(p))
    if find_spec("venn_abers") is None:
        yield Line(f"VennAbersCalibrator, fit and transform of {n:.0e} scores", seconds, "itself", seconds)
        return
    floor = cpu_seconds(lambda: _theirs(p, y), 3)
    yield Line(f"venn-abers, fit and predict_proba of {n:.0e} scores, no ties", floor, "itself", floor)
    yield Line("VennAbersCalibrator, fit and transform", seconds, "venn-abers", floor, 1 / 20)
    worst = float(np.abs(ours.transform(p) - _theirs(p, y)).max())
    yield Line(f"  largest difference of a probability: {worst:.1e} (as ms)", worst / 1e3, "1", 1e-3, 1e-8)
    rounded = np.round(p, 3)
    floor = cpu_seconds(lambda: _theirs(rounded, y), 3)
    seconds = cpu_seconds(lambda: ours.fit(rounded, y).transform(rounded), 3)
    yield Line("  the same with scores rounded to 1 001 values", seconds, "venn-abers", floor)


def _theirs(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    from venn_abers import VennAbers

    both = np.column_stack([1 - p, p])
    model = VennAbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it divides by zero
        model.fit(both, y)
        return model.predict_proba(both)[0]


def _margins(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(0, 2, n)
    return x, (rng.random(n) < expit(1.3 * x - 0.4)).astype(int)


def _probabilities(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, n)
    return p, (rng.random(n) < p**1.5).astype(int)
