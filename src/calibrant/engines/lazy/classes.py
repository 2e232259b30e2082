"""Scores of classes and whether each came, as expressions of a table's columns."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

import narwhals as nw

from ...adapters.class_labels import as_labels
from ...adapters.class_scores import LAST_DIGITS, ROUNDING
from ...classification.binary import LEAST_CLIP
from ...summaries import ClassSummary
from ...tables.columns import Columns
from ...tables.rows import TRUTH
from .frames import all_of, chosen, is_finite, number
from .parts import Part
from .rows import LABEL, SHARE, TOTAL, Scored


def problems(frame: Any, columns: Columns) -> list[Scored] | None:
    """What is summed over rows, the second class of two or each of several; None where rows are needed."""
    came = _came(frame.collect_schema()[str(columns.target)], columns)
    many = len(columns.forecast) > 2
    if came is None or (many and columns.scores_are == "logits"):
        return None
    parts = [number(name) for name in columns.forecast]
    finite = all_of(map(is_finite, parts))
    wanted = range(len(parts)) if many else [1]
    known = (reduce(or_, came), LABEL)
    if columns.scores_are != "probabilities":
        scores = parts if many else [parts[-1] if len(parts) == 1 else parts[1] - parts[0]]
        return [
            _of(finite, [known], x, came[place]) for place, x in zip(wanted, scores, strict=True)
        ]  # margins as they are, and differences of two logits
    shares, checks = shares_of(parts)
    least = nw.min_horizontal(*(chosen((p > 0, p), otherwise=0.5) for p in shares))
    extremes = {"least": least, "nothing": nw.min_horizontal(*shares)}
    found = [_of(finite, [*checks, known], log_odds(shares[place]), came[place]) for place in wanted]
    return [replace(one, extremes=extremes) for one in found]


def log_odds(p: Any) -> Any:
    """The logarithm of p / (1 - p), of probabilities not nearer to 0 or 1 than 1e-16."""
    low = chosen((p > LEAST_CLIP, p), otherwise=LEAST_CLIP)
    near = chosen((low < 1 - LEAST_CLIP, low), otherwise=1 - LEAST_CLIP)
    return near.log() - (1.0 - near).log()


def class_summary(columns: Columns, parts: list[Part]) -> ClassSummary:
    """The summary that `summarise` would have made of the rows, from the sums of each problem."""
    facts: dict[str, Any] = {"kind": columns.scores_are}
    if columns.scores_are == "probabilities":
        reach = parts[0].extremes
        facts |= {"least": min(reach["least"][0], 0.5), "certain": reach["nothing"][0] == 0}
    grids = tuple(part.grid for part in parts)
    return ClassSummary(grids, parts[0].n_rows, as_labels(columns.keys), **facts)


def _of(finite: Any, checks: list[tuple[Any, int]], x: Any, came: Any) -> Scored:
    fine = all_of([finite, *(holds for holds, _ in checks)])
    return Scored(fine, finite, checks, x, (chosen((came, 0.0), otherwise=1.0), chosen((came, 1.0), otherwise=0.0)))


def shares_of(parts: list[Any]) -> tuple[list[Any], list[tuple[Any, int]]]:
    """Probabilities of all classes, which add up to 1, and what must hold of them."""
    within = (all_of([(p >= 0) & (p <= 1) for p in parts]), SHARE)
    if len(parts) == 1:
        return [1.0 - parts[0], parts[0]], [within]
    total = sum(parts[1:], parts[0])
    off = (total - 1.0).abs()
    return [chosen((off <= LAST_DIGITS, p), otherwise=p / total) for p in parts], [within, (off <= ROUNDING, TOTAL)]


def _came(kind: Any, columns: Columns) -> list[Any] | None:
    """Whether each class is the row's, by what the labels of the table are; None where expressions cannot tell."""
    y, keys = nw.col(str(columns.target)), [str(key) for key in columns.keys]
    if kind == nw.Boolean and {key.lower() for key in keys} <= TRUTH.keys():
        return [y if TRUTH[key.lower()] == "true" else ~y for key in keys]
    if kind.is_integer():
        return [y == int(key) for key in keys] if all(_is_whole(key) for key in keys) else None
    return [y == key for key in keys] if kind == nw.String and all(keys) else None


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and str(int(text)) == text
