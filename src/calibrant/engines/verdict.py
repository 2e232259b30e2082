"""The headline of a report, in plain words."""

from __future__ import annotations

from ..metrics import MetricInterval
from .measures import CALIBRATION, LOSS
from .result import BEFORE

Table = dict[str, dict[str, MetricInterval]]


def verdict(task: str, measures: Table, chosen: str) -> str:
    """What is wrong with the forecasts and what calibration does about it, in two sentences."""
    after = measures[chosen]
    if BEFORE not in measures and task == "regression":  # point predictions, which have no spread
        share = 100 * after["90 % interval"].value
        return f"After calibration your predictions have 90 % intervals that contain {share:.0f} % of outcomes."
    if BEFORE not in measures:  # margins, which are no probabilities
        off = 100 * after[CALIBRATION[task]].value
        return f"After calibration your probabilities are off by {off:.1f} percentage points on average."
    before = measures[BEFORE]
    if task == "classification":
        return _of_classes(before, after, chosen)
    text = f"Your 90 % intervals contain {100 * before['90 % interval'].value:.0f} % of outcomes"
    if chosen == BEFORE:
        return f"{text}; no calibrator makes these forecasts better."
    text += f"; after calibration {100 * after['90 % interval'].value:.0f} %."
    return f"{text} {_gain(before, after, LOSS[task])}"


def _of_classes(before: dict[str, MetricInterval], after: dict[str, MetricInterval], chosen: str) -> str:
    name = CALIBRATION["classification"]
    text = f"Your probabilities are off by {100 * before[name].value:.1f} percentage points on average"
    if chosen == BEFORE:
        return f"{text}; no calibrator makes them better."
    text += f"; after calibration by {100 * after[name].value:.1f}."
    return f"{text} {_gain(before, after, LOSS['classification'])}"


def _gain(before: dict[str, MetricInterval], after: dict[str, MetricInterval], name: str) -> str:
    if name not in before or name not in after:
        return ""
    change = after[name].value - before[name].value
    word = "falls" if change < 0 else "rises"
    return f"The {name} {word} by {_nats(abs(change))} nats, to {_nats(after[name].value)}."


def _nats(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10_000 else f"{value:.2g}"
