"""python -m experiments.song2019.toy.table: NLL, CRPS, evenness of the PIT and CPU time on fresh rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import kstest

from calibrant import (
    DensityCalibrator,
    FlowCalibrator,
    GPBetaCalibrator,
    GPCCalibrator,
    QuantileCalibrator,
    StackCalibrator,
    metrics,
)
from calibrant.calibration import Calibrator
from calibrant.distributions import Distribution

from .toy import toy

CALIBRATORS: dict[str, Callable[[], Calibrator]] = {
    "quantile": QuantileCalibrator,
    "e-beta": DensityCalibrator,
    "GPC": GPCCalibrator,
    "GP-Beta": GPBetaCalibrator,
    "flow": FlowCalibrator,
    "stack": StackCalibrator,
}
HEADER = f"{'':10s}{'NLL':>8s}{'± s.e.':>8s}{'CRPS':>8s}{'KS of PIT':>11s}{'CPU s':>8s}"


def lines(seeds: int = 5) -> Iterator[str]:
    """One line a method, means over the seeds."""
    yield HEADER
    for name in ("base", "truth", *CALIBRATORS):
        nll, crps, ks, seconds = np.array([_score(name, seed) for seed in range(seeds)]).T
        error = nll.std(ddof=1) / np.sqrt(seeds)
        yield f"{name:10s}{nll.mean():8.3f}{error:8.3f}{crps.mean():8.3f}{ks.mean():11.3f}{seconds.mean():8.2f}"


def _score(name: str, seed: int) -> tuple[float, float, float, float]:
    old, new = toy(seed)
    start = time.process_time()
    law: Distribution
    if name in CALIBRATORS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # GP-Beta says that its PIT values are less even; the table shows it
            law = CALIBRATORS[name]().fit(old.base, old.y).transform(new.base)
    else:
        law = new.base if name == "base" else new.truth
    seconds = time.process_time() - start
    spread = float(kstest(law.cdf(new.y), "uniform").statistic)
    return float(metrics.nll(new.y, law)), float(law.crps(new.y).mean()), spread, seconds


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
