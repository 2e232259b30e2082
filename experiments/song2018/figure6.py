"""Figure 6 of the paper: log likelihood against the number of thresholds, a row a base, a column a set."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from .table import NONE, STACK, Pair


def draw(pairs: Sequence[Pair]) -> Figure:
    """Means over the folds; what has no thresholds is a level."""
    sets, bases = (list(dict.fromkeys(names)) for names in zip(*((p.set, p.base) for p in pairs), strict=True))
    size = (3.2 * len(sets) + 1.5, 2.6 * len(bases) + 0.5)
    figure, axes = plt.subplots(len(bases), len(sets), figsize=size, layout="constrained", squeeze=False)
    for pair in pairs:
        ax = axes[bases.index(pair.base), sets.index(pair.set)]
        for colour, (name, scores) in enumerate(pair.scores.items()):
            level = name in (NONE, STACK)
            style = {"linestyle": "--"} if level else {"marker": "o", "markersize": 3}
            ax.plot(
                pair.counts, scores.mean(axis=0), color="black" if name == NONE else f"C{colour}", label=name, **style
            )
        ax.set_title(f"{pair.set} x {pair.base} ({len(scores)})", fontsize="small")
    figure.supxlabel("thresholds (in brackets: folds)", fontsize="medium")
    figure.supylabel("log likelihood", fontsize="medium")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    return figure
