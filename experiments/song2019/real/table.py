"""Scores become pairs of set and base, pairs become the printed table and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant import metrics
from calibrant.distributions import Distribution

Array = NDArray[np.float64]
NONE = "none"
MEASURES = ("NLL", "CRPS", "pinball", "A²")
MOST_HARM, MOST_NOISE, WANTED_SETS = 0.01, 0.05, 4
# Song et al. (2019), table 1: NLL of the base and of the best GP-Beta, one random split
PAPER = {
    "OLS": {
        "diabetes": (5.37, 5.34),
        "boston_housing": (3.04, 2.83),
        "airfoil_self_noise": (2.99, 2.92),
        "forest_fires": (1.94, 1.81),
        "concrete": (3.76, 3.71),
        "appliances_energy": (5.94, 5.44),
    },
    "ridge": {
        "diabetes": (5.33, 5.28),
        "boston_housing": (2.94, 2.73),
        "airfoil_self_noise": (2.96, 2.89),
        "forest_fires": (1.83, 1.80),
        "concrete": (3.76, 3.73),
        "appliances_energy": (5.96, 5.41),
    },
}
SETS = tuple(PAPER["OLS"])


class Pair(NamedTuple):
    """One set with one base: by calibrator, a line of scores for each split."""

    set: str
    base: str
    scores: dict[str, Array]

    def mean(self, name: str) -> Array:
        """Mean scores over the splits."""
        return np.asarray(self.scores[name].mean(axis=0))

    def error(self, name: str) -> Array:
        """Their standard errors."""
        return _error(self.scores[name])

    def rise(self, name: str) -> tuple[float, float]:
        """Mean rise of the NLL over the base's, and its paired standard error."""
        rises = self.scores[name][:, :1] - self.scores[NONE][:, :1]
        return float(rises.mean()), float(_error(rises)[0])

    @property
    def best(self) -> str:
        """The calibrator with the lowest mean NLL."""
        return min((name for name in self.scores if name != NONE), key=lambda name: float(self.mean(name)[0]))

    @property
    def paper_gain(self) -> float:
        """By how much the paper's best GP-Beta improves the NLL of its base."""
        before, after = PAPER[self.base][self.set]
        return round(before - after, 2)


def _error(scores: Array) -> Array:
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(len(scores)))


def measure(y: Array, law: Distribution) -> Array:
    """Mean NLL, mean CRPS, A², and the pinball loss as the paper has it: summed over rows, averaged over 19 levels."""
    pinball = metrics.pinball_loss(y, law) * len(y)
    return np.array([metrics.nll(y, law), metrics.crps(y, law), pinball, metrics.anderson_darling(y, law)])


def lines(pair: Pair) -> Iterator[str]:
    """Mean ± standard error of every measure, a line a calibrator; ! where the NLL rises too much."""
    head = "".join(f"{name:>19s}" for name in MEASURES)
    yield f"\n{pair.set} x {pair.base:8s}"
    yield f"{'':10s}{head}{'rise of NLL':>20s}"
    for name in pair.scores:
        cells = "".join(
            f"{mean:11.4g} ±{error:6.2g}" for mean, error in zip(pair.mean(name), pair.error(name), strict=True)
        )
        rise, error = pair.rise(name)
        yield f"{name:10s}{cells}{rise:+12.4f} ±{error:6.4f}{' !' if harmful(pair, name) else ''}".rstrip()


def harmful(pair: Pair, name: str) -> bool:
    """Whether the mean NLL rises by more than 0.01 and one paired standard error, of which at most 0.05 excuses."""
    rise, error = pair.rise(name)
    return rise > max(MOST_HARM, min(error, MOST_NOISE))


def verdict(pairs: Sequence[Pair]) -> Iterator[str]:
    """The claims, each with PASS or FAIL: gains of each base by itself, harm of each calibrator over all pairs."""
    for base in PAPER:
        mine = [pair for pair in pairs if pair.base == base]
        for name in ("best", "stack") if mine else ():
            gains = [(pair, -pair.rise(pair.best if name == "best" else name)[0]) for pair in mine]
            reached = sum(gain >= pair.paper_gain for pair, gain in gains)
            told = ", ".join(f"{pair.set} {gain:.3f} ({pair.paper_gain:.2f})" for pair, gain in gains)
            text = f"{base}: {name} gains as much as the paper's best GP-Beta on {reached} of {len(mine)} sets: {told}"
            yield _claim(reached >= WANTED_SETS, text) if name == "best" else f"      {text}"
    for name in pairs[0].scores:
        if name != NONE:
            worst = max(pairs, key=lambda pair: pair.rise(name)[0])
            rise, error = worst.rise(name)
            count = sum(harmful(pair, name) for pair in pairs)
            where = f"{worst.set} x {worst.base} {rise:+.4f} ±{error:.4f}"
            yield _claim(not count, f"{name} raises the NLL beyond its limit on {count} pairs; largest {where}")


def _claim(holds: bool, text: str) -> str:
    return f"{'PASS' if holds else 'FAIL'}  {text}"
