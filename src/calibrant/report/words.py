"""Texts of the page: what comes from data is made safe here, numbers get their digits, measures their explanation."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from .._printable import printable
from ..metrics.catalogue import MEASURES, Measured

DASH = "–"
LONGEST = 80  # characters of a name
LONGEST_SENTENCE = 400
_ALSO_SHARES = ("share", "mean_forecast")


def clean(text: Any, longest: int = LONGEST) -> str:
    r"""One printable line of at most so many characters.

    >>> clean("a\n b\x00"), clean("x" * 9, 5)
    ('a b', 'xxxx…')
    """
    line = "".join(c if c.isprintable() else " " for c in str(text)[: 4 * longest].encode(errors="replace").decode())
    line = " ".join(line.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def both_ends(text: Any, longest: int) -> str:
    """One printable line of at most so many characters, cut in the middle: names often differ at their end.

    >>> both_ends("Store 17 of the northern district", 16)
    'Store 17 …strict'
    """
    line = clean(text, 4 * longest)
    tail = 2 * longest // 5
    return line if len(line) <= longest else f"{line[: longest - tail - 1]}…{line[-tail:]}"


def safe(text: Any, longest: int = LONGEST) -> str:
    """What comes from data, for any place in HTML.

    >>> safe("<script> & 'more'")
    '&lt;script&gt; &amp; &#x27;more&#x27;'
    """
    return escape(clean(text, longest))


def sentence(text: Any) -> str:
    """A sentence for any place in HTML, whose percents stay with their numbers.

    >>> sentence("90 % & more").encode("ascii", "xmlcharrefreplace")
    b'90&#160;% &amp; more'
    """
    return safe(text, LONGEST_SENTENCE).replace(" %", "\u00a0%")


def exact(text: str) -> str:
    r"""Text to be copied, with all its spaces and lines, and escapes for what does not print.

    >>> exact("fit 'a  b.csv'\n>x")
    'fit &#x27;a  b.csv&#x27;\n&gt;x'
    """
    return escape(printable(text, keep="\n"))


def is_share(key: str) -> bool:
    """Whether a measure is a share of rows or a probability, told in percents."""
    return key in _ALSO_SHARES or (key in MEASURES and MEASURES[key].unit == "share")


def number(value: Any, key: str = "") -> str:
    """Four digits, or percents where the measure is a share.

    >>> number(0.714, "coverage_90"), number(1.23456), number(1234567.0), number(float("nan"))
    ('71.4 %', '1.235', '1.23e+06', '–')
    """
    if not isinstance(value, (int, float)):
        return clean(value)
    if not math.isfinite(value):
        return DASH if math.isnan(value) else "∞" if value > 0 else "−∞"
    if is_share(key):
        return f"{100 * value:.1f} %"
    if abs(value) >= 10_000 or 0 < abs(value) < 0.0005:
        return f"{value:.3g}".replace("-", "−")
    digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    return f"{value:.{digits}f}".replace("-", "−")


def with_interval(found: Measured | None, key: str) -> str:
    """Value, and behind it the interval in small print where there is one; HTML."""
    if found is None:
        return DASH
    if math.isnan(found.low):
        return number(found.value, key)
    low, high = (number(end, key).removesuffix(" %") for end in (found.low, found.high))
    return f"{number(found.value, key)} <small>{low} to {high}</small>"
