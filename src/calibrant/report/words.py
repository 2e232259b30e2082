"""Texts of the page: what comes from data is made safe here, numbers get their digits, measures their explanation."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from ..metrics import MetricInterval

DASH = "–"
LONGEST = 80  # characters of a name
MEANING = {
    "50 % interval": "outcomes in 50 % intervals; best: 50 %",
    "90 % interval": "outcomes in 90 % intervals; best: 90 %",
    "99 % interval": "outcomes in 99 % intervals; best: 99 %",
    "calibration error": "distance of promised and observed shares; 0 is perfect",
    "A²": "Anderson–Darling test of calibration, tails included; about 1 is perfect",
    "NLL": "how improbable the outcomes were, in nats; smaller is better",
    "CRPS": "distance of forecast and outcome, in units of the outcome; smaller is better",
    "mean std": "predicted standard deviation; among calibrated forecasts smaller is better",
    "ECE": "mean distance of promised and observed shares; smaller is better",
    "log loss": "how improbable the labels were, in nats; smaller is better",
    "Brier score": "mean squared error of the probabilities; smaller is better",
    "share": "rows of this class",
    "mean forecast": "mean probability given to this class",
}
SHARES = ("50 % interval", "90 % interval", "99 % interval", "ECE", "share", "mean forecast")


def clean(text: Any, longest: int = LONGEST) -> str:
    r"""One printable line of at most so many characters.

    >>> clean("a\n b\x00"), clean("x" * 9, 5)
    ('a b', 'xxxx…')
    """
    line = "".join(c if c.isprintable() else " " for c in str(text)[: 4 * longest].encode(errors="replace").decode())
    line = " ".join(line.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def safe(text: Any, longest: int = LONGEST) -> str:
    """What comes from data, for any place in HTML.

    >>> safe("<script> & 'more'")
    '&lt;script&gt; &amp; &#x27;more&#x27;'
    """
    return escape(clean(text, longest))


def exact(text: str) -> str:
    r"""Text to be copied, with all its spaces and lines.

    >>> exact("fit 'a  b.csv'\n>x")
    'fit &#x27;a  b.csv&#x27;\n&gt;x'
    """
    return escape(text.encode(errors="replace").decode())


def number(value: Any, measure: str = "") -> str:
    """Four digits, or percents where the measure is a share.

    >>> number(0.714, "90 % interval"), number(1.23456), number(1234567.0), number(float("nan"))
    ('71.4 %', '1.235', '1.23e+06', '–')
    """
    if not isinstance(value, (int, float)):
        return clean(value)
    if not math.isfinite(value):
        return DASH if math.isnan(value) else "∞" if value > 0 else "−∞"
    if measure in SHARES:
        return f"{100 * value:.1f} %"
    if abs(value) >= 10_000 or 0 < abs(value) < 0.0005:
        return f"{value:.3g}".replace("-", "−")
    digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    return f"{value:.{digits}f}".replace("-", "−")


def with_interval(found: MetricInterval | None, measure: str) -> str:
    """Value, and behind it the interval in small print; HTML."""
    if found is None:
        return DASH
    ends = [float(end) for end in (found.low, found.high)]
    if measure in SHARES:
        ends = [min(max(end, 0.0), 1.0) for end in ends]  # what no share can be says nothing
    low, high = (number(end, measure).removesuffix(" %") for end in ends)
    return f"{number(float(found.value), measure)} <small>{low} to {high}</small>"
