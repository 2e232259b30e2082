"""Scores of folds become a table of methods by numbers of thresholds, and the paper's claims of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant.calibration.pit_watch import unwatched

from ..data import load
from .protocol import METHODS, ON_A_GRID, PAPERS, POINTS, folds, forecast, log_likelihood, parts, thresholds

Array = NDArray[np.float64]
NONE = "uncalibrated"
FEW = 8  # thresholds with which the paper's methods mostly lose too


class Pair(NamedTuple):
    """One set with one base: numbers of thresholds, and log likelihoods (folds, numbers) by method."""

    set: str
    base: str
    counts: tuple[int, ...]
    scores: dict[str, Array]

    def best(self, count: int) -> str:
        """The paper's method with the highest mean at this number of thresholds."""
        at = self.counts.index(count)
        return max(PAPERS, key=lambda name: float(self.scores[name][:, at].mean()))


def cell(name: str, base: str, place: tuple[int, int], counts: tuple[int, ...], folder: Path) -> dict[str, Array]:
    """All methods on one fold of one repetition: log likelihoods by number of thresholds."""
    dataset = load(name, folder)
    split = list(folds(dataset, place[0]))[place[1]]
    y_old, y_new = dataset.y[split.train], dataset.y[split.test]
    whole = forecast(base, dataset.X[split.train], y_old, dataset.X[split.test])
    three, grid = parts(dataset, base, split), thresholds(y_old, POINTS)
    out = {NONE: np.full(len(counts), log_likelihood([whole], y_new, None))}
    with unwatched(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key, make in METHODS.items():
            levels = (thresholds(y_old, count) for count in counts)
            laws = ([make(t).fit(part.old, part.y).transform(part.new) for part in three] for t in levels)
            out[key] = np.array([log_likelihood(law, y_new, grid if key in ON_A_GRID else None) for law in laws])
    return out


def lines(pair: Pair) -> Iterator[str]:
    """Mean ± standard error of the log likelihood, a line a method, a column a number of thresholds."""
    yield f"\n{pair.set} x {pair.base}: log likelihood by number of thresholds"
    yield f"{'':14s}" + "".join(f"{count:>18d}" for count in pair.counts)
    for name, scores in pair.scores.items():
        mean, error = scores.mean(axis=0), scores.std(axis=0) / np.sqrt(max(len(scores) - 1, 1))
        yield f"{name:14s}" + "".join(f"{m:10.3f} ±{e:6.3f}" for m, e in zip(mean, error, strict=True))


def verdict(pairs: Sequence[Pair]) -> Iterator[str]:
    """The paper's claim: beyond 8 thresholds one of its methods (picked on these folds) is better than none."""
    for pair in pairs:
        for at, count in enumerate(pair.counts):
            name = pair.best(count)
            gains = pair.scores[name][:, at] - pair.scores[NONE][:, at]
            holds = "PASS" if gains.mean() > 0 else "FAIL"
            text = f"{pair.set} x {pair.base}, {count} thresholds: {name} {gains.mean():+.3f} over {NONE}"
            yield f"{holds}  {text}" if count > FEW else f"      {text}"
