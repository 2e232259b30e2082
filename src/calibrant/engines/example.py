"""A table to try things on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

SHOPS = ("north", "south", "harbour")
DAYS, START = 300, "2024-01-01"
NARROW = 1.4  # times too narrow the forecasts are
HARBOUR = 0.1  # of the mean: how much more the harbour sells
RESTLESS, FROM = 1.5, 200  # times the noise grows, from that day on


def shop_forecasts() -> pa.Table:
    """Made-up forecasts of the daily sales of three shops, with three faults, and made-up outcomes.

    The model knows seasons and weekdays, but takes the noise for 1.4 times smaller than it is; it has not heard of the
    new harbour, whose shop sells 10 % more; and from day 200 on all sales are 1.5 times more restless than before.

    Examples
    --------
    >>> table = shop_forecasts()
    >>> table.column_names, table.num_rows
    (['day', 'shop', 'mu', 'sigma', 'sales'], 900)
    """
    rng = np.random.default_rng(0)
    day = np.repeat(np.arange(DAYS), len(SHOPS))
    shop = np.tile(np.arange(len(SHOPS)), DAYS)
    size = np.array([120.0, 80.0, 100.0])[shop]
    season = 1 + 0.2 * np.sin(2 * np.pi * day / 365) + 0.25 * (day % 7 >= 5)
    mean = size * season
    noise = 0.10 * mean * (1 + 0.5 * (day % 7 >= 5))
    real = mean * (1 + HARBOUR * (shop == 2))
    sales = real + np.where(day < FROM, 1.0, RESTLESS) * noise * rng.standard_normal(len(day))
    dates = np.datetime64(START) + day
    names = np.array(SHOPS)[shop]
    return pa.table(
        {"day": dates, "shop": names, "mu": mean.round(2), "sigma": (noise / NARROW).round(2), "sales": sales.round(1)}
    )
