"""python -m docs.sources: write sources.md, what became of each formula and figure of the papers, from sources.toml."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DATA, PAGE = FOLDER / "sources.toml", FOLDER / "sources.md"
STATES = {
    "faithful": "computes what is printed; a definition or a limit, by its estimate from rows.",
    "differs": "computes something else by default, or always: the remark says what, and which switch gives what is "
    "printed, if one does.",
    "not there": "is not in the library; the remark says why.",
}
NUMBERED = re.compile(r"(eq|def|lemma|theorem|remark|alg|table|fig)\.? (\d+)(?:-(\d+))?")


@dataclass(frozen=True)
class Row:
    """A numbered or named part of a paper, and what became of it."""

    at: str
    what: str
    names: list[str]
    state: str
    how: str

    def numbers(self) -> list[tuple[str, int]]:
        """Kinds and numbers that it stands for: "def. 1, eq. 2-3" for three."""
        found = NUMBERED.findall(self.at)
        return [(kind, k) for kind, first, last in found for k in range(int(first), int(last or first) + 1)]

    def line(self) -> str:
        """The line of the table."""
        names = "<br>".join(f"`{name}`" for name in self.names) or "–"
        return f"| {self.at} | {self.what} | {names} | {self.state} | {self.how} |"


@dataclass(frozen=True)
class Paper:
    """A text, how many numbered parts of each kind it has, and all its rows in order."""

    title: str
    reference: str
    note: str
    counts: dict[str, int]
    rows: list[Row]

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Paper:
        """From its entry in the data."""
        rows = [Row(**row) for row in entry["row"]]
        return cls(entry["title"], entry["reference"], entry["note"], entry["counts"], rows)

    def section(self) -> str:
        """Heading, reference and table."""
        states = Counter(row.state for row in self.rows)
        told = ", ".join(f"{state} {states[state]}" for state in STATES)
        head = ["| where | what it says | in calibrant | state | remark |", "|---|---|---|---|---|"]
        lines = [*head, *(row.line() for row in self.rows)]
        return "\n".join([f"## {self.title}", "", f"{self.reference} {self.note}", "", f"*{told}*", "", *lines])


def papers() -> list[Paper]:
    """All of them, from the data."""
    return [Paper.of(entry) for entry in tomllib.loads(DATA.read_text(encoding="utf-8"))["paper"]]


def page(found: list[Paper]) -> str:
    """The whole page."""
    states = Counter(row.state for paper in found for row in paper.rows)
    legend = [f"- **{state}** ({states[state]}): {meaning}" for state, meaning in STATES.items()]
    head = [
        "<!-- made by: python -m docs.sources, from sources.toml -->",
        "",
        "# The papers, formula by formula",
        "",
        f"calibrant began with five texts. These are all their equations, definitions, algorithms, tables and figures, "
        f"and the formulas they name without a number: {sum(states.values())} rows, each in one of three states.",
        "",
        *legend,
    ]
    return "\n".join([*head, "", "\n\n".join(paper.section() for paper in found), ""])


if __name__ == "__main__":
    PAGE.write_text(page(papers()), encoding="utf-8")
