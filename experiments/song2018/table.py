"""Scores of folds become a table of methods by numbers of thresholds, and the claims about it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant.calibration.pit_watch import unwatched

from ..cells import claim, known
from ..data import load
from ..scoreboard import headline
from .protocol import (
    ON_A_GRID,
    PARTS,
    POINTS,
    PROBIT,
    PUBLISHED,
    WITHOUT,
    folds,
    forecast,
    log_likelihood,
    parts,
    thresholds,
)

Array = NDArray[np.float64]
NONE = "uncalibrated"
STACK = "ours, stack"
PAPERS = (*PUBLISHED, *PROBIT)
ENOUGH = 16  # thresholds: with fewer the paper's methods mostly lose there too


class Pair(NamedTuple):
    """One set with one base: numbers of thresholds, and log likelihoods (folds, numbers) by method."""

    set: str
    base: str
    counts: tuple[int, ...]
    scores: dict[str, Array]

    @classmethod
    def of(cls, name: str, base: str, counts: tuple[int, ...], cells: Sequence[dict[str, list[float]]]) -> Pair:
        """From the finished folds of the pair."""
        return cls(name, base, counts, {key: np.array([cell[key] for cell in cells]) for key in cells[0]})

    def gain(self, name: str, over: str, at: int) -> tuple[float, float]:
        """Mean gain of a method over another at the number of thresholds in this place; its paired standard error."""
        gains = self.scores[name][:, at] - self.scores[over][:, at]
        return float(gains.mean()), float(_error(gains[:, None])[0])

    @property
    def papers(self) -> tuple[str, ...]:
        """The paper's methods that were run."""
        return tuple(name for name in PAPERS if name in self.scores)

    def best(self, at: int) -> str:
        """The paper's method with the highest mean at the number of thresholds in this place."""
        return max(self.papers, key=lambda name: float(self.scores[name][:, at].mean()))

    def best_of_all(self) -> tuple[str, int]:
        """The paper's method and the place of its number of thresholds that have the highest mean of all."""
        places = [(name, at) for at in range(len(self.counts)) for name in self.papers]
        return max(places, key=lambda place: float(self.scores[place[0]][:, place[1]].mean()))

    def summary(self) -> dict[str, Any]:
        """For the results file."""
        told = {
            name: {"mean": scores.mean(axis=0).tolist(), "error": [known(e) for e in _error(scores)]}
            for name, scores in self.scores.items()
        }
        return {"set": self.set, "base": self.base, "folds": len(self.scores[NONE]), "at": self.counts, **told}


def _error(scores: Array) -> Array:
    """Standard errors of means; of a single fold there is none."""
    if len(scores) == 1:
        return np.full(scores.shape[1], np.nan)
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(len(scores)))


def cell(
    name: str, base: str, place: tuple[int, int], counts: tuple[int, ...], part: str, folder: Path | None
) -> dict[str, list[float]]:
    """The methods of a part on one fold of one repetition: log likelihoods by number of thresholds."""
    dataset = load(name, folder)
    split = list(folds(dataset, place[0]))[place[1]]
    y_old, y_new = dataset.y[split.train], dataset.y[split.test]
    with unwatched(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = forecast(base, dataset.X[split.train], y_old, dataset.X[split.test])
        three, grid = parts(dataset, base, split), thresholds(y_old, POINTS)
        out = {NONE: [log_likelihood([whole], y_new, None)] * len(counts)}
        for key, make in PARTS[part].items():
            levels = (thresholds(y_old, count) for count in counts)
            laws = ([make(t).fit(one.old, one.y).transform(one.new) for one in three] for t in levels)
            out[key] = [log_likelihood(law, y_new, grid if key in ON_A_GRID else None) for law in laws]
        for key, plain in WITHOUT.items() if part == "ours" else ():
            law = [plain().fit(one.old, one.y).transform(one.new) for one in three]
            out[key] = [log_likelihood(law, y_new, None)] * len(counts)
    return out


def page(pairs: Sequence[Pair], methods: str = "") -> Iterator[str]:
    """Markdown: mean ± standard error of the log likelihood, a line a method, a column a number of thresholds."""
    told = "log likelihood by number of thresholds, mean ± standard error over folds"
    yield f"# Song et al. (2018), figure 6{methods}: {told}"
    for pair in pairs:
        n = len(pair.scores[NONE])
        yield f"\n## {pair.set} x {pair.base}: {n} {'fold' if n == 1 else 'folds'}\n"
        yield f"| | {' | '.join(map(str, pair.counts))} |"
        yield "|---" + "|---:" * len(pair.counts) + "|"
        for name, scores in pair.scores.items():
            told = [f"{m:.3f} ± {e:.3f}" for m, e in zip(scores.mean(axis=0), _error(scores), strict=True)]
            yield f"| {name} | {' | '.join(told)} |".replace("nan", "–")


def verdict(pairs: Sequence[Pair]) -> Iterator[str]:
    """The claims, each with PASS or FAIL: the paper's, pair by pair and set by set, and that of the stack."""
    lost: dict[str, list[str]] = {pair.set: [] for pair in pairs}
    for pair in pairs:
        places = [at for at, count in enumerate(pair.counts) if count >= ENOUGH]
        gains = [(pair.counts[at], pair.best(at), pair.gain(pair.best(at), NONE, at)[0]) for at in places]
        told = ", ".join(f"{count} {name} {gain:+.3f}" for count, name, gain in gains)
        lost[pair.set] += [pair.base for _, _, gain in gains if gain <= 0]
        yield f"      {pair.set} x {pair.base}: best of the paper's methods over {NONE}, by thresholds: {told}"
    held = [name for name, bases in lost.items() if not bases]
    where = "; ".join(f"{name} x {', '.join(dict.fromkeys(bases))}" for name, bases in lost.items() if bases)
    text = f"with {ENOUGH} thresholds or more one of the paper's methods beats {NONE} throughout on {len(held)} of "
    yield claim(len(held) == len(lost), f"{text}{len(lost)} sets{f'; not on {where}' if where else ''}")
    yield from _stack(pairs)
    yield from by_set(pairs, pairs[0].papers, "the paper's methods")
    numbers = sorted(len(pair.scores[NONE]) for pair in pairs)
    yield f"      from {numbers[0]} to {numbers[-1]} folds a pair; the best of the paper's methods are picked on them"


def headlines(pairs: Sequence[Pair]) -> list[dict[str, str]]:
    """For each set, the log likelihood that is gained over none, mean of its bases."""
    sets = dict.fromkeys(pair.set for pair in pairs)
    return [_headline(name, [pair for pair in pairs if pair.set == name]) for name in sets]


def _headline(name: str, pairs: Sequence[Pair]) -> dict[str, str]:
    places = [at for at, count in enumerate(pairs[0].counts) if count >= ENOUGH]
    gains = np.array([[pair.gain(pair.best(at), NONE, at)[0] for at in places] for pair in pairs])
    told = ", ".join(f"{gain:+.3f} with {pairs[0].counts[at]}" for at, gain in zip(places, gains.mean(0), strict=True))
    stack = float(np.mean([pair.gain(STACK, NONE, 0)[0] for pair in pairs]))
    return headline(
        f"figure 6, {name}: log likelihood gained over none, mean of {len(pairs)} bases",
        f"above 0 from {ENOUGH} thresholds on",
        f"{told} thresholds, the best of three methods",
        f"{stack:+.3f} by the stack",
        _reached(pairs, gains),
    )


def _reached(pairs: Sequence[Pair], gains: Array) -> str:
    """Whether the best of the paper's methods gain in the mean of the bases, and with which of them they do not."""
    not_with = ", ".join(pair.base for pair, own in zip(pairs, gains, strict=True) if not (own > 0).all())
    told = "yes" if (gains.mean(axis=0) > 0).all() else "**no**"
    return f"{told}, not with {not_with} alone" if not_with else told


def by_set(pairs: Sequence[Pair], methods: Sequence[str], what: str) -> Iterator[str]:
    """The same two claims of whole sets: means over the bases."""
    sets = {name: [pair for pair in pairs if pair.set == name] for name in dict.fromkeys(pair.set for pair in pairs)}
    gains = {name: _mean_gains(mine, methods) for name, mine in sets.items()}  # (methods, numbers of thresholds)
    enough = [at for at, count in enumerate(pairs[0].counts) if count >= ENOUGH]
    held = [name for name, gain in gains.items() if (gain[:, enough].max(axis=0) > 0).all()]
    alone = [name for i, name in enumerate(methods) if all((gain[i, enough] > 0).all() for gain in gains.values())]
    told = f"{', '.join(alone) or 'none'} by itself on all"
    text = f"mean of the bases: with {ENOUGH} thresholds or more one of {what} beats {NONE} throughout on"
    yield claim(len(held) == len(sets), f"{text} {len(held)} of {len(sets)} sets; {told}")
    ahead = {n: np.mean([p.gain(STACK, NONE, 0)[0] for p in mine]) - gains[n].max() for n, mine in sets.items()}
    margins = ", ".join(f"{name} {margin:+.3f}" for name, margin in ahead.items())
    text = f"mean of the bases: the stack beats each of {what} at any number of thresholds: {margins}"
    yield claim(all(margin > 0 for margin in ahead.values()), text)


def _mean_gains(pairs: Sequence[Pair], methods: Sequence[str]) -> Array:
    """Gains of methods over none, mean of bases, (methods, numbers of thresholds)."""
    places = range(len(pairs[0].counts))
    return np.array([[np.mean([p.gain(name, NONE, at)[0] for p in pairs]) for at in places] for name in methods])


def _stack(pairs: Sequence[Pair]) -> Iterator[str]:
    """Whether the stack is better than the paper's methods, each with the thresholds that suit it best."""
    behind = []
    for pair in pairs:
        name, at = pair.best_of_all()
        gain, error = pair.gain(STACK, name, at)
        if gain <= 0:
            told = f"{gain:+.3f} ±{error:.3f}".replace(" ±nan", "")
            behind.append(f"{pair.set} x {pair.base} {told} to {name} with {pair.counts[at]}")
    told = f"; not {'; '.join(behind)}" if behind else ""
    text = f"the stack beats each of the paper's methods at any number of thresholds on {len(pairs) - len(behind)} of "
    yield claim(not behind, f"{text}{len(pairs)} pairs{told}")
    gains = [pair.gain(STACK, name, at)[0] for pair in pairs for name in pair.papers for at in range(len(pair.counts))]
    beaten = sum(gain > 0 for gain in gains)
    yield f"      of all methods of the paper, numbers of thresholds and pairs it beats {beaten} of {len(gains)}"
