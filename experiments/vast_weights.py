"""python -m experiments.vast_weights: weights of a trillion rows each do not slow fits.

Every calibrator learns from 30, 60 and 300 rows, once with weight 1 and once with weight 1e12: forecasts that are too
narrow and a little off, two modes where one is forecast, or counts that spread too wide; points and class
probabilities that are too sure. CPU seconds are the least of some fits, in turn; those with vast weights may be half as
many again, and a fiftieth of a second. Beside them is the log score of fresh rows after both.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from benchmarks.timing import cpu_seconds
from calibrant import Normal, Poisson, metrics
from calibrant.adapters.class_scores import ClassScores
from calibrant.calibration.contract import fit_with, transform_with
from calibrant.distributions import Distribution
from experiments.cost import FEATURES, Contestant, contestants

ROWS, FRESH = (30, 60, 300), 3_000
VAST = 1e12
TIMES, MORE = 1.5, 0.02  # that are allowed, and seconds


class Sample(NamedTuple):
    """Forecasts, outcomes and features of some rows."""

    forecasts: Any
    y: np.ndarray
    X: np.ndarray


class Verdict(NamedTuple):
    """Seconds and log scores with weight 1 and with vast weights."""

    seconds: tuple[float, float]
    losses: tuple[float, float]

    @property
    def holds(self) -> bool:
        """Whether vast weights take hardly longer."""
        return self.seconds[1] <= TIMES * self.seconds[0] + MORE


def narrow(rng: np.random.Generator, n: int) -> tuple[Distribution, np.ndarray]:
    """Outcomes spread twice as wide as forecast."""
    mu, sigma = rng.normal(0.0, 2.0, n), np.exp(rng.normal(0.0, 0.5, n))
    return Normal(mu, sigma), mu + 0.3 + 2 * sigma * rng.standard_normal(n)


def two_modes(rng: np.random.Generator, n: int) -> tuple[Distribution, np.ndarray]:
    """Outcomes are near 0 or near twice the forecast."""
    mu = rng.uniform(0.0, 10.0, n)
    return Normal(mu, 5.0), mu * rng.choice([0.0, 2.0], n) + rng.normal(size=n)


def counts(rng: np.random.Generator, n: int) -> tuple[Distribution, np.ndarray]:
    """Counts of rounded rates, which spread wider than forecast; some rows come several times."""
    rate = np.exp(rng.normal(1.0, 0.5, n)).round(1) + 0.1
    return Poisson(rate), rng.poisson(rate * rng.gamma(4.0, 0.25, n)).astype(float)


LAWS: dict[str, Callable[[np.random.Generator, int], tuple[Distribution, np.ndarray]]] = {
    "narrow": narrow,
    "two modes": two_modes,
    "counts": counts,
}


def samples(contestant: Contestant, n: int, seed: int = 0) -> Iterator[tuple[str, Sample, Sample]]:
    """What each is tried on: a name, rows to learn from, and fresh ones."""
    known, fresh = np.random.default_rng([n, seed]), np.random.default_rng([n, seed, 1])
    if contestant.what in ("laws", "points"):
        for name, make in LAWS.items() if contestant.what == "laws" else [("narrow", narrow)]:
            yield name, *(_of_laws(make, rng, rows, contestant.what) for rng, rows in ((known, n), (fresh, FRESH)))
        return
    k = 2 if contestant.what == "two classes" else 3
    yield "too sure", *(_of_classes(rng, rows, k) for rng, rows in ((known, n), (fresh, FRESH)))


def refused(contestant: Contestant, old: Sample) -> str | None:
    """Why it does not take such forecasts, with weights or without; None where it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit_with(clone(contestant.calibrator), old.forecasts, old.y, X=old.X)
        except ValueError as reason:
            return str(reason)
    return None


def verdict(contestant: Contestant, old: Sample, new: Sample, repeats: int = 3) -> Verdict:
    """CPU seconds of fits with either weights in turn, and log scores of fresh rows."""
    seconds, losses = [np.inf, np.inf], [np.nan, np.nan]
    kinds = (None, np.full(len(old.y), VAST))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows, marginal calibration
        for turn in range(repeats):
            for i, weights in enumerate(kinds):
                made = clone(contestant.calibrator)

                def task(made: Any = made, weights: Any = weights) -> None:
                    fit_with(made, old.forecasts, old.y, sample_weight=weights, X=old.X)

                seconds[i] = min(seconds[i], cpu_seconds(task, 1))
                if turn == 0:
                    losses[i] = _loss(made, new)
    return Verdict((seconds[0], seconds[1]), (losses[0], losses[1]))


def _of_laws(make: Any, rng: np.random.Generator, n: int, what: str) -> Sample:
    law, y = make(rng, n)
    return Sample(law.loc if what == "points" else law, y, rng.normal(size=(n, FEATURES)))


def _of_classes(rng: np.random.Generator, n: int, k: int) -> Sample:
    logits = rng.normal(0.0, 1.2, (n, k))
    p, sure = (np.exp(c * logits) / np.exp(c * logits).sum(axis=1, keepdims=True) for c in (1.0, 2.0))
    labels = (p.cumsum(axis=1) < rng.uniform(size=(n, 1))).sum(axis=1)
    return Sample(ClassScores(sure, classes=np.arange(k)), labels, rng.normal(size=(n, FEATURES)))


def _loss(fitted: Any, new: Sample) -> float:
    made = transform_with(fitted, new.forecasts, X=new.X)
    if isinstance(new.forecasts, ClassScores):
        with np.errstate(divide="ignore"):
            return float(-np.mean(np.log(np.asarray(made)[np.arange(len(new.y)), new.y])))
    if not isinstance(made, Distribution):
        return float(np.mean(np.square(new.y - made)))
    return float(metrics.nll(new.y, made))


def main() -> int:
    """Print a line a calibrator, kind of data and number of rows; the exit status says whether all are as quick."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.vast_weights",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", help="names of calibrators")
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--repeats", type=int, default=3, help="fits, of which the quickest counts")
    options = parser.parse_args()
    chosen = [each for each in contestants() if options.only is None or each.name in options.only]
    print(f"{'forecasts':14s}{'calibrator':20s}{'data':10s}{'rows':>5s}  CPU s: 1, vast  times   log score: 1, vast")
    held = []
    for contestant in chosen:
        for n in options.rows:
            for name, old, new in samples(contestant, n):
                if (reason := refused(contestant, old)) is not None:
                    print(f"{contestant.what:14s}{contestant.name:20s}{name:10s}{n:5d}  {reason}", flush=True)
                    continue
                found = verdict(contestant, old, new, options.repeats)
                held.append(found.holds)
                print(
                    f"{contestant.what:14s}{contestant.name:20s}{name:10s}{n:5d}  "
                    f"{found.seconds[0]:7.3f}{found.seconds[1]:7.3f} {found.seconds[1] / found.seconds[0]:6.2f}"
                    f"{' ' if found.holds else '*'}  {found.losses[0]:9.4f}{found.losses[1]:9.4f}",
                    flush=True,
                )
    print(f"{'PASS' if all(held) else 'FAIL'}  {sum(held)} of {len(held)} fits with vast weights are as quick")
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())
