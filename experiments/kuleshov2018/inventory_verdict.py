"""What the agents earned: by set, paired with the uncalibrated one, the paper's numbers beside them, and the claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..cells import claim
from ..scoreboard import headline

Array = NDArray[np.float64]
NONE, ONCE, OURS = "gru", "gru, calibrated once", "gru, calibrated"
AGENTS = {
    NONE: None, ONCE: None, OURS: 61_690.0, "concrete": 60_082.0, "ensemble": 60_894.0,
}  # of the paper: dollars, mean of four stores  # fmt: skip
LEAST_SERIES = 50
LEAST_T = 2.0
MARGIN = 1.99 - 1.29  # what a unit earns at most


class Paired(NamedTuple):
    """A mean difference and its standard errors: all series in all spans apart, and the spans of a series together."""

    n: int
    mean: float
    error: float
    clustered: float

    @property
    def t(self) -> float:
        return self.mean / self.error if self.error > 0 else 0.0

    @property
    def clustered_t(self) -> float:
        return self.mean / self.clustered if self.clustered > 0 else 0.0

    def __str__(self) -> str:
        return (
            f"{self.mean:+.2f} ± {self.error:.2f} (t {self.t:.2f}; spans of a series together {self.clustered_t:.2f})"
        )


def paired(difference: Array, series: NDArray[Any]) -> Paired:
    r"""Mean of n differences d, its standard error, and that of k clusters.

    .. math:: \frac{s}{\sqrt n},\qquad \frac1n\sqrt{\frac{k}{k-1}\sum_c\Big(\sum_{i \in c}(d_i - \bar d)\Big)^2}
    """
    n, mean = len(difference), float(difference.mean())
    _, cluster = np.unique(series, return_inverse=True)
    sums = np.bincount(cluster, difference - mean)
    k = len(sums)
    clustered = np.sqrt(k / (k - 1) * np.sum(sums**2)) / n
    return Paired(n, mean, float(difference.std(ddof=1) / np.sqrt(n)), float(clustered))


def verdict(cells: dict[str, Any]) -> Iterator[str]:
    """The claims, each with PASS or FAIL, of maps learned again and again."""
    series = names(cells)
    gain = paired(rewards(cells, OURS) - rewards(cells, NONE), series)
    enough = f"{gain.n} series in their spans, {len(np.unique(series))} series"
    yield claim(gain.mean > 0, f"calibrated demand earns more than uncalibrated, dollars a series: {gain}; {enough}")
    if gain.n >= LEAST_SERIES:
        yield claim(gain.t > LEAST_T, f"by more than {LEAST_T:g} standard errors")
    finer = {key: cell for key, cell in cells.items() if cell["more_states"]}
    more = [np.concatenate([cell["more_states"][agent] for cell in finer.values()]) for agent in (OURS, NONE)]
    fine, coarse = np.subtract(*more), rewards(finer, OURS) - rewards(finer, NONE)
    text = f"in the first spans {paired(fine, names(finer)).mean:+.2f}, with fewer {coarse.mean():+.2f}"
    yield claim(fine.mean() > 0, f"so too with three times as many states: {text}")
    share = 100 * (rewards(cells, OURS) - rewards(cells, NONE)) / most(cells)
    yield f"      in percent of what demand could earn: {paired(share, series)}"
    for agent in AGENTS:
        if agent not in (NONE, OURS):
            other = rewards(cells, agent)
            yield f"      {agent} against {NONE}: {paired(other - rewards(cells, NONE), series)}"
            yield f"      {OURS} against {agent}: {paired(rewards(cells, OURS) - other, series)}"


def headlines(cells: dict[str, Any]) -> list[dict[str, str]]:
    """Rewards of calibrated demand, and of the two other nets."""
    means = {agent: rewards(cells, agent).mean() for agent in AGENTS}
    gain = paired(rewards(cells, OURS) - rewards(cells, NONE), names(cells))
    others = f"concrete dropout {means['concrete']:,.0f}, ensemble {means['ensemble']:,.0f}"
    return [
        headline(
            f"§4.5, inventory: reward over {gain.n} series and spans (table 2)",
            "$61,690 calibrated; concrete dropout 60,082, ensemble 60,894",
            f"${means[NONE]:,.0f} → {means[ONCE]:,.0f} by one map; {others}",
            f"${means[NONE]:,.0f} → {means[OURS]:,.0f} by weekly maps",
            f"more than uncalibrated: {gain.mean:+.0f} ± {gain.error:.0f}; not more than the other nets",
        )
    ]


def rewards(cells: dict[str, Any], agent: str) -> Array:
    """Profit of each series in each span."""
    return np.concatenate([cell["agents"][agent]["profit"] for cell in cells.values()])


def most(cells: dict[str, Any]) -> Array:
    """What the demand of each series in each span would earn if all were sold and nothing thrown away."""
    return MARGIN * np.concatenate([cell["demand"] for cell in cells.values()])


def names(cells: dict[str, Any]) -> NDArray[Any]:
    """Set and series, the same in all spans."""
    return np.array([f"{key.rsplit('/', 1)[0]}/{name}" for key, cell in cells.items() for name in cell["series"]])


def page(cells: dict[str, Any]) -> Iterator[str]:
    """Markdown: rewards by set and span, and how good the forecasts are."""
    yield "# Kuleshov et al. (2018), §4.5 and table 2: reward of agents, dollars a series in seven months\n"
    spans = list(cells)
    yield f"| agent | paper, a store | all | share of the most | sold | thrown away | {' | '.join(spans)} |"
    yield f"|---|---:|---:|---:|---:|---:|{'---:|' * len(spans)}"
    for agent, paper in AGENTS.items():
        sums = {
            key: sum(sum(cell["agents"][agent][key]) for cell in cells.values()) for key in ("sold", "wasted", "lost")
        }
        means = [f"{np.mean(cell['agents'][agent]['profit']):,.1f}" for cell in cells.values()]
        own = rewards(cells, agent)
        parts = [
            agent, f"{paper:,.0f}" if paper else "–", f"{own.mean():,.1f}", f"{own.sum() / most(cells).sum():.4f}",
            f"{sums['sold'] / (sums['sold'] + sums['lost']):.3f}", f"{sums['wasted'] / sums['sold']:.4f}", *means,
        ]  # fmt: skip
        yield f"| {' | '.join(parts)} |"
    yield "\nSold is of what was asked for, thrown away of what was sold; the most is the margin times all demand.\n"
    yield "## Forecasts by days ahead, mean of the spans\n"
    yield "| agent | days ahead | 90 % holds | calibration error | bias of medians / mean sales |"
    yield "|---|---:|---:|---:|---:|"
    for agent in AGENTS:
        for lead in next(iter(cells.values()))["leads"][agent]:
            own_ = [cell["leads"][agent][lead] for cell in cells.values()]
            values = {key: float(np.mean([each[key] for each in own_])) for key in own_[0]}
            yield (
                f"| {agent} | {lead} | {values['covered']:.3f} | {values['calibration']:.4f} | {values['bias']:+.4f} |"
            )
