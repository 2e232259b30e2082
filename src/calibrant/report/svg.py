"""Pictures as inline SVG in the colours of the page, with titles that show where the mouse rests."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable
from functools import cache
from io import StringIO
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure

from .._printable import printable
from ..displays._axes import COLOURS, GREY
from .words import safe

Titles = list[tuple[Any, str]]  # artists with what to say about them
EDGE = 0.04  # inches around a picture
Draw = Callable[[Any], Titles]

AFTER, BEFORE = COLOURS[:2]
INK = "#010203"  # stands for the colour of text until the page decides it
VARIABLES = {INK: "ink", AFTER.lower(): "after", BEFORE.lower(): "before", GREY.lower(): "grey"}
VARIABLES |= {colour.lower(): f"colour-{k}" for k, colour in enumerate(COLOURS) if k > 1}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "calibrant",
    "text.parse_math": False,  # a name may have dollar signs
    "font.size": 10,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    **dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], INK),
}
_MARKERS = re.compile(r"<g( [^>]*)?>\n((?:<use [^>]*/>\n)+)</g>")
_STYLE_OF_MARKER = re.compile(r' style="[^"]*"')
_METADATA = dict.fromkeys(["Date", "Creator", "Format", "Type"])


def picture(caption: str, size: tuple[float, float], draw: Draw, rows: int = 1) -> str:
    """One figure of the page; ``draw`` gets the axes (an array where there are several, one above the other)."""
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # glyphs that only the reader's fonts have; labels without room
        figure = Figure(figsize=size, layout="constrained" if rows > 1 else None)  # the box around all fits one alone
        titles = draw(figure.subplots(rows))
        for k, (artist, _) in enumerate(titles):
            artist.set_gid(f"hover{k}")
        file = StringIO()
        box: Any = "tight"  # which draws everything twice
        if rows == 1:
            box = figure.get_tightbbox(_ruler(figure.dpi)).padded(EDGE)
        figure.savefig(file, format="svg", metadata=_METADATA, bbox_inches=box, pad_inches=EDGE)
    text = _with_titles(_themed(_shown(file.getvalue())), [title for _, title in titles])
    text = _own_names(text, hashlib.sha256(caption.encode(errors="replace")).hexdigest()[:6])
    shown = safe(caption, 400)
    text = text.replace("<svg", f'<svg role="img" aria-label="{shown}"', 1)
    return f"<figure>{text}<figcaption>{shown}</figcaption></figure>"


@cache
def _ruler(dpi: float) -> Any:
    """What texts are measured with, always the same: it remembers those of other pictures."""
    renderer: Any = RendererAgg
    return renderer(1, 1, dpi)


def _shown(text: str) -> str:
    """SVG in which names have no character that does not print; line by line, for most lines have none."""
    return "\n".join(printable(line, keep="\t") for line in text.split("\n"))


def _themed(text: str) -> str:
    """SVG without prologue, in variable colours; of coordinates a hundredth of a point is enough."""
    text = re.sub(r"<metadata>.*?</metadata>|<style .*?</style>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'(<image [^>]*?) id="[^"]*"', r"\1", text)  # equal images have equal names
    for colour, name in VARIABLES.items():
        text = text.replace(colour, f"var(--{name})")
    text = re.sub(r'( d="[^"]*"| x="[^"]*"| y="[^"]*")', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)
    return _MARKERS.sub(_shared_style, re.sub(r"\n\s*", "\n", text))


def _shared_style(group: re.Match[str]) -> str:
    """Markers of one look say it once."""
    styles = set(_STYLE_OF_MARKER.findall(group[2]))
    if len(styles) != 1:
        return group[0]
    return f"<g{group[1] or ''}{styles.pop()}>\n{_STYLE_OF_MARKER.sub('', group[2])}</g>"


def _with_titles(text: str, titles: list[str]) -> str:
    return re.sub(
        r'<g id="hover(\d+)">', lambda group: f"{group[0]}<title>{safe(titles[int(group[1])], 400)}</title>", text
    )


def _own_names(text: str, prefix: str) -> str:
    """Names of parts that no other picture of the page has."""
    return re.sub(r'(\bid="|url\(#|href="#)', lambda match: f"{match[1]}p{prefix}-", text)
