"""Results that pages are made of."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from calibrant import Normal, PlattCalibrator, QuantileCalibrator, ScaleCalibrator, TemperatureCalibrator
from calibrant.adapters.class_scores import ClassScores
from calibrant.engines import Result, analyse
from calibrant.engines.decision import Check, Decision
from calibrant.engines.result import Bin, WrongSegment
from calibrant.metrics.catalogue import Measured

EVIL = "<script>alert('x')</script>"


DECISION = Decision(
    "serious",
    f"The 90 % intervals hold 59 % of outcomes {EVIL}.",
    [f"too narrow by 2.0× {EVIL}", "upper tail heavier"],
    f"Widen them {EVIL}.",
    f"calibrant fit 'a  b' &&\ncalibrant apply '{EVIL}'",
    f"Intervals become 2.0 times as wide {EVIL}.",
    [f"Few rows {EVIL}.", "One group is made worse."],
    [
        Check("coverage_90", "Coverage", "fail", 0.59, 0.88, "59 % found, at least 88 % to pass."),
        Check("bias", f"Bias {EVIL}", "warn", 0.2, 0.1, f"0.2 found {EVIL}, at most 0.1 to pass."),
        Check("rows", "Rows", "pass", 400.0, 300.0, "400 rows, at least 300 to pass."),
    ],
)


def bins(by: str, edges: np.ndarray, goal: float = 0.9) -> list[Bin]:
    """Bins that were too low, and are right."""
    before, after = (Measured(v, 0.02, v - 0.03, v + 0.03) for v in (goal - 0.3, goal))
    return [Bin(by, float(low), float(high), 40.0, before, after) for low, high in itertools.pairwise(edges)]


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
    days = (np.datetime64("2024-01-01") + np.linspace(0, n, 11).astype(int)).astype("datetime64[s]").astype(float)
    return replace(
        result,
        source=f"{EVIL}.csv",
        notes=[f"note {EVIL}"],
        command=f"calibrant fit 'a  b'\ncalibrant apply '{EVIL}'",
        decision=DECISION,
        conditional=[*bins("level", np.linspace(9, 11, 11)), *bins("width", np.geomspace(0.001, 1e6, 11))],
        over_time=bins("time", days),
        worst=[replace(row, group=f"region = {EVIL}", time="2024-01-31", id=f"id {EVIL}") for row in result.worst],
        made="2024-01-31",
        fingerprint="0123abcd",
        features=np.zeros((n, 1)),
        segments=[
            WrongSegment(
                f"region = {EVIL} and price > 12.5", 40.0, 0.1, "1.9 times too narrow", f"right {EVIL}", 0.01,
                Measured(0.6, 0.02, 0.57, 0.63), Measured(0.9, 0.02, 0.87, 0.93),
            )
        ],
    )  # fmt: skip


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
    result = analyse(ClassScores(q[:, order]), y, candidates=candidates, groups=np.arange(500) % 4)
    return replace(result, conditional=bins("level", np.linspace(0, 1, 11), 0.0), over_time=[], decision=DECISION)


@pytest.fixture(scope="session")
def many(laws: Result) -> Result:
    """Sixty groups with long names, and many calibrators with long names of nearly the same loss."""
    rng = np.random.default_rng(3)
    groups = []
    for k in range(60):
        shares = [Measured(v, 0.02, v - 0.03, min(1.0, v + 0.03)) for v in (0.4 + 0.01 * k, 0.9)]
        before, after = ({**group, "coverage_90": v} for group, v in zip(_tables(laws), shares, strict=True))
        name = f"store = Store number {k:03d} of the northern distribution district, second floor"
        groups.append(replace(laws.groups[0], name=name, before=before, after=after))
    names = ("none", *(f"a calibrator with a long name, number {k}" for k in range(14)))
    table = laws.measures["scale"]
    found = [{**table, **_moved(table, shift)} for shift in (9.0, *rng.normal(scale=0.003, size=14))]
    loss = np.array([each["nll"].value for each in found])
    error, ranks = np.full(15, 0.002), tuple(range(15))
    comparison = replace(laws.comparison, names=names, loss=loss, error=error, measures=tuple(found), ranks=ranks)
    stages = {name: laws.stages["none" if name == "none" else "scale"] for name in names}
    return replace(laws, groups=groups, comparison=comparison, stages=stages)


def _tables(result: Result) -> tuple[dict[str, Measured], dict[str, Measured]]:
    return result.groups[0].before, result.groups[0].after


def _moved(table: dict[str, Measured], shift: float) -> dict[str, Measured]:
    moved = {}
    for key, by in (("nll", shift), ("anderson_darling", 300 * abs(shift))):
        value, error, low, high = table[key]
        moved[key] = Measured(value + by, error, low + by, high + by)
    return moved
