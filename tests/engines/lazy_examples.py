"""The same rows in every engine that is installed."""

import os
import sys

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

LAZY = ["polars", "duckdb", "ibis", "dask", "spark"]


def rows_of(rng, n=4000):
    """Normal forecasts that are too narrow, with odd rows among them."""
    mu, sigma = rng.normal(size=n), np.exp(rng.normal(size=n)).astype(np.float32)
    y = mu + sigma * (1.5 * rng.normal(size=n) + 0.2)
    y[0], y[1] = mu[0], np.nextafter(mu[1], -9.0)
    return pa.table(
        {
            "mu": pa.array(mu, mask=np.arange(n) % 61 == 5),
            "sigma": sigma,
            "y": pa.array(y, mask=np.arange(n) % 50 == 3),
            "w": rng.integers(0, 4, n),
            "shop": [f"s{i % 7}" if i % 9 else None for i in range(n)],
            "kind": rng.integers(0, 3, n),
        }
    )


def lazily(engine, table):
    """A table in an engine that works later."""
    if engine == "polars":
        return pytest.importorskip("polars").from_arrow(table).lazy()
    if engine == "duckdb":
        connection = pytest.importorskip("duckdb", reason="DuckDB is not installed").connect()
        connection.from_arrow(table).create("forecasts")
        return connection.table("forecasts")
    if engine == "ibis":
        pytest.importorskip("ibis.backends.duckdb", reason="Ibis is not installed")
        import ibis

        return ibis.memtable(table)
    if engine == "dask":
        dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
        return dd.from_pandas(table.to_pandas(), npartitions=3)
    return spark_session().createDataFrame(table.to_pandas())


def spark_session():
    """A Spark of one thread."""
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[1,2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.log.level", "ERROR")
    return builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()


def collected(native):
    """What an engine makes of a frame."""
    return nw.from_native(native).collect().to_arrow()
