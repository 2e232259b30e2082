"""The frame of every page: style, script and policy around what is shown."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from string import Template

from .._version import __version__
from .words import safe


def filled(*, title: str, first: str, facts: str, contents: str, sections: str, switch: str = "") -> str:
    """One HTML page that needs nothing else; all but the title are HTML."""
    script, style, template = (_part(name) for name in ("page.js", "page.css", "page.html"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(template).substitute(
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:",
        title=safe(title),
        style=style,
        script=script,
        first=first,
        facts=facts,
        contents=contents,
        switch=switch,
        sections=sections,
        version=safe(__version__),
    )


def listed_sections(parts: dict[str, str]) -> tuple[str, str]:
    """Links to sections, and the sections one below the other, by title.

    >>> listed_sections({"Worst rows": "<p>…</p>"})[0]
    '<nav class="contents" aria-label="Contents"><a href="#worst-rows">Worst rows</a></nav>'
    """
    links = "".join(f'<a href="#{_anchor(title)}">{title}</a>' for title in parts)
    found = (f'<section id="{_anchor(name)}"><h2>{name}</h2>\n{body}</section>' for name, body in parts.items())
    return f'<nav class="contents" aria-label="Contents">{links}</nav>', "\n".join(found)


def _anchor(title: str) -> str:
    """A title as the name of a place on the page."""
    return title.lower().replace(" ", "-")


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
