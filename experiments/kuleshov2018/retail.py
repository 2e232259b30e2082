"""Daily sales of stores side by side, and the months to learn from, to calibrate on and to test.

Kuleshov et al. (2018) forecast one item of Corporacion Favorita in stores 1-4, from 2014 until May 2016, and test on
June to December 2016. Here are three families of products in two stores of the same company (the first span is the
paper's), and three products in each of eight bakeries (an analogous split). Each set is tested twice, seven months each
time. Days on which a store sold nothing at all, and those that are not in the file, are closed: they are missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant.forecasters import panel

from ..data import data_folder

Array = NDArray[np.float64]
TAIL = 182  # days before the test that the nets do not see: maps are learned from them
SEEN = 56  # days that a series must have been open before it is forecast
HARMONICS = 2  # of the year
MADE = "made"


class Source(NamedTuple):
    """Which columns of a set are what; known are those that a shop knows beforehand."""

    store: str
    item: str
    sales: str
    known: tuple[str, ...]


SOURCES = {
    "retail_favorita_family_daily": Source("store_nbr", "family", "sales", ("onpromotion",)),
    "retail_bakery_daily": Source(
        "store", "product", "demand",
        ("is_schoolholiday", "is_holiday", "is_holiday_next2days", "promotion_currentweek", "promotion_lastweek"),
    ),
    MADE: Source("store", "item", "sales", ("promotion",)),
}  # fmt: skip
SPANS = {
    "retail_favorita_family_daily": (("2016-06-01", "2016-12-31"), ("2017-01-01", "2017-07-31")),
    "retail_bakery_daily": (("2018-03-01", "2018-09-30"), ("2018-10-01", "2019-04-30")),
    MADE: (("2021-08-05", "2021-09-29"),),
}


class Sales(NamedTuple):
    """Series up to the end of a test span; the tail and the test are its last days."""

    values: Array
    """(n, T), NaN on closed days"""
    known: Array
    """(n, T, k): calendar, what the shop knows, and which item it is"""
    store: NDArray[Any]
    """(n,)"""
    item: NDArray[Any]
    """(n,)"""
    days: pd.DatetimeIndex
    test: int
    """place of the first day of the test"""

    @property
    def tail(self) -> int:
        """Place of the first day that the nets do not see."""
        return self.test - TAIL

    def open_enough(self, day: int) -> NDArray[np.bool_]:
        """Series that have been open long enough to be forecast on a day."""
        return np.asarray(np.isfinite(self.values[:, :day]).sum(axis=1) >= SEEN)


def read(name: str, span: int, folder: Path | None) -> Sales:
    """One set up to the end of one of its spans."""
    frame = made_frame() if name == MADE else pd.read_csv(data_folder(folder) / f"{name}.csv.gz")
    first, last = (pd.Timestamp(day) for day in SPANS[name][span])
    source = SOURCES[name]
    frame = frame.assign(date=pd.to_datetime(frame["date"]))
    frame = frame[frame["date"] <= last]
    days = pd.date_range(frame["date"].min(), last)
    keys = frame[[source.store, source.item]].drop_duplicates().sort_values([source.store, source.item])
    whole = keys.merge(pd.DataFrame({"date": days}), how="cross")
    whole = whole.merge(frame, how="left", on=[source.store, source.item, "date"])
    sold = whole.groupby([source.store, "date"])[source.sales].transform("sum")
    series = whole.groupby([source.store, source.item]).ngroup()
    columns = np.column_stack([whole[list(source.known)].fillna(0.0), pd.get_dummies(whole[source.item], dtype=float)])
    table = panel(series, whole["date"], whole[source.sales].where(sold > 0), columns)
    calendar = np.broadcast_to(calendar_of(days), (len(keys), len(days), 7 + 2 * HARMONICS))
    known = np.concatenate([calendar, table.covariates], axis=2)
    store, item = (keys[column].to_numpy() for column in (source.store, source.item))
    return Sales(table.values, known, store, item, days, int(days.searchsorted(first)))


def calendar_of(days: pd.DatetimeIndex) -> Array:
    """Indicators of the weekday, and waves of the year, (T, 7 + 2 HARMONICS)."""
    angle = 2 * np.pi * np.arange(1, HARMONICS + 1) * np.asarray(days.dayofyear, dtype=np.float64)[:, None] / 365.25
    return np.column_stack([np.eye(7)[days.dayofweek], np.sin(angle), np.cos(angle)])


def made_frame(stores: int = 2, items: int = 2, seed: int = 0) -> pd.DataFrame:
    """A small made panel: counts with weekdays, promotions, and a level that wanders and rises in the last months."""
    rng = np.random.default_rng(seed)
    days = pd.date_range("2019-11-01", SPANS[MADE][0][1])
    week = np.array([0.9, 0.8, 0.9, 1.0, 1.2, 1.4, 0.8])[days.dayofweek]
    late = np.linspace(0, 1, len(days)) > 0.75
    parts = []
    for store in range(stores):
        for item in range(items):
            promotion = rng.random(len(days)) < 0.1
            level = np.log(40.0 * (1 + item + 0.5 * store)) + np.cumsum(rng.normal(0, 0.015, len(days))) + 0.2 * late
            rate = np.exp(level) * week * (1 + 0.4 * promotion) * rng.gamma(30.0, 1 / 30.0, len(days))
            facts = {"store": store, "item": item, "promotion": promotion.astype(int), "sales": rng.poisson(rate)}
            parts.append(pd.DataFrame({"date": days, **facts}))
    return pd.concat(parts, ignore_index=True)
