"""Write the made inputs of the tasks into the working folder."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibrant import Normal

LEVELS = {"q5": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def quantile_forecasts(rows: int = 1200) -> None:
    """forecasts.csv, with outcomes, and new.csv: quantiles that are 1.6 times too narrow."""
    rng = np.random.default_rng(0)
    mean = rng.gamma(9.0, 10.0, rows)
    frame = pd.DataFrame(Normal(mean, 8.0).quantiles(list(LEVELS.values())).round(2), columns=list(LEVELS))
    frame["y"] = (mean + rng.normal(0.0, 1.6 * 8.0, rows)).round(2)
    frame[: rows // 2].to_csv("forecasts.csv", index=False)
    frame[rows // 2 :].to_csv("new.csv", index=False)


def houses(rows: int = 2400) -> None:
    """houses.csv: prices that depend on a region, a size and an age, with a spread that grows with the size."""
    rng = np.random.default_rng(1)
    region = rng.choice(["north", "south", "west"], rows)
    size, age = rng.uniform(40, 200, rows), rng.integers(0, 80, rows)
    price = 3 * size - age + 60 * (region == "west") + rng.normal(0.0, size / 4)
    pd.DataFrame({"region": region, "size": size.round(), "age": age, "price": price.round(1)}).to_csv(
        "houses.csv", index=False
    )


def weekly_frames(series: int = 12, weeks: int = 30, ahead: int = 4) -> None:
    """cv.parquet and forecast.parquet, as StatsForecast makes them: too narrow the further ahead."""
    rng = np.random.default_rng(2)
    shops = [f"shop {k:02d}" for k in range(series)]
    cutoffs = pd.date_range("2025-01-06", periods=weeks, freq="7D")
    steps = range(1, ahead + 1)
    rows = [(shop, cut, cut + pd.Timedelta(weeks=h), h) for shop in shops for cut in cutoffs for h in steps]
    frame = pd.DataFrame(rows, columns=["unique_id", "cutoff", "ds", "h"])
    frame["AutoETS"] = 100 + rng.normal(0.0, 10.0, len(frame))
    frame["AutoETS-lo-90"], frame["AutoETS-hi-90"] = frame["AutoETS"] - 1.645 * 5, frame["AutoETS"] + 1.645 * 5
    frame["y"] = frame["AutoETS"] + rng.normal(0.0, 5 * np.sqrt(frame["h"]))
    last = frame["cutoff"] == cutoffs[-1]
    frame[~last].drop(columns="h").to_parquet("cv.parquet", index=False)
    frame[last].drop(columns=["h", "cutoff", "y"]).to_parquet("forecast.parquet", index=False)


def nights(days: int = 200, drift: int = 120) -> None:
    """Three shops whose sales get restless on day 120: past, yesterday, both together as history, and today."""
    rng = np.random.default_rng(3)
    day = np.repeat(pd.date_range("2025-06-01", periods=days), 3)
    frame = pd.DataFrame({"ds": day, "shop": np.tile(["harbour", "market", "mill"], days)})
    frame["mean"], frame["std"] = rng.uniform(80, 120, len(frame)).round(1), 8.0
    restless = np.where(np.arange(len(frame)) < 3 * drift, 8.0, 16.0)
    frame["y"] = (frame["mean"] + rng.normal(0.0, restless)).round(1)
    day, last = frame["ds"], frame["ds"].max()
    yesterday = day == last - pd.Timedelta(days=1)
    frame[day < last].to_parquet("history.parquet", index=False)
    frame[(day < last) & ~yesterday].to_parquet("past.parquet", index=False)
    frame[yesterday].to_parquet("yesterday.parquet", index=False)
    frame[day == last].drop(columns="y").to_parquet("today.parquet", index=False)
