"""python -m experiments.song2019.toy.modes: how many modes each calibrator's densities have along x.

Song et al. (2019, §5) say that GP-Beta recovers the two modes of the truth towards the right. On data as described it
cannot: a beta map gives a normal law two modes only where a = b < √(1 - π/4) ≈ 0.46 (c = 0), and the best map of
outcomes at x = 30 has a ≈ 0.63.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.signal import find_peaks

from calibrant import FlowCalibrator, GPBetaCalibrator, Normal, QuantileCalibrator, StackCalibrator
from calibrant.calibration import Calibrator
from calibrant.distributions import Distribution

from .toy import toy, truth

PLACES = np.array([0.0, 10.0, 20.0, 25.0, 30.0, 35.0, 39.5])
GRID = np.linspace(-15.0, 35.0, 2001)
LEAST = 0.05  # of the highest density: what a mode stands out by
CALIBRATORS: dict[str, Callable[[], Calibrator]] = {
    "isotonic": lambda: QuantileCalibrator("isotonic"),
    "GP-Beta": GPBetaCalibrator,
    "GP-Beta 32": lambda: GPBetaCalibrator(32, kernel="embedding", inducing="learned", base_map=None),
    "flow": FlowCalibrator,
    "stack": StackCalibrator,
}


def count_modes(law: Distribution) -> np.ndarray:
    """Local maxima of each density that stand out."""
    densities = np.pad(law.pdf(GRID[None, :]), ((0, 0), (1, 1)))
    return np.array([len(find_peaks(line, prominence=LEAST * line.max())[0]) for line in densities])


def laws(seed: int, n: int = 360) -> dict[str, Distribution]:
    """Truth, straight line and calibrated forecasts at the places."""
    data, _ = toy(seed, n, fresh=1)
    slope, intercept = np.polyfit(data.x, data.base.loc, 1)
    base = Normal(slope * PLACES + intercept, data.base.scale[0])
    out: dict[str, Distribution] = {"truth": truth(PLACES), "none": base}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PIT values that are less even are not the question here
        return out | {name: make().fit(data.base, data.y).transform(base) for name, make in CALIBRATORS.items()}


def lines(seeds: int = 5) -> Iterator[str]:
    """One line a method: modes at each place, means over the seeds."""
    found = [{name: count_modes(law) for name, law in laws(seed).items()} for seed in range(seeds)]
    yield f"{'modes at x =':14s}" + "".join(f"{x:7g}" for x in PLACES)
    for name in found[0]:
        yield f"{name:14s}" + "".join(f"{k:7.1f}" for k in np.mean([one[name] for one in found], axis=0))


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
