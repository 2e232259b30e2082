"""Cells become pairs of set and base, pairs become the page and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...cells import claim, known
from ...scoreboard import headline
from .cell import CROSS, GP_BETAS, NONE, OURS
from .paper import BASES, MEASURES, PAPER, Printed

Array = NDArray[np.float64]
MOST_HARM, MOST_NOISE = 0.01, 0.05
RECOMMENDED = "stack"  # named beforehand, not picked on test rows
WANTED_PUBLISHED, WANTED_OURS = 16, 20  # of 23 pairs
NOT_PRINTED = dict.fromkeys(MEASURES, Printed(np.nan, np.nan, np.nan))


class Pair(NamedTuple):
    """One set with one base: by method, the measures of each split, (splits, measures)."""

    set: str
    base: str
    scores: dict[str, Array]

    @classmethod
    def of(cls, name: str, base: str, cells: Sequence[dict[str, dict[str, float]]]) -> Pair:
        """From the finished cells of the pair."""
        columns = {key: [[cell[key][measure] for measure in MEASURES] for cell in cells] for key in cells[0]}
        return cls(name, base, {key: np.array(rows) for key, rows in columns.items()})

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

    def best(self, names: Sequence[str]) -> str:
        """The method with the lowest mean NLL."""
        return min((name for name in names if name in self.scores), key=lambda name: float(self.mean(name)[0]))

    @property
    def printed(self) -> dict[str, Printed]:
        """The paper's numbers by measure."""
        return PAPER.get(self.base, {}).get(self.set, NOT_PRINTED)

    @property
    def paper_gain(self) -> float:
        """By how much the paper's best GP-Beta improves the NLL of its base."""
        return round(self.printed["NLL"].base - self.printed["NLL"].gp_beta, 2)

    def reaches(self, name: str) -> bool:
        """Whether the method gains at least as much as the paper's best GP-Beta, within one standard error."""
        rise, error = self.rise(name)
        return bool(-rise + np.nan_to_num(error) >= self.paper_gain)

    def is_as_low(self, name: str) -> bool:
        """Whether the NLL is at or below that of the paper's best GP-Beta, within one standard error."""
        return bool(self.mean(name)[0] - np.nan_to_num(self.error(name)[0]) <= self.printed["NLL"].gp_beta)

    def summary(self) -> dict[str, Any]:
        """For the results file."""
        told = {
            name: {measure: [float(m), known(e)] for measure, m, e in zip(MEASURES, mean, error, strict=True)}
            for name, mean, error in ((name, self.mean(name), self.error(name)) for name in self.scores)
        }
        return {"set": self.set, "base": self.base, "splits": len(self.scores[NONE]), "mean and error": told}


def _error(scores: Array) -> Array:
    """Standard errors of means; of a single split there is none."""
    if len(scores) == 1:
        return np.full(scores.shape[1], np.nan)
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(len(scores)))


def harmful(pair: Pair, name: str) -> bool:
    """Whether the mean NLL rises by more than 0.01 and one paired standard error, of which at most 0.05 excuses."""
    rise, error = pair.rise(name)
    return rise > max(MOST_HARM, min(float(np.nan_to_num(error)), MOST_NOISE))


def verdict(pairs: Sequence[Pair]) -> Iterator[str]:
    """The claims, each with PASS or FAIL; what is told beside them has neither."""
    printed = [pair for pair in pairs if pair.printed is not NOT_PRINTED]
    every = {
        "GP-Beta as published (best of four)": [(pair, pair.best(GP_BETAS)) for pair in printed],
        f"{RECOMMENDED}": [(pair, RECOMMENDED) for pair in printed],
        "GP-Beta as published, 32 points, cross-fitted": [(pair, CROSS) for pair in printed if CROSS in pair.scores],
        "the best of ours": [(pair, pair.best(OURS)) for pair in printed],
    }
    wanted = dict(zip(every, (WANTED_PUBLISHED, WANTED_OURS), strict=False))
    numbers = sorted(len(pair.scores[NONE]) for pair in pairs)
    yield f"      from {numbers[0]} to {numbers[-1]} splits a pair; where there is one, no error is allowed for"
    for title, chosen in every.items():
        reached, low = (sum(test(pair, name) for pair, name in chosen) for test in (Pair.reaches, Pair.is_as_low))
        text = f"{title} gains as much as the paper's best GP-Beta on {reached} of {len(chosen)} pairs"
        text += f" (and its NLL is as low on {low}){missed_pairs(chosen)}"
        yield claim(reached >= min(wanted[title], len(chosen)), text) if title in wanted else f"      {text}"
    for name in (name for name in OURS if name in pairs[0].scores):
        worst = max(pairs, key=lambda pair: pair.rise(name)[0])
        rise, error = worst.rise(name)
        count = sum(harmful(pair, name) for pair in pairs)
        where = f"{worst.set} x {worst.base} {rise:+.4f} ±{error:.4f}".replace(" ±nan", "")
        yield claim(not count, f"{name} raises the NLL beyond its limit on {count} pairs; largest {where}")


def headlines(pairs: Sequence[Pair]) -> list[dict[str, str]]:
    """For each base, the NLL that is gained over it."""
    return [_headline(title, mine) for base, title in BASES.items() if (mine := _printed(pairs, base))]


def _printed(pairs: Sequence[Pair], base: str) -> list[Pair]:
    return [pair for pair in pairs if pair.base == base and pair.printed is not NOT_PRINTED]


def _headline(title: str, pairs: Sequence[Pair]) -> dict[str, str]:
    published = [pair.best(GP_BETAS) for pair in pairs]
    ours = [RECOMMENDED] * len(pairs)

    def gained(names: Sequence[str]) -> str:
        return f"{np.median([-pair.rise(name)[0] for pair, name in zip(pairs, names, strict=True)]):.2f}"

    reached = [sum(pair.reaches(name) for pair, name in zip(pairs, names, strict=True)) for names in (published, ours)]
    return headline(
        f"table 1, {title}: NLL gained over the base, median of {len(pairs)} sets",
        f"{np.median([pair.paper_gain for pair in pairs]):.2f}",
        f"{gained(published)} by the best of four",
        f"{gained(ours)} by the {RECOMMENDED}",
        f"faithful on {reached[0]} of {len(pairs)} sets, best on {reached[1]}",
    )


def missed_pairs(best: Sequence[tuple[Pair, str]]) -> str:
    """What was gained where a method gains less than the paper's best GP-Beta."""
    missed = [(pair, name) for pair, name in best if not pair.reaches(name)]
    gains = [
        f"{pair.set} x {pair.base} {-pair.rise(name)[0]:.3f} ±{pair.rise(name)[1]:.3f} of {pair.paper_gain:.2f}, "
        f"from {pair.mean(NONE)[0]:.2f} (theirs {pair.printed['NLL'].base:.2f})"
        for pair, name in missed
    ]
    return f"; not {'; '.join(gains)}".replace(" ±nan", "") if gains else ""


def page(pairs: Sequence[Pair]) -> Iterator[str]:
    """Markdown: a table for each base and measure."""
    yield "# Song et al. (2019), table 1: means ± standard errors over random splits\n"
    yield (
        "Isotonic and GPB (GP-Beta with 8 to 64 learned inducing points) learn, as in the paper, from forecasts of the "
        "rows that the base was trained on; GPB 32 cf and all after it from cross-fitted ones. A gain is of the NLL, "
        "over the base, with its paired error. ! marks a calibrator of ours that raises the NLL beyond its limit."
    )
    for base, title in BASES.items():
        mine = [pair for pair in pairs if pair.base == base]
        for at, measure in enumerate(MEASURES) if mine else ():
            names = list(mine[0].scores)
            gains = ["GPB gains", f"{RECOMMENDED} gains", "paper's"] if measure == "NLL" else []
            head = ["set", "splits", "paper: base", "isotonic", "best GPB", *names, *gains]
            yield f"\n## {title}: {measure}\n"
            yield f"| {' | '.join(head)} |"
            yield "|---" + "|---:" * (len(head) - 1) + "|"
            for pair in mine:
                yield f"| {' | '.join(_cells(pair, at, measure))} |".replace("nan", "–")


def _cells(pair: Pair, at: int, measure: str) -> Iterator[str]:
    yield pair.set
    yield str(len(pair.scores[NONE]))
    yield from (_number(value, measure) for value in pair.printed[measure])
    for name in pair.scores:
        mark = " !" if measure == "NLL" and name in OURS and harmful(pair, name) else ""
        yield f"{_number(pair.mean(name)[at], measure)} ± {_number(pair.error(name)[at], measure)}{mark}"
    if measure == "NLL":
        for name in (pair.best(GP_BETAS), RECOMMENDED):
            rise, error = pair.rise(name)
            yield f"{-rise:.3f} ± {error:.3f}"
        yield f"{pair.paper_gain:.2f}"


def _number(value: float, measure: str) -> str:
    return f"{value:.3f}" if measure == "NLL" else f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
