"""Smooth maps of scores that count less the older they are, fitted anew now and then."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..._checks import Array
from ...maps import Map, fit_spline, identity
from ...numerics.nested_grid import NestedGrid
from ...summaries import ScoreSummary

CELLS = 256  # that a summary has at most
FIRST = 16  # rows before the first fit
GROWTH = 1.4  # of the rows from fit to fit, while they are few
OFTEN = 2.0  # fits in a half-life
FORGOTTEN = 1e-9  # share of the weight below which a cell is left out


@dataclass(eq=False)
class Shape:
    """The map of all scores, each with the weight :math:`2^{-a/h}`, as of the last fit.

    Parameters
    ----------
    half_life : float
        h, in steps.
    """

    half_life: float
    summary: ScoreSummary | None = None
    map: Map = field(default_factory=identity)
    rows: float = 0.0
    fitted_at: float = 0.0

    @property
    def wait(self) -> float:
        """Steps until enough has come since the last fit."""
        return max(FIRST, min(self.fitted_at * GROWTH, self.fitted_at + self.half_life / OFTEN)) - self.rows

    def absorb(self, rows: Array, steps: float) -> None:
        """Add scores with their weights and ages (3, m); all that was there gets older by so many steps."""
        z, w, age = rows
        self.rows += steps
        weights = w * np.exp2(-age / self.half_life)
        known = weights > 0
        if not known.any():
            return
        z, weights = z[known], weights[known]
        span = (float(z.min()), float(z.max()))
        new = ScoreSummary(NestedGrid.of(z, (weights,), most=CELLS), len(z), span)
        fade = float(np.exp2(-steps / self.half_life))
        if self.summary is None or fade <= FORGOTTEN:
            self.summary = new
        else:
            self.summary = _pruned(self.summary.decay(fade).merge(new))

    def fit(self, *, heavy_tails: bool) -> None:
        """Fit the map to what is known now."""
        self.fitted_at = self.rows
        if self.summary is not None:
            self.map = fit_spline(*self.summary.points(), heavy_tails=heavy_tails)


def _pruned(summary: ScoreSummary) -> ScoreSummary:
    """Without cells that are as good as forgotten."""
    grid = summary.grid
    kept = grid.mass[0] > FORGOTTEN * grid.mass[0].sum()
    if kept.all():
        return summary
    return replace(
        summary, grid=NestedGrid(grid.keys[kept], grid.mass[:, kept], grid.moment[:, kept], grid.level, grid.most)
    )
