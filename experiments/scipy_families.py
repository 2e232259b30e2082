"""Is every family of SciPy's own test list read rightly, or refused in one line, and in how much time?

``python -m experiments.scipy_families`` reads each family with the parameters of SciPy's tests, two rows of it, and
compares mean, standard deviation, quantiles and CRPS with sums over SciPy's own distribution function: Gauss-Legendre
over asinh y for densities, probabilities one by one for counts. It prints a table and exits with 1 if one is wrong or
takes more than a second.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.stats._distr_params import distcont, distdiscrete

from calibrant.adapters import as_distribution

LOC, SCALE, SECONDS = np.array([0.0, 1.0]), np.array([1.0, 2.0]), 1.0
LEVELS = np.array([0.3, 0.8])  # of the outcomes
X, W = np.polynomial.legendre.leggauss(8)
MEAN, STD, CRPS, QUANTILE = 1e-6, 3e-5, 1e-6, 1e-7  # relative errors allowed: SciPy's own are near these


class Verdict(NamedTuple):
    """What was found: ``refused`` holds the message, ``wrong`` what differs; seconds of the processor."""

    name: str
    seconds: float
    refused: str
    wrong: list[str]


def families() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Name, family and shapes of SciPy's test list."""
    for name, shapes in [*distcont, *distdiscrete]:
        family = getattr(stats, name) if isinstance(name, str) else name
        yield (name if isinstance(name, str) else "rv_discrete"), family, shapes


def tried(name: str, family: Any, shapes: tuple[Any, ...]) -> Verdict:
    """Read two rows, ask everything, compare."""
    discrete = isinstance(family, stats.rv_discrete)
    frozen = family(*shapes, loc=LOC) if discrete else family(*shapes, loc=LOC, scale=SCALE)
    line = (
        stats.vonmises_line(*shapes, loc=LOC, scale=SCALE) if name == "vonmises" else frozen
    )  # outcomes lie on a line
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            law = as_distribution(frozen)
            y = law.ppf(LEVELS)
            found = {"mean": law.mean(), "std": law.std(), "crps": law.crps(y), "cdf": law.cdf(y)}
            found |= {"interval": law.interval(0.9)}
    except (ValueError, TypeError) as reason:
        return Verdict(name, time.process_time() - start, str(reason), [])
    seconds = time.process_time() - start
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = _by_sums(frozen, y) if discrete else _by_integrals(line, y, law.tail_index)
        expected |= {"cdf": line.cdf(y), "interval": np.stack(line.interval(0.9), axis=-1)}
    different = {what: value for what, value in expected.items() if not _agrees(what, found[what], value)}
    wrong = [f"{what} {np.ravel(found[what])}, not {np.ravel(value)}" for what, value in different.items()]
    return Verdict(name, seconds, "", wrong)


def _agrees(what: str, found: Any, expected: Any) -> bool:
    rtol = {"mean": MEAN, "std": STD, "crps": CRPS}.get(what, QUANTILE)
    return bool(np.all(np.isclose(found, expected, rtol=rtol, atol=1e-7 if what == "mean" else 1e-9)))


def _by_integrals(frozen: Any, y: Any, tail_index: Any) -> dict[str, Any]:
    """Mean, standard deviation and CRPS from F, row by row."""
    rows = [_integrals(_one_row(frozen, row), y[row], tail_index[row], LOC[row], SCALE[row]) for row in range(2)]
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def _one_row(frozen: Any, row: int) -> Any:
    shapes = [np.ravel(a)[row] if np.size(a) == 2 else a for a in frozen.args]
    return frozen.dist(*shapes, **{key: np.ravel(value)[row] for key, value in frozen.kwds.items()})


def _integrals(one: Any, y: float, tail_index: float, loc: float, scale: float) -> dict[str, float]:
    """Gauss-Legendre over asinh((x - loc) / scale), on panels that end at y, at loc and where F begins and ends."""
    low, high = (_end(one, y, scale, side, end) for side, end in zip((-1, 1), one.support(), strict=True))
    cuts = np.arcsinh((np.unique(np.clip([low, loc, y, high], low, high)) - loc) / scale)
    shares = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, 121))  # small panels at both ends
    edges = np.unique(np.concatenate([a + (b - a) * shares for a, b in itertools.pairwise(cuts)]))
    half = 0.5 * np.diff(edges)
    t = (edges[:-1] + half)[:, None] + half[:, None] * X
    x, weight = loc + scale * np.sinh(t), half[:, None] * W * scale * np.cosh(t)
    away = x - y
    below, tail = away < 0, np.empty(x.shape)
    tail[below], tail[~below] = -np.nan_to_num(one.cdf(x[below])), np.nan_to_num(one.sf(x[~below]))
    first, second = (weight * tail).sum(), (weight * 2 * away * tail).sum()
    return {
        "mean": y + first if tail_index > 1 else np.inf,
        "std": np.sqrt(second - first**2) if tail_index > 2 else np.inf,
        "crps": (weight * tail**2).sum() if tail_index > 0.5 else np.inf,
    }


def _end(one: Any, y: float, scale: float, side: int, end: float) -> float:
    """Where a tail is nothing, or falls no more but for noise, by doubling steps; or the end of the support."""
    before = 1.0
    for step in scale * 2.0 ** np.arange(-2, 100):
        at = float(y + side * step)
        if side * (at - end) >= 0:
            return end
        tail = one.sf(at) if side > 0 else one.cdf(at)
        if not tail > 1e-60 or (tail < 1e-8 and tail > 0.9 * before):
            break
        before = tail
    return at


def _by_sums(frozen: Any, y: Any) -> dict[str, Any]:
    """The same for counts, from single probabilities and all pairs."""
    low, high = (np.broadcast_to(end, 2).astype(float) for end in frozen.support())
    low, high = np.where(np.isinf(low), LOC - 400, low).min(), np.where(np.isinf(high), LOC + 2000, high).max()
    k = np.arange(low, high + 1)
    p = frozen.pmf(k[:, None]).T
    mean = p @ k
    distance = np.abs(k[:, None] - k)
    crps = (p * np.abs(k - y[:, None])).sum(axis=1) - 0.5 * (p @ distance * p).sum(axis=1)
    return {"mean": mean, "std": np.sqrt((p * (k - mean[:, None]) ** 2).sum(axis=1)), "crps": crps}


def main() -> int:
    """Print a line a family, and how many are right, refused, wrong or slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these families")
    names = parser.parse_args().names
    verdicts = []
    for case in families():
        if not names or case[0] in names:
            verdicts.append(v := tried(*case))
            print(f"{v.name:24}{v.seconds:7.3f} s  {v.refused or '; '.join(v.wrong) or 'right'}")
    wrong, slow = [v for v in verdicts if v.wrong], [v for v in verdicts if v.seconds > SECONDS]
    refused = [v for v in verdicts if v.refused]
    right = len(verdicts) - len(wrong) - len(refused)
    print(f"{len(verdicts)} families: {right} right, {len(refused)} refused, {len(wrong)} wrong, {len(slow)} slow")
    return 1 if wrong or slow else 0


if __name__ == "__main__":
    sys.exit(main())
