"""Cells become pairs, pairs become the printed table and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..cells import claim

LEVELS = np.arange(1, 11) / 10
FLOOR = float(np.sum(LEVELS * (1 - LEVELS)))  # 1.65: a perfect forecast's expected calibration error is 1.65 / n_test
WANTED_SHARE, WANTED_FALL, MOST_HARM = 0.90, 0.12, 0.01


@dataclass(frozen=True, slots=True)
class Pair:
    """One set with one base: means over the splits, before and after recalibration."""

    set: str
    base: str
    rolling: bool
    n_cal: int
    n_test: int
    nll_before: float
    nll_after: float
    worst_split: float
    crps_before: float
    crps_after: float
    ce_before: float
    ce_after: float
    a2_before: float
    a2_after: float
    cov90_before: float
    cov90_after: float

    @classmethod
    def of(cls, name: str, base: str, rolling: bool, cells: Sequence[dict[str, Any]]) -> Pair:
        """Average the cells of all splits; the worst split is kept to be honest about single ones."""
        means: dict[str, float] = {}
        for measure in ("nll", "crps", "ce", "a2", "cov90"):
            for when in ("before", "after"):
                means[f"{measure}_{when}"] = float(np.mean([cell[when][measure] for cell in cells]))
        worst = max(cell["after"]["nll"] - cell["before"]["nll"] for cell in cells)
        n_cal, n_test = (round(float(np.mean([cell[key] for cell in cells]))) for key in ("n_cal", "n_test"))
        return cls(name, base, rolling, n_cal, n_test, worst_split=worst, **means)

    @property
    def floor(self) -> float:
        """Expected calibration error of a perfect forecast: the sum of p(1-p)/n_test over the levels."""
        return FLOOR / self.n_test

    @property
    def floor_after(self) -> float:
        """The same where the map was learned from n_cal rows."""
        return FLOOR / self.n_test + FLOOR / self.n_cal

    @property
    def d_nll(self) -> float:
        """Change of the mean NLL; negative is better."""
        return self.nll_after - self.nll_before

    @property
    def miscalibrated(self) -> bool:
        """Whether the base starts above twice its noise floor."""
        return self.ce_before > 2 * self.floor

    def record(self) -> dict[str, Any]:
        """Everything, flat, for a file."""
        extra = {name: getattr(self, name) for name in ("floor", "floor_after", "d_nll", "miscalibrated")}
        return {**asdict(self), **extra}


HEADER = (
    f"{'set':29s}{'base':9s}{'n_cal':>6s}{'n_test':>7s} |{'NLL':>8s}{'->':>8s}{'change':>8s}{'worst':>7s}"
    f" |{'CRPS':>9s}{'->':>9s} |{'CE':>7s}{'->':>7s}{'floor':>7s}{'+cal':>7s} |{'A2':>8s}{'->':>7s}"
    f" |{'cov90':>6s}{'->':>6s}"
)


def lines(pairs: Sequence[Pair]) -> Iterator[str]:
    """The table, one line a pair; * marks pairs that start above twice their noise floor, t rolling splits."""
    yield HEADER
    for p in pairs:
        yield (
            f"{p.set:29s}{p.base:9s}{p.n_cal:6d}{p.n_test:7d}"
            f" |{p.nll_before:8.3f}{p.nll_after:8.3f}{p.d_nll:+8.3f}{p.worst_split:+7.2f}"
            f" |{p.crps_before:9.4g}{p.crps_after:9.4g}"
            f" |{p.ce_before:7.4f}{p.ce_after:7.4f}{p.floor:7.4f}{p.floor_after:7.4f}"
            f" |{p.a2_before:8.2f}{p.a2_after:7.2f} |{p.cov90_before:6.3f}{p.cov90_after:6.3f}"
            f" {'*' if p.miscalibrated else ' '}{'t' if p.rolling else ' '}"
        )


def verdict(pairs: Sequence[Pair]) -> Iterator[str]:
    """The three claims, each with PASS or FAIL."""
    bad = [p for p in pairs if p.miscalibrated]
    falls = sum(p.ce_after < p.ce_before for p in bad)
    share = falls / len(bad) if bad else 1.0
    change = float(np.mean([p.d_nll for p in pairs]))
    worst = max(pairs, key=lambda p: p.d_nll)
    harmed = sum(p.d_nll > MOST_HARM for p in pairs)
    ce = [float(np.mean([getattr(p, f"ce_{when}") for p in pairs])) for when in ("before", "after")]
    yield f"{len(pairs)} pairs; mean calibration error {ce[0]:.4f} -> {ce[1]:.4f}"
    yield f"{sum(p.rolling for p in pairs)} pairs have rolling splits (t): their rows and splits depend on each other,"
    yield "so their true floors are higher and twenty splits say less than twenty."
    yield claim(share >= WANTED_SHARE, f"calibration error falls on {falls} of {len(bad)} pairs marked * ({share:.1%})")
    yield claim(change <= -WANTED_FALL, f"mean NLL changes by {change:+.4f} over all pairs (-{WANTED_FALL} is wanted)")
    where = f"{worst.set} x {worst.base} {worst.d_nll:+.4f}"
    yield claim(not harmed, f"NLL rises by more than {MOST_HARM} on {harmed} pairs; worst {where}")
