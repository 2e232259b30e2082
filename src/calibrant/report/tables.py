"""Tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..engines.result import Group, Result
from ..metrics.catalogue import MEASURES, Measured, label
from ..select.comparison import NONE
from .words import DASH, number, safe, with_interval

MOST_GROUPS = 200
OF_GROUPS = {
    "regression": ("coverage_90", "calibration_error", "nll", "crps"),
    "classification": ("ece", "log_loss", "brier_score"),
}


@dataclass(frozen=True)
class Cell:
    """HTML, and the number or text it is sorted by; with a stage, shown only where that one is chosen."""

    html: str
    key: Any = ""
    stage: int | None = None

    def tag(self, name: str, extra: str = "") -> str:
        """The cell as an element."""
        at = "" if self.stage is None else f' data-stage="{self.stage}"' + (" hidden" if self.stage else "")
        key = "" if self.key == "" else f' data-key="{safe(self.key)}"'
        return f"<{name}{extra}{at}{key}>{self.html}</{name}>"


def name_cell(text: Any) -> Cell:
    """A name from the data, cut where it is long; all of it where the mouse rests."""
    return Cell(f'<span title="{safe(text, 400)}">{safe(text)}</span>', safe(text))


def number_cell(value: Any, measure: str = "") -> Cell:
    """A number; none is a dash."""
    return Cell(DASH) if value is None else Cell(number(value, measure), value)


def measure_cell(found: Measured | None, key: str) -> Cell:
    """A measure with its interval; none is a dash."""
    return Cell(DASH) if found is None else Cell(with_interval(found, key), found.value)


def table(heads: Sequence[Cell], rows: Iterable[tuple[Sequence[Cell], str]], *, sortable: bool = True) -> str:
    """A table in a box that scrolls by itself; rows come with their CSS class, "" for none."""
    body = []
    for cells, kind in rows:
        first = cells[0].tag("th", ' scope="row"')
        line = first + "".join(cell.tag("td") for cell in cells[1:])
        body.append(f'<tr class="{kind}">{line}</tr>' if kind else f"<tr>{line}</tr>")
    if sortable:
        heads = [Cell(f'<button type="button">{head.html}</button>', "", head.stage) for head in heads]
    top = "".join(head.tag("th", ' scope="col"') for head in heads)
    kind = ' class="sortable"' if sortable else ""
    start = f'<div class="box" tabindex="0"><table{kind}><thead><tr>{top}</tr></thead>'
    return f"{start}<tbody>\n" + "\n".join(body) + "\n</tbody></table></div>"


def measures_table(result: Result, shown: Sequence[str]) -> str:
    """Every measure before, and after by each stage that can be shown."""
    first = result.measures.get(NONE)
    heads = [Cell("measure"), *([] if first is None else [Cell("before")])]
    heads += [Cell(f"after {safe(stage)}", "", k) for k, stage in enumerate(shown)] + [Cell("what it says")]
    keys = dict.fromkeys(key for table in result.measures.values() for key in table)
    rows = []
    for key in keys:
        cells = [Cell(safe(label(key))), *([] if first is None else [Cell(with_interval(first.get(key), key))])]
        cells += [Cell(with_interval(result.measures[stage].get(key), key), "", k) for k, stage in enumerate(shown)]
        rows.append(([*cells, Cell(f'<span class="says">{MEASURES[key].words}</span>')], ""))
    return table(heads, rows, sortable=False)


def groups_table(result: Result) -> str:
    """Groups, worst calibrated first."""
    return _sides_table(result, "group", result.groups[:MOST_GROUPS], OF_GROUPS[result.task])


def classes_table(result: Result) -> str:
    """Classes, worst calibrated first."""
    heads = ("mean_forecast", "ece")
    share = {group.name: group.before["share"].value for group in result.by_class}
    return _sides_table(result, "class", result.by_class, heads, share)


def _sides_table(
    result: Result, what: str, groups: Sequence[Group], keys: Sequence[str], share: dict[str, float] | None = None
) -> str:
    both = NONE in result.stages
    used = [key for key in keys if any(key in group.after for group in groups)]
    worse = any(group.is_worse for group in groups)
    heads = [Cell(what), Cell("rows"), *([] if share is None else [Cell("share of rows")])]
    for key in used:
        name = label(key).replace("_", " ")
        heads += [Cell(f"{name}, before")] * both + [Cell(f"{name}, after")]
    heads += [Cell("made worse")] * worse
    rows = []
    for group in groups:
        cells = [name_cell(group.name), Cell(f"{group.rows:.10g}", group.rows)]
        cells += [] if share is None else [number_cell(share[group.name], "share")]
        for key in used:
            cells += [measure_cell(group.before.get(key), key)] * both + [measure_cell(group.after.get(key), key)]
        cells += [Cell("yes" if group.is_worse else "", int(group.is_worse))] * worse
        rows.append((cells, "worse" if group.is_worse else ""))
    return table(heads, rows)


def segments_table(result: Result) -> str:
    """Segments in which forecasts are wrong, the worst first."""
    both, changed = NONE in result.stages, result.chosen != NONE
    share = "in 90 % intervals" if result.task == "regression" else "came more often"
    heads = ["segment", "rows", *["what is wrong"] * both, *["after"] * (changed or not both)]
    heads += [f"{share}, before"] * both + [f"{share}, after"] * (changed or not both)
    rows = []
    for each in result.segments:
        cells = [name_cell(each.name), Cell(f"{each.rows:.10g}", each.rows)]
        cells += [Cell(safe(each.fault_before))] * both + [Cell(safe(each.fault_after))] * (changed or not both)
        cells += [measure_cell(each.before, "share")] * both
        cells += [measure_cell(each.after, "share")] * (changed or not both)
        rows.append((cells, ""))
    return table([Cell(head) for head in heads], rows)


def worst_table(result: Result) -> str:
    """Rows whose outcome surprised most, with their id, group and time where there are such."""
    both, worst = NONE in result.stages, result.worst
    also = [key for key in ("id", "group", "time") if any(getattr(row, key) not in (None, "") for row in worst)]
    names = ["row", *also, "outcome", "forecast", *["loss before"] * both, "loss after"]
    rows = []
    for row in worst:
        cells = [Cell(str(row.row), row.row), *(_label_cell(getattr(row, key)) for key in also)]
        cells += [_label_cell(row.outcome), Cell(safe(row.forecast), safe(row.forecast))]
        cells += [number_cell(row.loss_before)] * both + [number_cell(row.loss_after)]
        rows.append((cells, ""))
    return table([Cell(name) for name in names], rows)


def _label_cell(value: Any) -> Cell:
    """A number in six digits, anything else as a name; none is a dash."""
    if value is None or value == "":
        return Cell(DASH)
    return Cell(f"{value:.6g}", value) if isinstance(value, float) else name_cell(value)
