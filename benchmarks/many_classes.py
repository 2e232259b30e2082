"""Scaling of the log probabilities of a hundred classes: time beside one pass over the rows, and log loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from calibrant.classification.dirichlet import DirichletCalibrator
from calibrant.classification.temperature import TemperatureCalibrator
from calibrant.classification.vector import VectorCalibrator

from .timing import Line, cpu_seconds

NEW = 10_000


def lines(n: int = 20_000, classes: int = 100) -> Iterator[Line]:
    """Fits of 2e4 rows and their losses on fresh rows, where a matrix is wrong and where weights and intercepts are."""
    for wrong in ("matrix", "weights"):
        logits, y = _logits(n + NEW, classes, wrong)
        x, labels = logits[:n], y[:n]
        floor = cpu_seconds(lambda x=x: (x @ np.eye(classes)).T @ x)
        yield Line(f"{n:.0e} rows of {classes} classes, {wrong} wrong: one pass, two products", floor, "itself", floor)
        others = {
            "TemperatureCalibrator": TemperatureCalibrator(scores_are="logits"),
            "VectorCalibrator": VectorCalibrator(scores_are="logits"),
            "DirichletCalibrator, structured": DirichletCalibrator(penalty="structured", scores_are="logits"),
        }
        losses = []
        for name, calibrator in others.items():
            seconds = cpu_seconds(lambda each=calibrator, x=x, labels=labels: each.fit(x, labels), 1)
            yield Line(f"{name}.fit", seconds, "one pass", floor)
            yield Line("  the same", seconds, "a second", 1.0, 1.0)
            losses.append(_loss(calibrator, logits[n:], y[n:]))
        ours = DirichletCalibrator(scores_are="logits")
        seconds = cpu_seconds(lambda x=x, labels=labels, ours=ours: ours.fit(x, labels), 3)
        yield Line("DirichletCalibrator.fit, by evidence", seconds, "one pass", floor)
        yield Line("  the same", seconds, "a second", 1.0, 1.5)
        yield Line("  log loss of new rows (as s)", _loss(ours, logits[n:], y[n:]), "best other", min(losses), 1.001)


def _logits(n: int, classes: int, wrong: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Overconfident logits whose classes are mixed a little, or have weights and intercepts of their own."""
    rng = np.random.default_rng(0)
    true = log_softmax(rng.normal(0, 2.2, (n, classes)), axis=1)
    y = (true + rng.gumbel(size=true.shape)).argmax(axis=1)
    mixed = np.diag(rng.normal(1, 0.2, classes))
    if wrong == "matrix":
        mixed += 0.15 * (rng.random((classes, classes)) < 0.05) * rng.normal(size=(classes, classes))
    return 1.6 * (true @ mixed.T + rng.normal(0, 0.4, classes)), y


def _loss(calibrator: Any, logits: NDArray[np.float64], y: NDArray[np.intp]) -> float:
    p = calibrator.transform(logits)
    return float(-np.log(p[np.arange(len(y)), y]).mean())
