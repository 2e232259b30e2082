"""What the names of columns tell of the forecasts in them: the one reader, for frames and for the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .class_labels import label_in

NAMES = {
    "normal": "means and standard deviations",
    "quantiles": "quantiles",
    "samples": "samples",
    "points": "point predictions",
    "classes": "class probabilities",
}  # of the kinds of forecasts
_CENTRES, _SPREADS = ("mean", "mu", "loc"), ("std", "sigma", "scale", "sd", "stddev", "stdev")
_POINTS = ("prediction", "predictions", "predicted", "pred", "y_pred", "yhat", "y_hat", "forecast", "point")
_PROBABILITY = ("probability", "proba", "prob")
_PROPHET = {"yhat_lower": 0.1, "yhat": 0.5, "yhat_upper": 0.9}  # its default, interval_width=0.8

_SIDE = re.compile(r"(?:.*[-_])?(?P<side>lo|hi)-(?P<coverage>\d+(?:\.\d+)?)", re.IGNORECASE)
_MEDIAN = re.compile(r"(?:.*-)?median", re.IGNORECASE)
_LEVEL = re.compile(r"(?P<prefix>q|p|quantile|percentile)?[ _-]?(?P<number>\d*\.?\d+)(?P<percent>%?)", re.IGNORECASE)
_AFTER = re.compile(
    r".+?(?:_ql?|_|-q-)(?P<level>0?\.\d+)"  # target_q0.10, NHITS_ql0.1, target_0.1
    r"|.+?(?:-q-(?P<whole>\d+(?:\.\d+)?)|[ _-](?P<percent>\d+(?:\.\d+)?)%)"  # NHITS-q-10, yhat1 10.0%
)
_SAMPLE = re.compile(r"(?P<stem>.*?(?:sample|draw)s?[ _.\-\[]?)(?P<number>\d+)\]?", re.IGNORECASE)
_SHORT_SAMPLE = re.compile(r"(?P<stem>(?:.+_)?s_?)(?P<number>\d+)")  # s0, target_s0
_LONGEST = 200  # text of a tuple
_NUMPY = re.compile(r"np\.float64\(([^()]*)\)")


class Told(NamedTuple):
    """Forecasts that names tell.

    Attributes
    ----------
    kind : {"normal", "quantiles", "samples", "points", "classes"}
    columns : tuple
        Names of mean and standard deviation, of rising levels, of samples, of a point, of classes.
    keys : tuple
        Levels of quantiles, labels of classes; a probability whose name tells no label has none.
    note : str
        What was assumed.
    """

    kind: str
    columns: tuple[Any, ...]
    keys: tuple[Any, ...] = ()
    note: str = ""


def forecasts_told(names: list[Any], *, numbers: bool = False) -> list[Told]:
    """Forecasts that names of columns tell: one kind, several where they are not of one mind, or none.

    Names that leave no doubt come first, then those that some libraries use, then points; the first of the three that
    finds some decides.

    Parameters
    ----------
    names : list
        Texts, numbers, or tuples where columns are nested.
    numbers : bool
        Whether the outcomes are numbers, so that ``p_10`` and ``p_90`` are no classes.

    Examples
    --------
    >>> forecasts_told(["id", "mu", "sigma", "y"])
    [Told(kind='normal', columns=('mu', 'sigma'), keys=(), note='')]
    >>> forecasts_told(["q10", "q90", "p_spam"])[1]
    Told(kind='quantiles', columns=('q10', 'q90'), keys=(0.1, 0.9), note='')
    >>> forecasts_told(["ds", "target_s0", "target_s1"])
    [Told(kind='samples', columns=('target_s0', 'target_s1'), keys=(), note='')]
    >>> forecasts_told(["day", "prediction"])
    [Told(kind='points', columns=('prediction',), keys=(), note='')]
    """
    return _sure(names, numbers) or _likely(names) or _points(names)


def _sure(names: list[Any], numbers: bool) -> list[Told]:
    found = _normal(names)
    levels = {name: level for name in names if (level := _plain_level(_nested(name))) is not None}
    labels = {name: label for name in names if isinstance(name, str) and (label := label_in(name)) is not None}
    if labels and not (numbers and len(levels) > 1 and labels.keys() <= levels.keys()):
        found.append(Told("classes", tuple(labels), tuple(labels.values())))
        levels = {name: level for name, level in levels.items() if name not in labels}
    return [*found, *_quantiles(levels), *_samples(names, _SAMPLE)]


def _likely(names: list[Any]) -> list[Told]:
    levels = {name: level for name in names if (level := level_of(name)) is not None}
    prophet = {name: _PROPHET[str(name).lower()] for name in names if str(name).lower() in _PROPHET}
    found = [*_quantiles(levels), *_samples(names, _SHORT_SAMPLE)]
    if {0.1, 0.9} <= set(prophet.values()):
        (told,) = _quantiles(prophet)
        ends = f"`{told.columns[0]}` and `{told.columns[-1]}`"
        note = f"{ends} are read as ends of 80 % intervals, Prophet's default; other ones? Name them lo-95 and hi-95"
        found.append(told._replace(note=note))
    chances = [name for name in names if str(name).lower() in _PROBABILITY]
    return [*found, Told("classes", tuple(chances))] if len(chances) == 1 else found


def _points(names: list[Any]) -> list[Told]:
    return [Told("points", (name,)) for name in names if str(name).lower() in _POINTS]


def _normal(names: list[Any]) -> list[Told]:
    """One mean and one standard deviation; a point prediction is a mean where no other is."""
    centres, points, spreads = (
        [name for name in names if str(name).lower() in known] for known in (_CENTRES, _POINTS, _SPREADS)
    )
    centres = centres or points
    return [Told("normal", (*centres, *spreads))] if len(centres) == len(spreads) == 1 else []


def _quantiles(levels: dict[Any, float]) -> list[Told]:
    order = sorted(levels.items(), key=lambda item: item[1])
    names, values = tuple(name for name, _ in order), tuple(level for _, level in order)
    return [Told("quantiles", names, values)] if len(order) > 1 else []


def _samples(names: list[Any], pattern: re.Pattern[str]) -> list[Told]:
    """Columns that are counted from 0 or 1 without a gap."""
    families: dict[str, dict[int, Any]] = {}
    for name in names:
        found = pattern.fullmatch(name) if isinstance(name, str) else None
        if found:
            families.setdefault(found["stem"], {})[int(found["number"])] = name
    whole = [family for family in families.values() if len(family) > 1 and max(family) - min(family) + 1 == len(family)]
    return [Told("samples", tuple(family[k] for k in sorted(family))) for family in whole if min(family) < 2]


def level_of(name: Any) -> float | None:
    """Quantile level that a column name stands for, or None.

    >>> [level_of(name) for name in (0.1, "0.1", "q0.1", "q10", "q2.5", "p90", "97.5%", "median", "day", 3)]
    [0.1, 0.1, 0.1, 0.1, 0.025, 0.9, 0.975, 0.5, None, None]
    >>> [level_of(name) for name in ("AutoARIMA-lo-90", "NHITS-hi-90.0", "NHITS-median", ("sales", 0.9, "upper"))]
    [0.05, 0.95, 0.5, 0.95]
    >>> [level_of(name) for name in ("target_q0.10", "NHITS_ql0.1", "NHITS-q-10", "yhat1 10.0%", "gdp_q1")]
    [0.1, 0.1, 0.1, 0.1, None]
    """
    name = _nested(name)
    level = _plain_level(name)
    found = _AFTER.fullmatch(name) if level is None and isinstance(name, str) else None
    if found is None:
        return level
    percent = found["whole"] or found["percent"]
    return _inside(float(found["level"]) if percent is None else float(percent) / 100)


def _nested(name: Any) -> Any:
    """A tuple (variable, coverage, side), or the end of another tuple; a file holds tuples as texts."""
    if isinstance(name, str) and name.startswith("(") and name.endswith(")") and len(name) <= _LONGEST:
        try:
            name = ast.literal_eval(_NUMPY.sub(r"\1", name))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return name
    if not isinstance(name, tuple):
        return name
    return name if len(name) > 1 and name[-1] in ("lower", "upper") else next(reversed(name), "")


def _plain_level(name: Any) -> float | None:
    if isinstance(name, tuple):
        half = _plain_level(name[-2])
        return None if half is None else _inside(0.5 + half / 2 * (1 if name[-1] == "upper" else -1))
    if _number(name) is not None:
        return _inside(float(name))
    text = str(name).strip()
    if _MEDIAN.fullmatch(text):
        return 0.5
    side = _SIDE.fullmatch(text)
    if side is not None:
        half = float(side["coverage"]) / 200
        return _inside(0.5 - half if side["side"].lower() == "lo" else 0.5 + half)
    found = _LEVEL.fullmatch(text)
    if found is None:
        return None
    number = float(found["number"])
    percent = bool(found["percent"]) or (bool(found["prefix"]) and (number >= 1 or "." not in found["number"]))
    return _inside(number / 100 if percent else number)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) else None


def _inside(level: float) -> float | None:
    level = round(level, 12)
    return level if 0 < level < 1 else None


def same_level(names: Iterable[Any], levels: Iterable[float]) -> tuple[Any, Any, float] | None:
    """Two columns of one level, or None; levels rise.

    >>> same_level(["A-lo-90", "B-lo-90", "A-hi-90"], [0.05, 0.05, 0.95])
    ('A-lo-90', 'B-lo-90', 0.05)
    """
    twice = ((a, b, x) for (a, x), (b, y) in pairwise(zip(names, levels, strict=True)) if x == y)
    return next(twice, None)
