"""The headline of a report, in plain words."""

from __future__ import annotations

from ..metrics.catalogue import CALIBRATION, LOSS, label
from ..select.comparison import NONE
from .result import Group, Table

MOST_NAMED = 3  # groups


def verdict(task: str, measures: dict[str, Table], chosen: str, groups: list[Group]) -> str:
    """What is wrong with the forecasts and what calibration does about it, in two or three sentences."""
    parts = (sentence(task, measures, chosen), gain(task, measures, chosen), worse_groups(task, groups))
    return " ".join(part for part in parts if part)


def sentence(task: str, measures: dict[str, Table], chosen: str) -> str:
    """The same in one sentence."""
    after = measures[chosen]
    if NONE not in measures and task == "regression":  # point predictions, which have no spread
        share = 100 * after["coverage_90"].value
        return f"After calibration your predictions have 90 % intervals that contain {share:.0f} % of outcomes."
    if NONE not in measures:  # margins, which are no probabilities
        off = 100 * after[CALIBRATION[task]].value
        return f"After calibration your probabilities are off by {off:.1f} percentage points on average."
    before = measures[NONE]
    if task == "classification":
        key = CALIBRATION[task]
        text = f"Your probabilities are off by {100 * before[key].value:.1f} percentage points on average"
        if chosen == NONE:
            return f"{text}; no calibrator makes them better."
        return f"{text}; after calibration by {100 * after[key].value:.1f}."
    text = f"Your 90 % intervals contain {100 * before['coverage_90'].value:.0f} % of outcomes"
    if chosen == NONE:
        return f"{text}; no calibrator makes these forecasts better."
    return f"{text}; after calibration {100 * after['coverage_90'].value:.0f} %."


def gain(task: str, measures: dict[str, Table], chosen: str) -> str:
    """By how much the chosen calibration makes the loss smaller, in a sentence; "" where nothing is changed."""
    if chosen == NONE or NONE not in measures:
        return ""
    key = LOSS[task]
    before, after = measures[NONE][key].value, measures[chosen][key].value
    word = "falls" if after < before else "rises"
    return f"The {label(key)} {word} by {_nats(abs(after - before))} nats, to {_nats(after)}."


def worse_groups(task: str, groups: list[Group]) -> str:
    """Which groups the recommended calibration harms."""
    worse = sorted((group for group in groups if group.is_worse), key=lambda group: -group.harm)
    if not worse:
        return ""
    named = ", ".join(f"{group.name} ({_change(group, LOSS[task])})" for group in worse[:MOST_NAMED])
    more = f" and {len(worse) - MOST_NAMED} more" if len(worse) > MOST_NAMED else ""
    return f"It makes {len(worse)} of {len(groups)} groups worse: {named}{more}."


def _change(group: Group, key: str) -> str:
    first, second = (side[key].value for side in (group.before, group.after))
    return f"{label(key)} {_nats(first)} → {_nats(second)}"


def _nats(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10_000 else f"{value:.2g}"
