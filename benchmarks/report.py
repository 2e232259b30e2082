"""A full report of 3 000 rows, from the forecasts to the page: CPU seconds, and the most that is promised."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from calibrant import Ensemble, Normal, Quantiles
from calibrant.engines import analyse
from calibrant.report import render

from .timing import Measure, cpu_seconds

ROWS = 3_000
LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
PROMISED = {"normals": 8.0, "quantiles": 15.0, "samples": 15.0}


def forecasts(rows: int = ROWS) -> tuple[dict[str, Any], np.ndarray]:
    """One truth, forecast in three ways, each 1.5 times too narrow."""
    rng = np.random.default_rng(0)
    mu, scale = 3 * rng.normal(size=rows), np.exp(0.3 * rng.normal(size=rows))
    y = mu + 1.5 * scale * rng.standard_normal(rows)
    law = Normal(mu, scale)
    draws = mu[:, None] + scale[:, None] * rng.standard_normal((rows, 50))
    return {"normals": law, "quantiles": Quantiles(LEVELS, law.quantiles(LEVELS)), "samples": Ensemble(draws)}, y


def lines() -> Iterator[Measure]:
    laws, y = forecasts()
    render(analyse(laws["normals"][:60], y[:60]))  # what is loaded only once
    for kind, law in laws.items():
        for name, candidates in (("", None), (", quick", "quick")):
            seconds = cpu_seconds(partial(_report, law, y, candidates), repeats=2)
            yield Measure(f"report of {ROWS} {kind}{name}", seconds, "CPU seconds", None if name else PROMISED[kind])


def _report(law: Any, y: np.ndarray, candidates: str | None) -> str:
    return render(analyse(law, y, candidates=candidates, cv=3 if candidates else 5))
