"""The tasks of `benchmarks.floor`: run on one copy of the package, whichever PYTHONPATH names.

``python -m benchmarks.floor_tasks TASK FOLDER SIDE`` writes SIDE.npz: the results, the best CPU seconds and the place
of the package. What is fitted once is saved in the folder by the first side and loaded by the second, so that both
have the same laws.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

import calibrant
from calibrant import (
    DensityCalibrator,
    FlowCalibrator,
    Gamma,
    GPBetaCalibrator,
    GPCCalibrator,
    NegativeBinomial,
    Normal,
    Poisson,
    QuantileCalibrator,
    StackCalibrator,
    StudentT,
    metrics,
)
from calibrant.distributions import Truncated

from .timing import cpu_seconds

Work = Callable[[], Any]
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
CONDITIONAL = {
    "GP-Beta": GPBetaCalibrator,
    "stack": StackCalibrator,
    "flow": FlowCalibrator,
    "density": DensityCalibrator,
    "GPC": GPCCalibrator,
}


def rows(n: int, seed: int = 0) -> tuple[Normal, np.ndarray]:
    """Forecasts whose outcomes are skewed, and wider where the mean is large."""
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0, 10, n)
    y = mu + (0.5 + mu / 5) * np.where(rng.random(n) < 0.5, 1.0, 2.0) * rng.standard_normal(n)
    return Normal(mu, 2.0), y


def kept(folder: Path, name: str, make: Callable[[], Any], old: tuple[Normal, np.ndarray]) -> Any:
    """The calibrator of this name, fitted by whoever comes first."""
    path = folder / f"{name}.calibrant"
    if not path.exists():
        calibrant.save(make().fit(*old), path)
    return calibrant.load(path)


def conditional(name: str, n: int, folder: Path) -> tuple[Any, np.ndarray]:
    new, y = rows(n, 1)
    return kept(folder, name, CONDITIONAL[name], rows(1000)).transform(new), y


def moments(name: str, n: int = 1000) -> Callable[[Path], Work]:
    def prepare(folder: Path) -> Work:
        law, y = conditional(name, n, folder)
        return lambda: np.stack([law.mean(), law.std(), law.crps(y)])

    return prepare


def shared_crps(map: str, n: int = 100_000, *, first: bool = False) -> Callable[[Path], Work]:
    """With tables that are there already, or those of a new map each time."""

    def prepare(folder: Path) -> Work:
        new, y = rows(n, 1)
        calibrator = kept(folder, map, lambda: QuantileCalibrator(map), rows(3000))
        return lambda: (deepcopy(calibrator) if first else calibrator).transform(new).crps(y)

    return prepare


def bootstrap(folder: Path) -> Work:
    new, y = rows(2_000, 1)
    law = kept(folder, "beta", lambda: QuantileCalibrator("beta"), rows(3000)).transform(new)

    def work() -> np.ndarray:
        found = metrics.bootstrap_interval(metrics.crps, y, law, n_resamples=200)
        return np.array([found.value, found.low, found.high])

    return work


def variance(folder: Path) -> Work:
    law, _ = conditional("flow", 500, folder)
    return lambda: law.components[-1][:].var()  # laws keep what they worked out


def truncated(folder: Path, n: int = 2_000) -> Work:
    rng = np.random.default_rng(0)
    loc, scale = rng.normal(0, 1, n), rng.uniform(0.5, 2, n)
    low = loc - 1.2 * scale
    high = np.where(rng.random(n) < 0.5, np.inf, loc + 2 * scale)
    y = low + scale * rng.uniform(0, 0.5, n)
    law = Truncated(Normal(loc, scale), low, high)
    return lambda: np.stack([law.mean(), law.std(), law.crps(y)])


def student(folder: Path, n: int = 100_000) -> Work:
    rng = np.random.default_rng(0)
    law = StudentT(rng.normal(0, 1, n), rng.uniform(0.5, 2, n), 5.0)
    return lambda: law.quantiles(LEVELS)


def counts(name: str, n: int = 50_000) -> Callable[[Path], Work]:
    def prepare(folder: Path) -> Work:
        rate, shape = np.exp(np.random.default_rng(0).uniform(np.log(0.3), np.log(300), (2, n)))
        law = {"Poisson": Poisson(rate), "NegBin": NegativeBinomial(rate, 0.5), "Gamma": Gamma(shape, 1.0)}[name]
        return lambda: law.quantiles(LEVELS)

    return prepare


def density_fit(folder: Path) -> Work:
    old, y = rows(1000)
    new, y_new = rows(500, 1)
    return lambda: DensityCalibrator().fit(old, y).transform(new).cdf(y_new)


def classes(name: str, n: int = 1_000_000) -> Callable[[Path], Work]:
    def prepare(folder: Path) -> Work:
        rng = np.random.default_rng(0)
        x = rng.normal(0, 2, (n, 3))
        y = (x @ np.array([[0.6, 0.1, 0.0], [0.0, 0.8, 0.1], [0.1, 0.0, 0.5]]) + rng.gumbel(size=x.shape)).argmax(
            axis=1
        )
        calibrator = getattr(calibrant, name)(scores_are="logits")
        return lambda: calibrator.fit(x, y).transform(x[:1000])

    return prepare


def ecdf(folder: Path, n: int = 10_000_000) -> Work:
    rng = np.random.default_rng(0)
    calibrator = QuantileCalibrator("ecdf").fit(Normal(np.zeros(n), 1.0), rng.standard_t(5, n))
    law, y = calibrator.transform(Normal(np.zeros(1_000_000), 1.0)), rng.standard_t(5, 1_000_000)
    return lambda: law.cdf(y)


def interval(folder: Path) -> Work:
    law, _ = conditional("stack", 5000, folder)
    return law.interval


def forecast(name: str, n: int = 20_000) -> Callable[[Path], Work]:
    def prepare(folder: Path) -> Work:
        new, _ = rows(n, 1)
        calibrator = kept(folder, name, CONDITIONAL[name], rows(1000))
        return lambda: calibrator.transform(new).quantiles(LEVELS)

    return prepare


def gpc_transform(folder: Path) -> Work:
    new, y = rows(2000, 1)
    calibrator = kept(folder, "GPC", GPCCalibrator, rows(1000))
    return lambda: calibrator.transform(new).cdf(y)


def decisions(n: int) -> Callable[[Path], Work]:
    def prepare(folder: Path) -> Work:
        rng = np.random.default_rng(0)
        p = rng.beta(1, 4, n)
        y = (rng.random(n) < p**1.3).astype(int)
        return lambda: calibrant.DecisionCalibrator("macro").fit(p, y).predict(p[:100])

    return prepare


TASKS: dict[str, tuple[Callable[[Path], Work], int]] = {  # what is timed, and how often
    **{f"moments {name}": (moments(name), 1) for name in CONDITIONAL},
    **{f"crps {name}": (shared_crps(name), 3) for name in ("spline", "beta", "isotonic", "ecdf")},
    **{f"first crps {name}": (shared_crps(name, first=True), 3) for name in ("spline", "beta", "isotonic")},
    "bootstrap": (bootstrap, 1),
    "variance": (variance, 2),
    "truncated": (truncated, 1),
    "student": (student, 7),
    "density fit": (density_fit, 3),
    **{f"fit {name}": (classes(f"{name}Calibrator"), 1) for name in ("Vector", "Dirichlet")},
    **{f"quantiles {name}": (counts(name), 2) for name in ("Poisson", "NegBin", "Gamma")},
    "ecdf": (ecdf, 3),
    "interval stack": (interval, 2),
    "transform GPC": (gpc_transform, 1),
    **{f"forecast {name}": (forecast(name), 1) for name in CONDITIONAL},
    "decisions 1e5": (decisions(100_000), 3),
    "decisions 1e6": (decisions(1_000_000), 2),
}


def main(task: str, folder: str, side: str) -> None:
    warnings.simplefilter("ignore")  # what is forecast is not at stake
    prepare, repeats = TASKS[task]
    work, results = prepare(Path(folder)), list[Any]()
    seconds = cpu_seconds(lambda: results.append(work()), repeats)
    np.savez(Path(folder) / f"{side}.npz", result=results[0], seconds=seconds, place=str(calibrant.__file__))


if __name__ == "__main__":
    main(*sys.argv[1:])
