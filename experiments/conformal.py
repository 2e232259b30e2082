"""python -m experiments.conformal [--draws 1000] [--only coverage,...]: what conformal calibration promises, counted.

- coverage: with n = 20 and 50 rows that are ranked, intervals and sets of coverage c hold the outcome with a
  probability between c and c + 1/(n + 1), on average over draws of the rows, up to three standard errors: split for
  points, normalised, by densities, conformalised quantiles, each of two groups, around the stack (which learns from n
  more rows) with ranks of scores and of densities, and three kinds of sets, one of them in each class. Forecasts are
  biased and outcomes skewed.
- shift: features of new rows are N(1/2, 1) and not N(0, 1) as those of 500 ranked ones, and the noise grows with them;
  with the ratio known, coverage is within 0.01 of what is stated.
- peers: the numbers of crepes and MAPIE where the method is the same, to 1e-12.
- width: heteroscedastic data, five draws; intervals around the stack are at least 5 % narrower than crepes' normalised
  ones and MAPIE's conformalised quantiles, from the same rows, each stretched so that it holds exactly 90 % of 5 000
  others: by ranks of scores, which hold as much of narrow rows as of wide ones, and by densities, which do not. Base
  models are a random forest, whose spread is that of its trees, and gradient boosting of quantiles. What the stack
  makes of the features too, as MAPIE's models do, stands beside, and what each holds by quarters of the widths.
- afresh: the same by densities, and where the stack sees the features too, on twenty draws that nothing was chosen on:
  both ways were found after the first claim, of even intervals from forecasts alone, was missed on five draws.
- again: the same on forty other draws, named before any of them was made.

crepes and MAPIE are in the extra "bench"; where they lack, what needs them is left out, and says so.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr, softmax

from calibrant import ConformalCalibrator, ConformalSets, Normal, Quantiles, StackCalibrator
from experiments.cells import claim
from experiments.conformal_peers import AGAIN, peers, widths, widths_afresh

C, ROWS, FRESH = 0.9, (20, 50), 100
SLACK = 3.0  # standard errors
SHIFT, SHIFT_ROWS, SHIFT_OFF = 0.5, 500, 0.01
GROUPS = np.array(["a", "b"])

Rng = np.random.Generator
Draw = Callable[[Rng, int], Any]


# ---- coverage ----
def forecasts(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, deviations and outcomes: forecasts are biased, their widths wrong, outcomes skewed."""
    mu, sigma = rng.normal(size=n), np.exp(0.5 * rng.normal(size=n))
    return mu, sigma, mu + 0.3 + (0.5 + ndtr(mu)) * sigma * (rng.exponential(size=n) - 0.7)


def held(interval: np.ndarray, y: np.ndarray) -> float:
    """Share of outcomes in their intervals."""
    return float(((interval[:, 0] <= y) & (y <= interval[:, 1])).mean())


def _laws(calibrator: ConformalCalibrator, read: Callable[..., Any], times: int = 1) -> Draw:
    def draw(rng: Rng, n: int) -> float:
        mu, sigma, y = forecasts(rng, times * n)
        new_mu, new_sigma, new_y = forecasts(rng, FRESH)
        law = calibrator.fit(read(mu, sigma), y).transform(read(new_mu, new_sigma))
        return held(law.interval(C), new_y)

    return draw


def _grouped(rng: Rng, n: int) -> list[float]:
    groups, new = np.repeat(GROUPS, n), np.repeat(GROUPS, FRESH)
    (mu, sigma, y), (new_mu, new_sigma, new_y) = forecasts(rng, 2 * n), forecasts(rng, 2 * FRESH)
    y, new_y = (np.where(g == "a", out, 4 * out) for g, out in ((groups, y), (new, new_y)))
    calibrator = ConformalCalibrator(by="groups", map="identity").fit((mu, sigma), y, groups=groups)
    ends = calibrator.transform((new_mu, new_sigma), groups=new).interval(C)
    return [held(ends[new == g], new_y[new == g]) for g in GROUPS]


def _classes(rng: Rng, n: int, k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Overconfident probabilities and labels."""
    x = rng.normal(0, 1.2, (n, k))
    y = (softmax(x, axis=1).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return softmax(1.7 * x, axis=1), y


def _sets(sets: ConformalSets) -> Draw:
    def draw(rng: Rng, n: int) -> float:
        (p, y), (new, new_y) = _classes(rng, n), _classes(rng, FRESH)
        sets.set_params(random_state=rng).fit(p, y, classes=range(4))
        return float(sets.predict_sets(new, C)[np.arange(FRESH), new_y].mean())

    return draw


def _by_class(rng: Rng, n: int) -> list[float]:
    """The first n rows of each of two classes; a class is forecast too low."""
    found = []
    for size in (20 * n, 20 * FRESH):
        p, y = _classes(rng, size, 2)
        p = p * np.array([0.3, 1.0])
        rows = np.concatenate([np.flatnonzero(y == j)[: n if not found else FRESH] for j in (0, 1)])
        found.append((p[rows] / p[rows].sum(axis=1, keepdims=True), y[rows]))
    (p, y), (new, new_y) = found
    inside = ConformalSets(by="class").fit(p, y).predict_sets(new, C)[np.arange(len(new_y)), new_y]
    return [float(inside[new_y == j].mean()) for j in (0, 1)]


def _three(mu: np.ndarray, sigma: np.ndarray) -> Quantiles:
    return Quantiles([0.05, 0.5, 0.95], mu[:, None] + sigma[:, None] * np.array([-1.0, 0.0, 1.5]))


PLAIN = {"map": "identity"}
WAYS: dict[str, Draw] = {
    "split": _laws(ConformalCalibrator(**PLAIN), lambda mu, sigma: mu),
    "normalised": _laws(ConformalCalibrator(**PLAIN), lambda mu, sigma: (mu, sigma)),
    "cqr": _laws(ConformalCalibrator(score="cqr", **PLAIN), _three),
    "density": _laws(ConformalCalibrator(score="density", **PLAIN), lambda mu, sigma: (mu, sigma)),
    "two groups": _grouped,
    "lac": _sets(ConformalSets()),
    "aps": _sets(ConformalSets("aps", randomised=True)),
    "raps": _sets(ConformalSets("raps", randomised=True, free_classes=1)),
    "lac, two classes": _by_class,
    "stack": _laws(ConformalCalibrator(StackCalibrator(), **PLAIN), Normal, times=2),
    "stack, by densities": _laws(ConformalCalibrator(StackCalibrator(), score="density", **PLAIN), Normal, times=2),
}


def coverage(draws: int, ways: list[str]) -> Iterator[str]:
    """Mean coverage of some ways with every number of rows."""
    for name in ways:
        draw = WAYS[name]
        for n in ROWS:
            rng = np.random.default_rng(n)
            found = np.array([np.atleast_1d(draw(rng, n)) for _ in range(draws)])
            error = SLACK * found.std(axis=0, ddof=1) / np.sqrt(draws)
            mean, low, high = found.mean(axis=0), C - error, C + 1 / (n + 1) + error
            told = " and ".join(f"{m:.4f} ± {e / SLACK:.4f}" for m, e in zip(mean, error, strict=True))
            text = f"{name}, {n} rows: coverage {told}, between {C:g} and {C + 1 / (n + 1):.4f}"
            yield claim(bool(np.all((low <= mean) & (mean <= high))), text)


# ---- covariate shift ----
def shift(draws: int) -> Iterator[str]:
    """Coverage where the ratio of densities is known, learned, and not looked at."""
    rng = np.random.default_rng(1)
    names = ("known", "learned", "not looked at")
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(draws):
        x, new, others = rng.normal(size=SHIFT_ROWS), *rng.normal(SHIFT, 1, (2, SHIFT_ROWS))
        y, new_y = (np.exp(0.7 * each) * rng.normal(size=SHIFT_ROWS) for each in (x, new))
        given = {"ratio": np.exp(SHIFT * x)}, {"ratio": np.exp(SHIFT * new)}
        learned = {"X": x[:, None], "new_rows": others[:, None]}, {"X": new[:, None]}
        for name, (fit, apply) in zip(names, (given, learned, ({}, {})), strict=True):
            calibrator = ConformalCalibrator(**PLAIN).fit(0 * x, y, **fit)
            found[name].append(held(calibrator.transform(0 * new, **apply).interval(C), new_y))
    means = {name: (np.mean(each), np.std(each) / np.sqrt(draws)) for name, each in found.items()}
    told = ", ".join(f"{name} {mean:.4f} ± {error:.4f}" for name, (mean, error) in means.items())
    yield claim(abs(means["known"][0] - C) <= SHIFT_OFF, f"covariate shift: coverage with the ratio {told}")


PARTS: dict[str, Callable[[int, list[str]], Iterator[str]]] = {
    "peers": lambda draws, ways: peers(),
    "width": lambda draws, ways: widths(),
    "afresh": lambda draws, ways: widths_afresh(),
    "again": lambda draws, ways: widths_afresh(AGAIN),
    "shift": lambda draws, ways: shift(max(draws // 5, 10)),
    "coverage": coverage,
}


def main() -> int:
    """Print the claims; the exit status says whether all hold."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.conformal",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--only", help=f"some of {', '.join(PARTS)}, comma separated")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="of covering, all by default")
    options = parser.parse_args()
    asked = list(PARTS) if options.only is None else options.only.split(",")
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a stack of few rows says that it is only a map
        for name in asked:
            for line in PARTS[name](options.draws, options.way or list(WAYS)):
                print(line, flush=True)
                lines.append(line)
    return int(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
