"""A table of every type of column, in every format."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

ROWS = 1000
TABLE = pa.table(
    {
        "mu": np.random.default_rng(0).normal(size=ROWS),
        "day": pa.array(np.arange(ROWS) + np.datetime64("2026-01-01")),
        "shop": [["north", "south", None][i % 3] for i in range(ROWS)],
        "count": np.arange(ROWS),
    }
)
FORMATS = ["forecasts.parquet", "forecasts.csv", "forecasts.tsv", "forecasts.arrow"]


def one_table(batches: Iterator[pa.RecordBatch]) -> pa.Table:
    """Batches one after another."""
    return pa.Table.from_batches(list(batches))
