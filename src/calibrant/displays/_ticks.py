"""Numbers beside axes: shares in percents, dates short, few enough to be read."""

from __future__ import annotations

from importlib import import_module
from typing import Any

MOST_TICKS = 5


def percents(axis: Any) -> None:
    """Shares in percents, few of them."""
    ticker: Any = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.MaxNLocator(MOST_TICKS))
    axis.set_major_formatter(lambda value, _: f"{round(100 * value, 6):g} %")


def short_dates(axis: Any) -> None:
    """Years, months or days, as little as tells them apart."""
    dates: Any = import_module("matplotlib.dates")
    locator = dates.AutoDateLocator(minticks=3, maxticks=6)
    axis.set(major_locator=locator, major_formatter=dates.ConciseDateFormatter(locator))
