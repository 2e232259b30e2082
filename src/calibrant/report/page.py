"""The page: sections put together around their tables and pictures."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .._files import write_text
from .._version import __version__
from ..engines.result import Bin, Result
from ..metrics.catalogue import CALIBRATION, LOSS, MEASURES, label
from ..select.comparison import NONE
from . import class_pictures, comparison, coverage_pictures, law_pictures, tables
from .decision import copyable, first_screen
from .html import filled, listed_sections
from .stretch import Stretch
from .words import number, safe

MOST_SHOWN = 3  # calibrators that the switch offers
CARDS = {
    "regression": ("coverage_90", "calibration_error", "nll", "mean_std"),
    "classification": ("ece", "log_loss", "brier_score"),
}


def render(result: Result) -> str:
    """A Result as one HTML page that needs nothing else.

    Parameters
    ----------
    result : Result
        What :func:`calibrant.engines.analyse` found.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Normal, ScaleCalibrator
    >>> from calibrant.engines import analyse
    >>> noise = np.random.default_rng(0).normal(size=100)
    >>> page = render(analyse(Normal(np.zeros(100), 0.5), noise, candidates={"scale": ScaleCalibrator()}))
    >>> page.startswith("<!doctype html>"), page.count("<svg") > 5, "http://" in page.split("<svg")[0]
    (True, True, False)
    """
    page = Page(result)
    contents, sections = listed_sections(page.parts)
    return filled(
        title=result.source or "forecasts",
        first=first_screen(result, page.cards()),
        facts=page.facts(),
        contents=contents,
        switch=page.switch(),
        sections=sections,
    )


def write(result: Result, path: str | os.PathLike[str]) -> None:
    """Write the page to exactly this path, whole or not at all."""
    write_text(Path(path), render(result))


@dataclass(frozen=True)
class Page:
    """What a Result has to show."""

    result: Result

    @cached_property
    def order(self) -> list[str]:
        """Stages, best first."""
        return comparison.by_loss(self.result)

    @cached_property
    def shown(self) -> list[str]:
        """Calibrators that the switch offers: the chosen one, then the best others."""
        best = [stage for stage in self.order if stage != NONE]
        return sorted(best, key=lambda stage: stage != self.result.chosen)[:MOST_SHOWN]

    def facts(self) -> str:
        """Where the rows came from and what was done with them."""
        result, n = self.result, len(self.result.y)
        looked = f"{result.rows:,} rows" + ("" if n == result.rows else f", {n:,} of them looked at")
        source = f"<b>{safe(result.source)}</b>: " if result.source else ""
        compared = len(self.order) - (NONE in self.order)
        made = f" Made on <span>{safe(result.made)}</span> by calibrant {safe(__version__)}." if result.made else ""
        data = f" Data fingerprint <code>{safe(result.fingerprint)}</code>." if result.fingerprint else ""
        return f"{source}{looked}; {compared} calibrator{'s' * (compared > 1)} tried.{made}{data}"

    def cards(self) -> str:
        """The most telling numbers, large."""
        found = []
        for key in CARDS[self.result.task]:
            if not any(key in self.result.measures[stage] for stage in self.shown):
                continue
            first = self.result.measures.get(NONE, {}).get(key)
            before = "" if first is None else f'<span class="before">{number(first.value, key)}</span> → '
            after = "".join(self._big(k, stage, key) for k, stage in enumerate(self.shown))
            title, says = label(key), MEASURES[key].words
            found.append(f'<div class="card"><h3>{title}</h3><p>{before}{after}</p><p>{says}</p></div>')
        return f'<div class="cards">{"".join(found)}</div>'

    def _big(self, k: int, stage: str, key: str) -> str:
        found = self.result.measures[stage].get(key)
        text = number(None if found is None else found.value, key)
        return tables.Cell(text, "", k).tag("span", ' class="after"')

    def switch(self) -> str:
        """Buttons that choose the calibrator whose pictures and numbers are seen."""
        if len(self.shown) < 2:
            return ""
        buttons = ""
        for k, stage in enumerate(self.shown):
            mark = " (recommended)" if stage == self.result.chosen else ""
            buttons += f'<button type="button" data-show="{k}" aria-pressed="{str(k == 0).lower()}">'
            buttons += f"{safe(stage, 40)}{mark}</button>"
        return f'<div class="switch" role="group" aria-label="Calibrator"><span>After:</span>{buttons}</div>'

    @cached_property
    def parts(self) -> dict[str, str]:
        """Everything below the headline, by title."""
        pictures = self._of_laws if self.result.task == "regression" else self._of_classes
        notes = "".join(f"<li>{safe(note, 400)}</li>" for note in self.result.notes)
        parts = {
            "Before and after": f"{tables.measures_table(self.result, self.shown)}"
            '<p class="soft">In small print: 90 % intervals. Every row after calibration was calibrated by a fit that '
            "had not seen it.</p>",
            **pictures(),
            "Groups": self._groups(),
            "Where it is wrong": self._segments(),
            "Over time": self._bins(self.result.over_time, "time"),
            "By what was predicted": self._bins(self.result.conditional, "level", "width"),
            "Worst rows": self._worst(),
            "All calibrators": self._comparison(),
            "How to apply it": self._apply(),
            "Notes": f"<ul>{notes}</ul>" if notes else "",
        }
        return {title: body for title, body in parts.items() if body}

    def _bins(self, found: list[Bin], *by: str) -> str:
        drawn = "".join(coverage_pictures.bins(self.result, found, each) for each in by)
        return f'{self._after_chosen()}<div class="pictures">{drawn}</div>' if drawn else ""

    def _each(self, draw: Callable[[str], str]) -> str:
        """The picture of every stage that can be shown, all but the first hidden."""
        return "".join(tables.Cell(draw(stage), "", k).tag("div") for k, stage in enumerate(self.shown))

    def _of_laws(self) -> dict[str, str]:
        result = self.result
        stages = [stage for stage in (NONE, *self.shown) if stage in result.stages]
        pits = law_pictures.pits(result, stages)
        stretches = (Stretch.all_of(result), Stretch.last_of(result))
        fans = "".join(self._fans(law_pictures.fans(result, stages, stretch)) for stretch in stretches)
        curves = self._each(lambda stage: law_pictures.curves(result, stage))
        sharpness = self._each(lambda stage: law_pictures.sharpness(result, stage))
        return {
            "Calibration and sharpness": f'<div class="pictures"><div>{curves}{sharpness}</div>'
            f"<div>{pits.get(NONE, '')}{self._each(pits.__getitem__)}</div></div>",
            "Forecasts": fans,
        }

    def _fans(self, fans: dict[str, str]) -> str:
        if not fans:
            return ""
        return f'<div class="pictures wide"><div>{fans.get(NONE, "")}</div>{self._each(fans.__getitem__)}</div>'

    def _of_classes(self) -> dict[str, str]:
        result = self.result
        diagrams = self._each(lambda stage: class_pictures.reliability(result, stage))
        confusions = self._each(lambda stage: class_pictures.confusions(result, stage))
        maps = self._each(lambda stage: class_pictures.class_map(result, stage))
        return {
            "Reliability and decisions": f'<div class="pictures"><div>{diagrams}{maps}</div>'
            f"<div>{confusions}</div></div>",
            "Classes": self._after_chosen() + tables.classes_table(result),
        }

    def _groups(self) -> str:
        if not self.result.groups:
            return ""
        many = len(self.result.groups) > tables.MOST_GROUPS
        which = f"The worst {tables.MOST_GROUPS} of {len(self.result.groups)} groups" if many else "Groups"
        drawn = f'<div class="pictures">{coverage_pictures.groups(self.result)}</div>'
        first = f"<p>{which}, by {label(CALIBRATION[self.result.task])} before calibration.</p>"
        return self._after_chosen() + drawn + first + tables.groups_table(self.result)

    def _segments(self) -> str:
        if self.result.features is None:
            return ""
        if not self.result.segments:
            return "<p>No segment of the features in which forecasts are wrong, as far as these rows tell.</p>"
        told = (
            "<p>Segments of the features in which forecasts are wrong, the worst first: found on one half of the rows, "
            "measured on the other. On average at most 5 % of such segments are chance.</p>"
        )
        drawn = f'<div class="pictures">{coverage_pictures.segments(self.result)}</div>'
        return self._after_chosen() + drawn + told + tables.segments_table(self.result)

    def _after_chosen(self) -> str:
        chosen = self.result.chosen
        return "" if chosen == NONE else f'<p class="soft">After: {safe(chosen)}.</p>'

    def _worst(self) -> str:
        if not self.result.worst:
            return ""
        return "<p>Rows, counted from 0, whose outcome the forecasts found most improbable.</p>" + tables.worst_table(
            self.result
        )

    def _comparison(self) -> str:
        loss = label(LOSS[self.result.task])
        best = f"<p>Best first, by {loss} of rows that the calibrators had not seen.</p>"
        drawn = f'<div class="pictures">{comparison.picture(self.result, self.order)}</div>'
        return best + comparison.table_of_stages(self.result, self.order) + drawn

    def _apply(self) -> str:
        result = self.result
        if result.calibrator is None:
            return ""
        lines = copyable(result.command) if result.command else ""
        name = safe(type(result.calibrator).__name__)
        text = f"<p>The recommended calibrator, <code>{name}</code>, fitted to all rows.</p>{lines}"
        if result.task == "classification":
            return text
        return f'{text}<div class="pictures">{law_pictures.fitted_map(result)}</div>'
