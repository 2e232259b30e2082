"""A Parquet file of twenty million rows: fitted and applied in little memory, not much slower than it is read."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .timing import Line, Measure

ROWS, MOST_GIB = 20_000_000, 1.5 / 1.073741824  # 1.5 GB


def lines(rows: int = ROWS) -> Iterator[Line | Measure]:
    """Each task in a process of its own: CPU seconds of the task, peak memory of the process."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "forecasts.parquet")
        write(path, rows)
        read, fit, apply = (min(_child(task, path) for _ in range(3)) for task in ("read", "fit", "apply"))
        yield Line(f"fit a Parquet file, {rows:.0e} rows", fit[0], "read, one pass", read[0], 3.0)
        yield Measure(f"fit a Parquet file, {rows:.0e} rows: peak", fit[1], "GiB of memory", MOST_GIB)
        yield Line(f"apply to a Parquet file, {rows:.0e} rows, five quantiles", apply[0], "read, one pass", read[0])
        yield Measure(f"apply to a Parquet file, {rows:.0e} rows: peak", apply[1], "GiB of memory", MOST_GIB)


def write(path: str, rows: int) -> None:
    """Forecasts that are too narrow, a million rows at a time."""
    rng, step = np.random.default_rng(0), 1_000_000
    schema = pa.schema([("id", pa.int64()), ("mu", pa.float64()), ("sigma", pa.float64()), ("y", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, step):
            n = min(step, rows - start)
            mu, sigma = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
            columns = [np.arange(start, start + n), mu, sigma, mu + sigma * (rng.gamma(3.0, 1.0, n) - 3)]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema))


def read(path: str) -> None:
    """The floor: read the columns and do one pass of arithmetic."""
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for batch in file.iter_batches(131_072, columns=["mu", "sigma", "y"]):
            mu, sigma, y = (batch[name].to_numpy() for name in ("mu", "sigma", "y"))
            ((y - mu) / sigma).sum()


def fit(path: str) -> None:
    from calibrant import QuantileCalibrator, save
    from calibrant.engines.arrow import fit
    from calibrant.tables.detection import Asked, find_columns
    from calibrant.tables.sources import open_table

    table = open_table(path)
    columns, _ = find_columns(table, Asked())
    save(fit(table, columns, QuantileCalibrator()), f"{path}.calibrant")


def apply(path: str) -> None:
    from calibrant import load
    from calibrant.engines.arrow import apply
    from calibrant.tables.columns import Columns

    apply(load(f"{path}.calibrant"), path, Columns("normal", ("mu", "sigma")), f"{path}.out.parquet")


def _child(task: str, path: str) -> list[float]:
    run = subprocess.run([sys.executable, "-m", __name__, task, path], capture_output=True, text=True, check=True)
    return list(json.loads(run.stdout))


def _peak() -> float:
    """Most memory of this process so far, in GiB."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 2**20


if __name__ == "__main__":
    importlib.import_module("calibrant.engines.arrow")  # not part of the time
    start = time.process_time()
    {"read": read, "fit": fit, "apply": apply}[sys.argv[1]](sys.argv[2])
    print(json.dumps([time.process_time() - start, _peak()]))
