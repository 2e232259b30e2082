"""python -m experiments.harmless [--quick]: four tables by simulation, a few minutes on one core."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri

from calibrant.maps import fit_isotonic, fit_spline

from .cases import FIXABLE, RIGHT, Case
from .discrete import KINDS, change

HARM = {30: 0.012, 50: 0.009, 200: 0.0015, 500: 0.001}
GAIN = {200: 0.85, 2000: 0.96}
COVER = {0.5: 0.01, 0.9: 0.006, 0.99: 0.003, 0.999: 0.0012}


def main() -> int:
    """Print the tables; the exit status says whether every limit is kept."""
    parser = argparse.ArgumentParser(prog="python -m experiments.harmless", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a quarter of the draws")
    part = 4 if parser.parse_args().quick else 1
    verdicts = []
    for title, table in (
        ("nothing is wrong: mean rise of NLL, nats", harmless(part)),
        ("something is: share of the possible gain of NLL", fixable(part)),
        ("rounded and zero-inflated outcomes: change of CRPS", discrete(part)),
        ("σ too small, 20 000 rows: coverage of 200 000 fresh ones", tails()),
    ):
        print(f"\n{title}")
        for kept, line in table:
            verdicts.append(kept)
            print(f"  {line}  {'' if kept else 'BEYOND THE LIMIT'}".rstrip(), flush=True)
    return int(not all(verdicts))


def harmless(part: int = 1) -> Iterator[tuple[bool, str]]:
    """Calibrated scores."""
    for n, limit in HARM.items():
        draws = (400 if n == 30 else 200) // part
        spline, papers = rises(n, draws)
        error = spline.std() / np.sqrt(draws)
        yield (
            bool(spline.mean() <= limit),
            f"n {n:4d}  spline {spline.mean():.5f} ± {error:.5f} (limit {limit})  isotonic {papers.mean():.3f}",
        )


def rises(n: int, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Rise of the expected NLL by the default and by the papers' map, one a draw."""
    spline, papers = [], []
    for draw in range(draws):
        z = RIGHT.sample(np.random.default_rng([n, draw, 0]), n)
        spline.append(RIGHT.nll(fit_spline(z)) - RIGHT.truth)
        papers.append(RIGHT.nll(fit_isotonic(z)) - RIGHT.truth)
    return np.array(spline), np.array(papers)


def fixable(part: int = 1) -> Iterator[tuple[bool, str]]:
    """Scores with something to mend."""
    for case in FIXABLE:
        means = {n: shares(case, n, 40 // part).mean() for n in GAIN}
        kept = all(means[n] >= limit for n, limit in GAIN.items())
        yield (
            bool(kept),
            f"{case.name:15s} possible {case.base - case.truth:7.3f}  "
            + "  ".join(f"n {n:4d} {mean:.3f}" for n, mean in means.items()),
        )


def shares(case: Case, n: int, draws: int) -> np.ndarray:
    """Share won, one a draw."""
    fits = (fit_spline(case.sample(np.random.default_rng([n, draw, 1]), n)) for draw in range(draws))
    return np.array([case.share(fitted) for fitted in fits])


def discrete(part: int = 1) -> Iterator[tuple[bool, str]]:
    """Atoms."""
    for kind in KINDS:
        rise = {n: change(kind, n, max(12 // part, 1), fit_spline) for n in (30, 100, 500, 5000)}
        yield max(rise.values()) <= 0.02, f"{kind:28s} " + "  ".join(f"n {n:4d} {r:+.3f}" for n, r in rise.items())


def tails() -> Iterator[tuple[bool, str]]:
    """Central intervals far out."""
    for factor in (2.0, 8.0):
        rng = np.random.default_rng(int(factor))
        fitted = fit_spline(rng.normal(0.0, factor, 20_000))
        fresh = rng.normal(0.0, factor, 200_000)
        covered = {level: float(np.mean(np.abs(fitted(fresh)) <= ndtri(0.5 + 0.5 * level))) for level in COVER}
        finite = bool(np.isfinite(0.5 * fitted(fresh) ** 2 - fitted.log_slope(fresh)).all())
        kept = finite and all(abs(covered[level] - level) <= limit for level, limit in COVER.items())
        yield kept, f"σ /{factor:g}  " + "  ".join(f"{level} {c:.4f}" for level, c in covered.items())


if __name__ == "__main__":
    sys.exit(main())
