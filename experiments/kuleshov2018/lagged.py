"""Rows for nets that read rows: what a morning knows of a series, and of the day that is asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .retail import Sales

Array = NDArray[np.float64]
Places = NDArray[np.intp]
LAGS, WINDOW = 7, 28
LEADS = 4  # of each morning, drawn at random, that a net is trained on


class Asked(NamedTuple):
    """Series, morning and days ahead of each row; 1 ahead is the morning's own day."""

    series: Places
    morning: Places
    lead: Places

    @property
    def day(self) -> Places:
        """The day that is asked for."""
        return self.morning + self.lead - 1


def asked(series: Any, mornings: Any, leads: Any) -> Asked:
    """All of these together: leads outside, series inside."""
    lead, morning, one = np.meshgrid(leads, mornings, series, indexing="ij")
    return Asked(one.ravel(), morning.ravel(), lead.ravel())


def rows(sales: Sales, of: Asked) -> tuple[Array, Array]:
    """Features (rows, k), and the mean sales (rows,) of each series until the morning, which is the unit of all.

    The last seven days, their mean and that of four weeks, the newest and the mean of the same weekday in four weeks,
    the days ahead, the log of the unit, and what is known of the day that is asked for. Closed days count as the mean.
    """
    seen = np.isfinite(sales.values)
    total, count = (np.cumsum(part, axis=1)[of.series, of.morning - 1] for part in (np.nan_to_num(sales.values), seen))
    size = np.where(total > 0, total / np.maximum(count, 1), 1.0)
    back = np.arange(1, WINDOW + 1)
    past = sales.values[of.series[:, None], of.morning[:, None] - back] / size[:, None]
    open_ = np.isfinite(past)
    mean = np.where(open_.any(axis=1), np.nan_to_num(past).sum(axis=1) / np.maximum(open_.sum(axis=1), 1), 1.0)
    past = np.where(open_, past, mean[:, None])
    weekday = (of.lead[:, None] - 1 + back) % 7 == 0
    newest = past[np.arange(len(past)), weekday.argmax(axis=1)]
    facts = [past[:, :LAGS].mean(axis=1), mean, newest, (past * weekday).sum(axis=1) / 4, of.lead / 14, np.log(size)]
    return np.column_stack([past[:, :LAGS], *facts, sales.known[of.series, of.day]]), size


def training_rows(sales: Sales, seed: int = 0) -> tuple[Array, Array]:
    """Features and outcomes, in units of their series, of some leads of each morning before the tail."""
    rng, n = np.random.default_rng(seed), len(sales.values)
    of = asked(np.arange(n), np.arange(WINDOW, sales.tail), np.zeros(LEADS, dtype=np.intp))
    of = of._replace(lead=rng.integers(1, 15, len(of.lead)))
    of = Asked(*(part[of.day < sales.tail] for part in of))
    grown = np.stack([sales.open_enough(day) for day in range(sales.tail)], axis=1)
    good = np.isfinite(sales.values[of.series, of.day]) & grown[of.series, of.morning]
    of = Asked(*(part[good] for part in of))
    X, size = rows(sales, of)
    return X, sales.values[of.series, of.day] / size
