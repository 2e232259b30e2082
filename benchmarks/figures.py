"""Two figures of what was kept: peers' CPU seconds over ours, and seconds over rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .peers.job import OURS
from .scaling import TASKS, exponents

FLOORS = ("sort", "one pass")
STYLE = {"svg.hashsalt": "calibrant", "svg.fonttype": "none", "font.size": 8}


def draw(kept: dict[str, Any], folder: Path) -> None:
    """Write ``peers.svg`` and ``scaling.svg``, of what there is."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        if "peers" in kept:
            _save(_peers(kept["peers"]["records"]), folder / "peers.svg")
        if "scaling" in kept:
            _save(_scaling(kept["scaling"]["records"]), folder / "scaling.svg")


def _save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def _peers(records: list[dict[str, Any]]) -> Any:
    import matplotlib.pyplot as plt

    ours = {
        (each["job"], each["rows"]): each["seconds"] for each in records if each["who"] == OURS and "seconds" in each
    }
    names = list(dict.fromkeys(each["who"] for each in records if each["who"] != OURS))
    figure, axes = plt.subplots(figsize=(6.5, 0.32 * len(names) + 0.9))
    rng = np.random.default_rng(0)
    for place, who in enumerate(names):
        mine = [each for each in records if each["who"] == who and "seconds" in each]
        pairs = [(each["seconds"] / ours[each["job"], each["rows"]], each["ahead"]) for each in mine]
        for ahead, colour in ((True, "tab:blue"), (False, "tab:red")):
            ratios = [ratio for ratio, first in pairs if first is ahead]
            heights = place + rng.uniform(-0.2, 0.2, len(ratios))
            axes.plot(ratios, heights, "o", color=colour, markersize=4, alpha=0.6, markeredgewidth=0)
    axes.axvline(1, color="grey", linewidth=0.8)
    axes.set(xscale="log", yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    axes.set_xlabel("CPU seconds over calibrant's; red where calibrant is not ahead")
    return figure


def _scaling(records: list[dict[str, Any]]) -> Any:
    import matplotlib.pyplot as plt

    slopes = exponents(records)
    figure, axes = plt.subplots(figsize=(6.5, 4))
    for task, (words, _) in TASKS.items():
        points = [(each["rows"], each["seconds"]) for each in records if each["task"] == task and "seconds" in each]
        style = {"color": "grey", "linestyle": ":" if task == "sort" else "--"} if task in FLOORS else {"marker": "."}
        axes.plot(*zip(*points, strict=True), label=f"{words} ({slopes[task]:.2f})", **style)
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="CPU seconds")
    axes.legend(frameon=False, title="with the exponent from 1e5 rows on")
    return figure
