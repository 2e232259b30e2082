"""Every regression set with three bases: NLL before and after."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from calibrant import StackCalibrator, metrics
from calibrant.calibration.pit_watch import unwatched

from ..data import BLOCK, load
from ..real_data.protocol import thinned_splits
from ..song2019.table1.forecasts import bases, cross_fitted

MOST_HARM = 0.01


class Change(NamedTuple):
    """One set with one base; NLL of each split before and after."""

    set: str
    base: str
    rolling: bool
    n_cal: int
    before: np.ndarray
    after: np.ndarray
    weights: dict[str, float]

    @property
    def rise(self) -> float:
        """Of the mean NLL."""
        return float((self.after - self.before).mean())

    def line(self) -> str:
        """For the table: t marks rolling splits; the mean weights of the stack, largest first."""
        changes = self.after - self.before
        error = changes.std(ddof=1) / np.sqrt(len(changes)) if len(changes) > 1 else np.nan
        shares = sorted(self.weights.items(), key=lambda item: -item[1])
        told = ", ".join(f"{100 * share:.0f} % {name}" for name, share in shares if share >= 0.05)
        return (
            f"{self.set:29s}{self.base:7s}{'t' if self.rolling else ' '}{self.n_cal:6d} |{self.before.mean():8.3f}"
            f"{self.after.mean():8.3f}{self.rise:+9.4f} ±{error:.4f}{changes.max():+8.3f} | {told}"
        )


HEADER = f"{'set':29s}{'base':8s}{'n_cal':>6s} |{'NLL':>8s}{'->':>8s}{'change':>9s}{'':8s}{'worst':>8s} | mean weights"


def change(name: str, base: str, folder: Path, n_splits: int, cache: Path | None) -> Change:
    """All splits of one set with one base."""
    dataset, model = load(name, folder), bases(cache)[base]
    before, after, sizes, weights = [], [], [], []
    for split in thinned_splits(dataset, n_splits, block=BLOCK):
        old, y_old, new, y_new = cross_fitted(dataset, model, split)
        with unwatched():
            stack = StackCalibrator().fit(old, y_old)
        before.append(metrics.nll(y_new, new))
        after.append(metrics.nll(y_new, stack.transform(new)))
        sizes.append(len(y_old))
        weights.append(stack.weights_)
    mean = {key: float(np.mean([w[key] for w in weights])) for key in weights[0]}
    return Change(name, base, dataset.time_ordered, round(np.mean(sizes)), np.array(before), np.array(after), mean)


def verdict(changes: list[Change]) -> tuple[bool, str]:
    """Whether no pair is worse than its base by more than 0.01."""
    harmed, better = [c for c in changes if c.rise > MOST_HARM], sum(c.rise < 0 for c in changes)
    worst = max(changes, key=lambda c: c.rise)
    return not harmed, (
        f"NLL falls on {better} of {len(changes)} pairs, by {-np.mean([c.rise for c in changes]):.3f} in the mean, and "
        f"rises by more than {MOST_HARM} on {len(harmed)}; largest {worst.set} x {worst.base} {worst.rise:+.4f}"
    )
