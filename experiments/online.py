"""python -m experiments.online [--data FOLDER] [--mapie PYTHON]: calibration in a drifting world, claim by claim.

Simulated: scores on which nothing is wrong, and such whose spread jumps from 1 to 3 to .5; sequences chosen to break
promised coverages. Real: five data sets in the order of time, a Bayesian ridge and a forest that are fitted anew at
five origins, and each later row forecast before it is learned; panels by series. Beside it, on the same forecasts: a
map fitted to the first 100 rows and kept (static), quantiles of the last 300 scores (rolling), adaptive conformal
inference and quantile tracking on them, and MAPIE's EnbPI where ``--mapie`` names a Python that has it. Rows after the
first 100 of each series count.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import Normal, OnlineCalibrator, QuantileCalibrator, save
from experiments import data
from experiments.cells import claim

SETS = ("stock", "appliances_energy", "retail_bakery_daily", "yaz_steak_daily", "retail_favorita_family_daily")
BASES = ("forest", "ridge")
KNOWN, WINDOW = 100, 300
ENDS = ndtri(np.array([0.05, 0.95]))
STEPS = 3_000
ADVERSE = 10_000
RIVALS = ("rolling", "ACI", "tracking", "EnbPI")
HERE = Path(__file__).parent


class Rolled(NamedTuple):
    """Forecasts of rows in the order of time, outcomes, series and times."""

    mu: np.ndarray
    sd: np.ndarray
    y: np.ndarray
    g: np.ndarray
    t: np.ndarray


# ---- simulated ----
def followed(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log densities of scores forecast one by one, and 90 % intervals."""
    calibrator, logs, ends = OnlineCalibrator(), np.empty(len(z)), np.empty((len(z), 2))
    base = Normal([0.0], 1.0)
    for row, score in enumerate(z):
        law = calibrator.transform(base)
        logs[row], ends[row] = law.logpdf([score])[0], law.interval(0.9)[0]
        calibrator.update(base, [score])
    return logs, ends


def calm(rng: np.random.Generator) -> Iterator[str]:
    """What it costs where nothing is wrong."""
    z = rng.normal(size=STEPS)
    cost = float(np.mean(Normal(np.zeros(STEPS), 1.0).logpdf(z) - followed(z)[0]))
    yield claim(cost <= 0.005, f"calm: {cost:.4f} nats a row over {STEPS} steps")


def jumps(rng: np.random.Generator) -> Iterator[str]:
    """How soon it follows, and whether intervals cover between the jumps."""
    spread = np.repeat([1.0, 3.0, 0.5], STEPS // 3)
    z = spread * rng.normal(size=STEPS)
    logs, ends = followed(z)
    behind = float(np.mean(Normal(np.zeros(STEPS), spread).logpdf(z) - logs))
    yield claim(behind <= 0.05, f"jumps: {behind:.4f} nats a row behind knowing the spread")
    inside = ((z >= ends[:, 0]) & (z <= ends[:, 1])).reshape(3, -1)[:, KNOWN:]
    shares = np.concatenate([np.convolve(part, np.full(WINDOW, 1 / WINDOW), "valid") for part in inside])
    low, high = shares.min(), shares.max()
    yield claim(low >= 0.82 and high <= 0.97, f"jumps: windows of {WINDOW} cover from {low:.3f} to {high:.3f}")


def adversaries() -> dict[str, Callable[[int, np.ndarray], float]]:
    """Outcomes chosen when both intervals are known, lower ends first; 0 where there is no room outside."""
    known = np.nan_to_num
    return {
        "above the interval": lambda row, q: float(q[3] + 1) if np.isfinite(q[3]) else 0.0,
        "at either end in turn": lambda row, q: float(known(q[3 * (row % 2)], posinf=0, neginf=0) + row % 2 - 0.5),
        "in the middle": lambda row, q: float(known(q[1:3], neginf=-1.0, posinf=1.0).mean()),
        "ever farther": lambda row, q: float(1.002 ** min(row, 9_000) * (-1) ** (row // 7)),
        "the same": lambda row, q: 0.3,
    }


def adverse(pick: Callable[[int, np.ndarray], float], steps: int) -> np.ndarray:
    """Coverages of intervals that promise .5 and .9."""
    calibrator, base, inside = OnlineCalibrator(coverages=(0.5, 0.9)), Normal([0.0], 1.0), np.zeros((steps, 2))
    for row in range(steps):
        law = calibrator.transform(base)
        half, nine = law.interval(0.5)[0], law.interval(0.9)[0]
        y = pick(row, np.array([nine[0], half[0], half[1], nine[1]]))
        inside[row] = half[0] <= y <= half[1], nine[0] <= y <= nine[1]
        calibrator.update(base, [y])
    return np.asarray(inside.mean(axis=0))


def promised(steps: int) -> Iterator[str]:
    """Promised coverages, whatever comes."""
    for name, pick in adversaries().items():
        half, nine = adverse(pick, steps)
        right = max(abs(half - 0.5), abs(nine - 0.9)) <= 0.01
        yield claim(right, f"outcomes {name}: {half:.4f} of .5 and {nine:.4f} of .9 covered in {steps} steps")


# ---- speed and size ----
def speed(rng: np.random.Generator) -> Iterator[str]:
    """Rows a CPU second, bytes, and rows that come twice."""
    rows = 10**6
    mu = rng.normal(size=rows)
    y = mu + 2 * rng.normal(size=rows)
    one = OnlineCalibrator()
    start = time.process_time()
    for row in range(2_000):
        one.update((mu[[row]], np.ones(1)), y[[row]], ids=[row])
    rate = 2_000 / (time.process_time() - start)
    yield claim(rate >= 1e3, f"{rate:,.0f} single updates a CPU second")
    many = OnlineCalibrator()
    start = time.process_time()
    many.update(Normal(mu, 1.0), y)
    rate = rows / (time.process_time() - start)
    yield claim(rate >= 1e6, f"{rate:,.0f} rows of a batch a CPU second")
    many.update(Normal(mu, 1.0), y, ids=np.arange(rows))
    before = many.transform(Normal([0.0], 1.0)).quantiles([0.05, 0.5, 0.95])
    with tempfile.TemporaryDirectory() as folder:
        save(many, Path(folder) / "state")
        size = (Path(folder) / "state").stat().st_size
    yield claim(size <= 2**20, f"{size:,d} bytes of state after {many.n_rows_:,d} rows")
    last = slice(rows - 30_000, rows)
    many.update(Normal(mu[last], 1.0), y[last], ids=np.arange(rows)[last])
    same = np.array_equal(many.transform(Normal([0.0], 1.0)).quantiles([0.05, 0.5, 0.95]), before)
    yield claim(same and many.new_rows_ == 0, f"{many.repeated_rows_:,d} rows that come again change nothing")


# ---- real ----
def rolled(name: str, base: str, folder: str | None, cache: Path | None) -> Rolled:
    """Forecasts of the second half of a set, by models fitted at five origins to all before."""
    path = None if cache is None else cache / f"{name}_{base}.npz"
    if path is not None and path.is_file():
        known = np.load(path)
        return Rolled(*(known[field] for field in Rolled._fields))
    given = data.load(name, folder, by_time=True)
    groups = np.zeros(len(given), dtype=int) if given.groups is None else given.groups
    parts = []
    for train, test in data.splits(given, 5, block=0.1):
        mu, sd = _forecast(base, given.X[train], given.y[train], given.X[test])
        parts.append((mu, sd, given.y[test], groups[test], given.time[test]))
    found = Rolled(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **found._asdict())
    return found


def _forecast(base: str, X: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if base == "ridge":
        mu, sd = make_pipeline(StandardScaler(), BayesianRidge()).fit(X, y).predict(new, return_std=True)
        return mu, sd
    forest = RandomForestRegressor(100, min_samples_leaf=3, max_features=1 / 3, random_state=0, oob_score=True)
    forest.fit(X, y)
    return forest.predict(new), np.full(len(new), np.sqrt(np.mean((y - forest.oob_prediction_) ** 2)))


def online(rows: Rolled) -> tuple[np.ndarray, np.ndarray]:
    """Log densities and intervals (in predicted deviations) of each time, forecast before it is learned."""
    calibrator, logs, ends = OnlineCalibrator(), np.empty(len(rows.y)), np.empty((len(rows.y), 2))
    panel = len(np.unique(rows.g)) > 1
    for now in np.split(np.arange(len(rows.y)), np.flatnonzero(np.diff(rows.t)) + 1):
        base, beside = Normal(rows.mu[now], rows.sd[now]), {"groups": rows.g[now]} if panel else {}
        law = calibrator.transform(base, **beside)
        logs[now] = law.logpdf(rows.y[now])
        ends[now] = (law.interval(0.9) - rows.mu[now, None]) / rows.sd[now, None]
        calibrator.update(base, rows.y[now], **beside)
    return logs, ends


def static(rows: Rolled) -> np.ndarray:
    """Log densities under maps of the first rows of each series."""
    logs = np.empty(len(rows.y))
    for mine in _series(rows):
        law = Normal(rows.mu[mine], rows.sd[mine])
        fitted = QuantileCalibrator().fit(law[:KNOWN], rows.y[mine][:KNOWN])
        logs[mine] = fitted.transform(law).logpdf(rows.y[mine])
    return logs


def _series(rows: Rolled) -> list[np.ndarray]:
    return [np.flatnonzero(rows.g == group) for group in np.unique(rows.g)]


def rolling(z: np.ndarray) -> np.ndarray:
    """Quantiles of the last scores."""
    return np.array([ENDS if t < 20 else np.quantile(z[max(0, t - WINDOW) : t], [0.05, 0.95]) for t in range(len(z))])


def conformal(z: np.ndarray, rate: float = 0.01) -> np.ndarray:
    """Adaptive conformal inference (Gibbs & Candès 2021) on the last scores, for each end."""
    ends, miss = np.tile(ENDS, (len(z), 1)), np.array([0.05, 0.05])
    for t in range(20, len(z)):
        known, p = z[max(0, t - WINDOW) : t], np.clip(miss, 0.0, 0.5)
        low, high = np.quantile(known, [p[0], 1 - p[1]])
        ends[t] = -np.inf if p[0] <= 0 else low, np.inf if p[1] <= 0 else high
        miss = miss + rate * (0.05 - np.array([z[t] < ends[t, 0], z[t] > ends[t, 1]]))
    return ends


def tracking(z: np.ndarray, rate: float = 0.1) -> np.ndarray:
    """Quantile tracking (Angelopoulos et al. 2023), steps a tenth of the range of the last hundred scores."""
    ends, q = np.empty((len(z), 2)), np.quantile(z[:20], [0.05, 0.95])
    for t in range(len(z)):
        ends[t] = q
        step = rate * (np.ptp(z[max(0, t - 100) : t + 1]) if t else 1.0)
        q = q + step * (np.array([0.05, 0.95]) - (z[t] < q))
    return ends


def enbpi(rows: Rolled, python: str | None) -> np.ndarray | None:
    """MAPIE's EnbPI, in its own environment."""
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given.npz", Path(folder) / "found.npy"
        np.savez(given, mean=rows.mu, y=rows.y, groups=rows.g)
        subprocess.run([python, str(HERE / "enbpi.py"), str(given), str(found)], check=True)
        return np.asarray((np.load(found) - rows.mu[:, None]) / rows.sd[:, None])


def interval_score(z: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Of 90 % intervals, in predicted deviations; an infinite one counts 1 000."""
    low, high = ends.T
    missed = np.maximum(low - z, 0) + np.maximum(z - high, 0)
    return np.minimum(high - low + 20 * missed, 1e3)


def pair(rows: Rolled, python: str | None) -> dict[str, Any]:
    """Measures of one data set and base."""
    z = (rows.y - rows.mu) / rows.sd
    counts = np.zeros(len(z), dtype=bool)
    ends = {name: np.tile(ENDS, (len(z), 1)) for name in RIVALS[:3]}
    rivals: dict[str, Callable[[np.ndarray], np.ndarray]] = {"rolling": rolling, "ACI": conformal, "tracking": tracking}
    for mine in _series(rows):
        counts[mine[KNOWN:]] = True
        for name, method in rivals.items():
            ends[name][mine] = method(z[mine])
    logs, ends["online"] = online(rows)
    other = enbpi(rows, python)
    if other is not None:
        ends["EnbPI"] = other
    scores = {name: float(interval_score(z, each)[counts].mean()) for name, each in ends.items()}
    inside = (z >= ends["online"][:, 0]) & (z <= ends["online"][:, 1])
    gain = float((logs - static(rows))[counts].mean())
    return {"gain": gain, "covered": float(inside[counts].mean()), "scores": scores}


def real(folder: str | None, python: str | None, cache: Path | None, most: int) -> Iterator[str]:
    """All pairs, and the claims about them."""
    found = []
    for name in SETS:
        for base in BASES:
            rows = rolled(name, base, folder, cache)
            one = pair(Rolled(*(column[:most] for column in rows)), python)
            scores = ", ".join(f"{key} {value:.3f}" for key, value in one["scores"].items())
            yield f"      {name}, {base}: gains {one['gain']:.3f} nats, covers {one['covered']:.3f}; scores: {scores}"
            found.append(one)
    gains, covered = np.array([one["gain"] for one in found]), np.mean([one["covered"] for one in found])
    yield claim(gains.min() >= -0.01, f"never worse than static by more than .01: least gain {gains.min():.3f}")
    yield claim(int((gains > 0).sum()) >= 9, f"better than static in {int((gains > 0).sum())} of {len(gains)}")
    yield claim(gains.mean() >= 0.5, f"mean gain {gains.mean():.3f} nats")
    for name in RIVALS:
        if name in found[0]["scores"]:
            won = sum(one["scores"]["online"] < one["scores"][name] for one in found)
            yield claim(won >= 9, f"interval score below that of {name} in {won} of {len(found)}")
        else:
            yield f"      {name} was not run: name a Python that has it"
    yield claim(0.89 <= covered <= 0.93, f"mean coverage {covered:.3f}")


def main() -> int:
    """Print the claims; the exit status says whether all hold."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.online", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of data sets; CALIBRANT_DATA by default")
    parser.add_argument("--mapie", help="Python of an environment that has MAPIE")
    parser.add_argument("--cache", type=Path, help="folder where forecasts of the base models are kept")
    parser.add_argument("--only", help="calm, jumps, speed, promised, real; comma separated")
    parser.add_argument("--steps", type=int, default=ADVERSE, help="of sequences that are chosen to break promises")
    parser.add_argument("--rows", type=int, default=10**9, help="of each data set, at most")
    options, lines = parser.parse_args(), []
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "calm": lambda: calm(np.random.default_rng(0)),
        "jumps": lambda: jumps(np.random.default_rng(1)),
        "speed": lambda: speed(np.random.default_rng(2)),
        "promised": lambda: promised(options.steps),
        "real": lambda: real(options.data, options.mapie, options.cache, options.rows),
    }
    for name in parts if options.only is None else options.only.split(","):
        for line in parts[name]():
            print(line, flush=True)
            lines.append(line)
    return int(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    raise SystemExit(main())
