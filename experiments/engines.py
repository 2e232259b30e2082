"""python -m experiments.engines: one Parquet file through every engine, beside reading it alone and beside the rows.

The file is written as pyarrow writes it by default: ``mu``, ``sigma`` and ``y``, Student-t errors that are too wide for
the normal forecasts. Each job is a process of its own; CPU seconds are those of the process and its children from after
the imports (and the start of Spark) on, memory is their peak, all included. Promised: counts identical to those of the
rows, sums within 1e-12, maps within 1e-6 in probability of the exact default fit, measures within 1e-6 of those of the
rows; at most 3 times the CPU of reading for arrow, polars and duckdb, in constant memory; 10 000 groups in 1e7 rows
within 60 CPU seconds and 1 GB on arrow and duckdb, a group of 5 rows among them with a std within a quarter of that of
all; plans without Python; neither a task that fails once nor a worker that is killed changes anything.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import ndtr

from calibrant import GroupedCalibrator, Normal, QuantileCalibrator, engines
from calibrant.engines.added import Added
from calibrant.engines.lazy.frames import worked_out
from calibrant.metrics.catalogue import MEASURES
from calibrant.tables.columns import Columns
from calibrant.tables.reading import Reading
from calibrant.tables.sources import open_table

ENGINES = ("arrow", "polars", "duckdb", "dask", "spark")
BLOCK = 1_000_000
COLUMNS = Columns("normal", ("mu", "sigma"), target="y")
GROUPED = Columns("normal", ("mu", "sigma"), target="y", group=("shop",))
PLACES = np.linspace(-6, 6, 241)
SMALL = "s_few"  # the group of 5 rows


def main() -> int:
    """Print what each engine took and found; the exit status says whether a promise is missed."""
    parser = argparse.ArgumentParser(prog="python -m experiments.engines", description=__doc__)
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--group-rows", type=float, default=1e7)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--engines", default=",".join(ENGINES), help="comma separated")
    parser.add_argument("--only", default="rows,memory,groups,plans,retry,killed", help="comma separated")
    parser.add_argument("--job", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(job(*options.job)))
        return 0
    parts = {"rows": of_rows, "memory": of_memory, "groups": of_groups, "plans": of_plans}
    parts |= {"retry": of_retry, "killed": of_killed}
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only.split(","):
            for right, line in parts[name](Path(folder), options):
                print(f"{'':4s}{line}" if right is None else f"{'ok' if right else 'MISSED':8s}{line}", flush=True)
                missed += right is False
    return int(missed > 0)


Verdicts = Iterator[tuple[bool | None, str]]


def of_rows(folder: Path, options: argparse.Namespace) -> Verdicts:
    """Every engine beside the rows, and beside reading."""
    path = written(folder / "rows.parquet", int(options.rows))
    exact = of_the_rows(path)
    for engine in options.engines.split(","):
        reading, fitting, measuring = (started(what, engine, path) for what in ("read", "fit", "evaluate"))
        found = np.load(fitting["file"])
        same = all(np.array_equal(found[name], exact[name]) for name in ("keys", "mass"))
        off = float(np.max(np.abs(found["moment"] / exact["moment"] - 1)))
        apart = float(np.max(np.abs(found["map"] - exact["map"])))
        yield same and off <= 1e-12, f"{engine}: counts {'identical' if same else 'differ'}, sums within {off:.1e}"
        yield apart <= 1e-6, f"{engine}: map within {apart:.1e} in probability of the exact default fit"
        most = max(abs(measuring["measures"][name] / value - 1) for name, value in exact["measures"].items())
        yield most <= 1e-6, f"{engine}: measures within {most:.1e} of those of the rows"
        ratio = fitting["cpu"] / reading["cpu"]
        promised = ratio <= 3 if engine in ENGINES[:3] else None
        yield promised, f"{engine}: fit {told(fitting)}; read {told(reading)}; {ratio:.1f} x reading"
        yield None, f"{engine}: evaluate {told(measuring)}; {measuring['cpu'] / reading['cpu']:.1f} x reading"


def of_memory(folder: Path, options: argparse.Namespace) -> Verdicts:
    """Ten times the rows, no more memory than half as much again."""
    many = written(folder / "rows.parquet", int(options.rows))
    few = written(folder / "few.parquet", int(options.rows / 10))
    for engine in [name for name in options.engines.split(",") if name in ENGINES[:3]]:
        low, high = (started("fit", engine, path)["peak"] for path in (few, many))
        yield (
            high <= 1.5 * low,
            f"{engine}: peak {low:.0f} MB at {options.rows / 10:.0e} rows, {high:.0f} MB at ten times",
        )


def of_groups(folder: Path, options: argparse.Namespace) -> Verdicts:
    """Thousands of groups in one pass."""
    path = written(folder / "groups.parquet", int(options.group_rows), options.groups)
    for engine in [name for name in options.engines.split(",") if name in ("arrow", "duckdb")]:
        taken = started("groups", engine, path)
        within = taken["cpu"] <= 60 and taken["peak"] <= 1000
        yield within, f"{engine}: {taken['groups']} groups, {told(taken)}, of which {taken['pass']:.1f} s to sum"
        small, common = taken["ends"]
        yield None, f"{engine}: its 90 % interval is {small}, that of all {common}"
        sane = 0.75 < taken["small"] / taken["all"] < 1.25
        yield sane, f"{engine}: the group of 5 rows has a std of {taken['small']:.2f}; all: {taken['all']:.2f}"


def of_plans(folder: Path, options: argparse.Namespace) -> Verdicts:
    """What engines say they do when a calibrator is applied."""
    path = written(folder / "few.parquet", int(options.rows / 10))
    calibrator = engines.fit(path, QuantileCalibrator(), COLUMNS)
    for engine in [name for name in options.engines.split(",") if name in ("duckdb", "spark")]:
        _start(engine)
        table = open_table(path, Reading(engine=engine))
        made = engines.apply(calibrator, table.lazy.to_native(), COLUMNS, added=Added.of(coverage=[0.9]))
        plan = made.explain() if engine == "duckdb" else made._jdf.queryExecution().toString()
        words = [word for word in ("python", "udf", "mapinarrow") if word in plan.lower()]
        yield not words, f"{engine}: the plan has {words or 'no Python function'}\n{plan}"
        first = next(open_table(made).batches())
        mu, sigma = (first[name].to_numpy() for name in ("mu", "sigma"))
        wanted = calibrator.transform(Normal(mu, sigma)).interval(0.9)
        off = np.max(np.abs(np.column_stack([first["lo-90"], first["hi-90"]]) - wanted) / (1 + np.abs(wanted)))
        yield off <= 1e-12, f"{engine}: intervals within {off:.1e} of Python's"


def of_retry(folder: Path, options: argparse.Namespace) -> Verdicts:
    """A task of Spark that fails once."""
    if "spark" not in options.engines.split(","):
        return
    path = written(folder / "few.parquet", int(options.rows / 10))
    mark = folder / "failed"
    frame = spark_session().read.parquet(str(path))
    plain = engines.fit(frame, QuantileCalibrator(), COLUMNS).summary_
    again = engines.fit(frame.mapInArrow(_Failing(str(mark)), frame.schema), QuantileCalibrator(), COLUMNS).summary_
    same = mark.exists() and np.array_equal(plain.grid.mass, again.grid.mass) and plain.n_rows == again.n_rows
    yield (
        same,
        f"spark: a task failed once and was tried again; {again.n_rows} rows of {plain.n_rows} counted, each once",
    )


def of_killed(folder: Path, options: argparse.Namespace) -> Verdicts:
    """A worker of Dask and an executor of Spark that are killed while they work."""
    path = written(folder / "few.parquet", int(options.rows / 10))
    for engine in [name for name in options.engines.split(",") if name in ("dask", "spark")]:
        if engine == "dask" and not find_spec("distributed"):
            yield None, "dask: not tried, distributed is not installed"
            continue
        taken = started("killed", engine, path)
        counted, rows = taken["counted"], taken["rows"]
        yield taken["same"], f"{engine}: {taken['killed']} was killed; {counted} rows of {rows} counted, each once"


class _Failing:
    """Batches as they are; the first task that comes by fails after its first batch."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __call__(self, batches: Any) -> Any:
        for batch in batches:
            yield batch
            if not os.path.exists(self.mark):
                open(self.mark, "w").close()
                raise RuntimeError("on purpose")


class _Killing(_Failing):
    """Batches as they are; the process that does the first task is killed after its first batch."""

    def __call__(self, batches: Any) -> Any:
        for batch in batches:
            yield batch
            if not os.path.exists(self.mark):
                self.kill(_parent(_parent(os.getpid())))  # of a worker of Python, by way of its daemon: the executor

    def on_partition(self, frame: Any) -> Any:
        """A partition of Dask as it is."""
        if len(frame) > 1 and not os.path.exists(self.mark):  # Dask tries functions on a row or two of its own
            self.kill(os.getpid())
        return frame

    def kill(self, number: int) -> None:
        """Leave a mark, and end a process at once."""
        name = Path(f"/proc/{number}/cmdline").read_text().replace("\0", " ")
        words = ("CoarseGrainedExecutorBackend", "multiprocessing")
        Path(self.mark).write_text(next(word for word in words if word in name))
        os.kill(number, signal.SIGKILL)


def _parent(number: int) -> int:
    return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])


def _killed(path: str, engine: str, mark: str) -> dict[str, Any]:
    """The same fit twice, the second time with a death in it."""
    killing = _Killing(mark)
    if engine == "spark":
        frame = spark_session("local-cluster[2,1,1024]").read.parquet(path)
        deadly = frame.mapInArrow(killing, frame.schema)
    else:
        import dask.dataframe as dd
        from distributed import Client

        Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
        frame = dd.read_parquet(path, split_row_groups=1)
        deadly = frame.map_partitions(killing.on_partition, meta=frame._meta)
    plain, again = (engines.fit(one, QuantileCalibrator(), COLUMNS).summary_ for one in (frame, deadly))
    same = np.array_equal(plain.grid.keys, again.grid.keys) and np.array_equal(plain.grid.mass, again.grid.mass)
    found = {"rows": plain.n_rows, "counted": again.n_rows, "killed": Path(mark).read_text()}
    return {"same": bool(same and plain.n_rows == again.n_rows), **found}


def job(what: str, engine: str, path: str, out: str) -> dict[str, Any]:
    """What a process of its own does; CPU seconds, peak memory, and what was found."""
    if what != "killed":
        _start(engine)
    before, found = cpu_seconds(), {}
    if what == "killed":
        found = _killed(path, engine, f"{out}.mark")
    elif what == "read":
        _read(path, engine)
    elif what == "fit":
        fitted = engines.fit(path, QuantileCalibrator(), COLUMNS, engine=engine)
        grid = fitted.summary_.grid
        np.savez(out, keys=grid.keys, mass=grid.mass, moment=grid.moment, map=ndtr(fitted.map_(PLACES)))
    elif what == "evaluate":
        found = {"measures": engines.evaluate(path, None, COLUMNS, engine=engine)}
    else:
        found = _groups(path, engine, before)
    return {"cpu": cpu_seconds() - before, "peak": peak(), "file": out, **found}


def _groups(path: str, engine: str, before: float) -> dict[str, Any]:
    calibrator = GroupedCalibrator(QuantileCalibrator())
    passed = []
    original = GroupedCalibrator.fit_summary

    def noted(self: Any, summary: Any) -> Any:
        passed.append(cpu_seconds() - before)
        return original(self, summary)

    GroupedCalibrator.fit_summary = noted  # type: ignore[method-assign]
    fitted = engines.fit(path, calibrator, GROUPED, engine=engine)
    law = Normal([0.0], [1.0])
    laws = [fitted.transform(law, groups=[name]) for name in (SMALL, "nobody")]
    small, common = (float(one.std()[0]) for one in laws)
    ends = [one.interval(0.9)[0].round(3).tolist() for one in laws]
    return {"groups": len(fitted.summary_.groups), "pass": passed[0], "small": small, "all": common, "ends": ends}


def _start(engine: str) -> None:
    """Load an engine, which is no part of the work."""
    if engine == "spark":
        spark_session().range(1).count()
    elif engine != "arrow":
        __import__({"dask": "dask.dataframe"}.get(engine, engine))


def spark_session(master: str = "local[1,2]") -> Any:
    """A local Spark, of one thread that tries tasks twice if nothing else is asked for."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
    return builder.config("spark.driver.memory", "4g").getOrCreate()


def _read(path: str, engine: str) -> None:
    """Every value of the three columns is looked at."""
    table = open_table(path, Reading(engine=engine))
    if table.lazy is None:
        for batch in table.batches(["mu", "sigma", "y"]):
            for column in batch.columns:
                column.to_numpy().sum()
    else:
        import narwhals as nw

        worked_out(table.lazy.select(nw.col("mu", "sigma", "y").sum()))


def started(what: str, engine: str, path: Path) -> dict[str, Any]:
    """A job in a process of its own."""
    out = path.with_name(f"{engine}-{what}.npz")
    command = [sys.executable, "-m", "experiments.engines", "--job", what, engine, str(path), str(out)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{what} by {engine}: {ran.stderr[-2000:]}")
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def of_the_rows(path: Path) -> dict[str, Any]:
    """What the rows themselves say."""
    table = pq.read_table(path)
    mu, sigma, y = (table[name].to_numpy() for name in ("mu", "sigma", "y"))
    forecasts = Normal(mu, sigma)
    grid = QuantileCalibrator().summarise(forecasts, y).grid
    exact = QuantileCalibrator().fit(forecasts, y)
    names = ("nll", "crps", "coverage_50", "coverage_90", "coverage_99", "calibration_error", "mean_std")
    measures = {name: float(MEASURES[name].function(y, forecasts)) for name in names}
    found = {"keys": grid.keys, "mass": grid.mass, "moment": grid.moment}
    return {**found, "map": ndtr(exact.map_(PLACES)), "measures": measures}


def written(path: Path, rows: int, groups: int = 0) -> Path:
    """A file of so many rows, block by block."""
    if path.exists():
        return path
    rng, writer = np.random.default_rng(0), None
    for start in range(0, rows, BLOCK):
        n = min(BLOCK, rows - start)
        mu, sigma = rng.normal(size=n), np.exp(0.3 * rng.normal(size=n))
        y = mu + sigma * (1.4 * rng.standard_t(6, size=n) + 0.1)
        block = {"mu": mu, "sigma": sigma, "y": y}
        if groups:
            shop = np.char.add("s", rng.integers(0, groups, n).astype(str)).astype(object)
            shop[: 5 if start == 0 else 0] = SMALL
            block["shop"] = shop
        table = pa.table(block)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return path


def told(taken: dict[str, Any]) -> str:
    """CPU seconds and memory in words."""
    return f"{taken['cpu']:.2f} CPU s, {taken['peak']:.0f} MB"


def _family() -> list[int]:
    """This process and all below it."""
    found, waiting = [], [os.getpid()]
    while waiting:
        found.append(waiting.pop())
        for path in Path(f"/proc/{found[-1]}/task").glob("*/children"):
            waiting += [int(number) for number in path.read_text().split()]
    return found


def cpu_seconds() -> float:
    """Of this process and all below it."""
    own = time.process_time()
    ticks = 0
    for number in _family()[1:]:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return own + ticks / os.sysconf("SC_CLK_TCK")


def peak() -> float:
    """Most memory that each process has had, added up, in MB."""
    found = 0.0
    for number in _family():
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
        found += sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3
    return found


if __name__ == "__main__":
    sys.exit(main())
