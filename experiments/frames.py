"""python -m experiments.frames: long frames of forecasts, calibrated step by step ahead.

A thousand made series of months with trend, season and autocorrelated heavy-tailed errors, like the airline passengers
but many. Forecasts are a seasonal naive model's, with the width that its errors in sample have; where statsforecast is
installed, its own `SeasonalNaive` and `Naive` make the frames. Two years of origins are learned from, the year after is
judged: 90 % intervals cover 90 % within 2 points at each of twelve steps ahead, in pandas and polars alike.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pandas as pd

from calibrant import FrameCalibrator
from experiments.cells import claim

AHEAD, YEARS, Z = 12, 9, 1.6448536
OFF = 0.02
PAST = 5  # years before the first origin


def made_series(n: int, seed: int = 0) -> np.ndarray:
    """Months of n series, (n, 12 * YEARS): trend, season, and errors that depend and have heavy tails."""
    rng = np.random.default_rng(seed)
    months = 12 * YEARS
    t = np.arange(months)
    trend = np.exp(rng.normal(5, 0.5, (n, 1)) + rng.normal(0, 0.002, (n, 1)) * t)
    season = 1 + 0.2 * np.sin(2 * np.pi * (t + rng.integers(0, 12, (n, 1))) / 12)
    shocks = 0.05 * rng.standard_t(4, (n, months))
    errors = shocks.copy()
    for k in range(1, months):
        errors[:, k] += 0.6 * errors[:, k - 1]
    return trend * season * np.exp(errors)


def naive_frame(values: np.ndarray, origins: list[int], *, outcomes: bool = True) -> pd.DataFrame:
    """A frame as `cross_validation` gives it: seasonal naive forecasts, as wide as errors of the year before were."""
    n, parts = len(values), []
    for origin in origins:
        forecast = values[:, origin - 12 : origin]
        spread = np.std(values[:, 12:origin] - values[:, : origin - 12], axis=1)[:, None]
        frame = pd.DataFrame(
            {
                "unique_id": np.repeat(np.arange(n), AHEAD),
                "ds": np.tile(np.arange(origin, origin + AHEAD), n),
                "cutoff": origin - 1,
                "SeasonalNaive": forecast.ravel(),
                "SeasonalNaive-lo-90": (forecast - Z * spread).ravel(),
                "SeasonalNaive-hi-90": (forecast + Z * spread).ravel(),
            }
        )
        parts.append(frame.assign(y=values[:, origin : origin + AHEAD].ravel()) if outcomes else frame)
    return pd.concat(parts, ignore_index=True)


def package_frames(values: np.ndarray, origins: list[int]) -> pd.DataFrame:
    """The same of statsforecast's models."""
    from statsforecast import StatsForecast  # type: ignore[import-not-found]
    from statsforecast.models import Naive, SeasonalNaive  # type: ignore[import-not-found]

    n, end = len(values), origins[-1] + AHEAD
    frame = pd.DataFrame(
        {"unique_id": np.repeat(np.arange(n), end), "ds": np.tile(np.arange(end), n), "y": values[:, :end].ravel()}
    )
    models = StatsForecast(models=[SeasonalNaive(12), Naive()], freq=1)
    windows = {"n_windows": len(origins), "step_size": origins[1] - origins[0]}
    made: pd.DataFrame = models.cross_validation(df=frame, h=AHEAD, level=[90], **windows)
    return made.reset_index() if "unique_id" not in made else made


def coverages(frame: pd.DataFrame, model: str) -> np.ndarray:
    """Share of outcomes in 90 % intervals at each step ahead."""
    inside = (frame["y"] >= frame[f"{model}-lo-90"]) & (frame["y"] <= frame[f"{model}-hi-90"])
    return inside.groupby((frame["ds"] - frame["cutoff"]).to_numpy()).mean().to_numpy()


def verdict(n: int) -> Iterator[str]:
    """Claims, one a line."""
    values = made_series(n)
    origins = list(range(12 * PAST, 12 * (YEARS - 1) + 1, 4))
    frames = {"made": naive_frame(values, origins)}
    if find_spec("statsforecast") is not None:
        frames["statsforecast"] = package_frames(values, origins)
    else:
        yield "statsforecast is not installed: its models are not looked at."
    last = 12 * (YEARS - 2)
    for name, frame in frames.items():
        past, later = frame[frame["cutoff"] + AHEAD < last], frame[frame["cutoff"] >= last - 1]
        out = FrameCalibrator().fit(past).transform(later)
        for model in [each for each in ("SeasonalNaive", "Naive") if each in frame]:
            before, after = coverages(later, model), coverages(out, model)
            off = float(np.abs(after - 0.9).max())
            told = f"{before.min():.3f} to {before.max():.3f} before, {after.min():.3f} to {after.max():.3f} after"
            yield claim(off <= OFF, f"{name}, {model}: 90 % intervals by step cover {told}")


def main() -> int:
    """Print the claims; the exit status says whether all hold."""
    parser = argparse.ArgumentParser(prog="python -m experiments.frames", description=__doc__)
    parser.add_argument("--series", type=int, default=1000)
    lines = []
    for line in verdict(parser.parse_args().series):
        print(line, flush=True)
        lines.append(line)
    return int(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    raise SystemExit(main())
