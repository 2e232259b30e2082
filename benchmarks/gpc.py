"""Calibration by a Gaussian-process classifier: all pairs of the paper's toy, beside an exact classifier of some."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF

from calibrant import GPCCalibrator, metrics
from experiments.song2019.toy.toy import Toy, toy

from .timing import Line, Measure, cpu_seconds

THRESHOLDS, PAIRS, SEEDS = 32, 2_000, 5


def lines() -> Iterator[Line | Measure]:
    """Ours on 360 x 32 pairs, scikit-learn's exact one (a single run) on 2 000 of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the even spread of PIT values and scikit-learn's bounds are not at stake
        old, _ = toy(0)
        ours = cpu_seconds(lambda: GPCCalibrator(THRESHOLDS).fit(old.base, old.y))
        yield Measure(f"GPCCalibrator().fit, all {len(old.y)} x {THRESHOLDS} pairs", ours, "s", 2.0)
        losses = [_loss(seed) for seed in range(SEEDS)]
        yield Measure(f"  its NLL on 5 000 fresh rows, mean of {SEEDS} seeds", float(np.mean(losses)), "nats", 2.50)
        pairs, below = _pairs(old)
        exact = GaussianProcessClassifier(1.0 * RBF([1.0, 1.0]), random_state=0)
        theirs = cpu_seconds(lambda: exact.fit(pairs, below), 1)
        yield Line(f"scikit-learn's exact classifier, {PAIRS} pairs, one run", theirs, "ours on all pairs", ours)


def _loss(seed: int) -> float:
    old, new = toy(seed)
    return metrics.nll(new.y, GPCCalibrator(THRESHOLDS).fit(old.base, old.y).transform(new.base))


def _pairs(data: Toy) -> tuple[np.ndarray, np.ndarray]:
    """Some pairs of a row and a threshold t: standardised (score of q(t), t), and whether y <= t."""
    t = np.linspace(data.y.min(), data.y.max(), THRESHOLDS)[None, :]
    score, below = data.base.to_normal(t), data.y[:, None] <= t
    table = np.column_stack([score.ravel(), np.broadcast_to(t, score.shape).ravel()])
    chosen = np.random.default_rng(0).choice(len(table), PAIRS, replace=False)
    return (table[chosen] - table.mean(axis=0)) / table.std(axis=0), below.ravel()[chosen]
