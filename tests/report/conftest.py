"""Results that pages are made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibrant import Normal, PlattCalibrator, QuantileCalibrator, ScaleCalibrator, TemperatureCalibrator
from calibrant.adapters.class_scores import ClassScores
from calibrant.engines import Result, analyse

EVIL = "<script>alert('x')</script>"


@pytest.fixture(scope="session")
def laws() -> Result:
    """Forecasts that are too sure of themselves, along time, with groups of all kinds of names."""
    rng = np.random.default_rng(1)
    n = 400
    mu = 10 + np.sin(np.arange(n) / 30)
    names = np.array([EVIL, "a & b", '"quoted"', "$x_1$", "日本", "x" * 300])[np.arange(n) % 6]
    result = analyse(
        Normal(mu, 0.5),
        mu + rng.normal(size=n),
        candidates={EVIL: QuantileCalibrator(), "scale": ScaleCalibrator(), "$bad": QuantileCalibrator("ecdf")},
        groups={"<region>": names, "day": np.arange(n) % 7},
        axis=np.datetime64("2024-01-01") + np.arange(n),
    )
    return replace(
        result, source=f"{EVIL}.csv", notes=[f"note {EVIL}"], command=f"calibrant fit 'a  b'\ncalibrant apply '{EVIL}'"
    )


@pytest.fixture(scope="session")
def classes() -> Result:
    """Probabilities that are too sure of themselves, of three classes with odd names."""
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(500, 3))
    labels = np.array([EVIL, "cat & dog", "日本 $x$"])
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = labels[(p.cumsum(axis=1) > rng.random((500, 1))).argmax(axis=1)]
    q = np.exp(3 * logits) / np.exp(3 * logits).sum(axis=1, keepdims=True)
    order = np.argsort(labels)
    candidates = {"temperature": TemperatureCalibrator(), EVIL: PlattCalibrator()}
    return analyse(ClassScores(q[:, order]), y, candidates=candidates, groups=np.arange(500) % 4)
