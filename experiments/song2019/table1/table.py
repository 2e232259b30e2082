"""Cells become pairs of set and base, pairs become the page and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...cells import claim
from ...scoreboard import headline
from .cell import CROSS, GP_BETAS, NONE, OURS
from .pair import NOT_PRINTED, Pair
from .paper import BASES, MEASURES

MOST_HARM, MOST_NOISE = 0.01, 0.05
RECOMMENDED = "stack"  # named beforehand, not picked on test rows
WANTED_PUBLISHED, WANTED_OURS = 16, 20  # of 23 pairs


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
    numbers = sorted(pair.splits for pair in pairs)
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


def made_before(pairs: Sequence[Pair]) -> Iterator[str]:
    """Which pairs were not run again, and the code that made them."""
    kept: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.commit:
            kept.setdefault(pair.commit, []).append(f"{pair.set} x {pair.base}")
    yield from (f"\nMade at {commit}: {', '.join(names)}." for commit, names in kept.items())


def _cells(pair: Pair, at: int, measure: str) -> Iterator[str]:
    yield pair.set
    yield str(pair.splits)
    yield from (_number(value, measure) for value in pair.printed[measure])
    for name in pair.scores:
        mark = " !" if measure == "NLL" and name in OURS and harmful(pair, name) else ""
        yield f"{_number(pair.mean(name)[at], measure)} ± {_number(pair.error(name)[at], measure)}{mark}"
    if measure == "NLL":
        for name in (pair.best(GP_BETAS), RECOMMENDED):
            rise, error = pair.rise(name)
            yield f"{-rise:.3f} ± {error:.3f}".replace(" ± nan", "")
        yield f"{pair.paper_gain:.2f}"


def _number(value: float, measure: str) -> str:
    return f"{value:.3f}" if measure == "NLL" else f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
