"""Files and databases that another engine is to read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .files import format_of
from .lazy_frames import Slices, lazy_frame
from .parquet import row_slices
from .roles import RoleError

ENGINES = ("arrow", "duckdb", "polars", "spark", "dask")
DATABASE = "duckdb:"
_NO_READING_AHEAD = "disable_parquet_prefetching"


def is_database(source: Any) -> bool:
    """Whether a source is a table of a database, ``duckdb:///shop.db?table=forecasts``."""
    return isinstance(source, str) and source.startswith(DATABASE)


def database_frame(source: str) -> Any:
    """The table that ``duckdb:///shop.db?table=forecasts`` names, to be read only; ``////`` begins an absolute path."""
    parts = urlsplit(source)
    names = parse_qs(parts.query).get("table", [])
    path = Path(parts.path.removeprefix("/"))
    if parts.netloc or not parts.path.startswith("/") or len(names) != 1:
        raise ValueError(f"`{source}` must be like duckdb:///shop.db?table=forecasts.")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file `{path}`.")
    import duckdb

    try:
        return lazy_frame(duckdb.connect(str(path), read_only=True).table(names[0]))
    except duckdb.Error as reason:
        raise ValueError(f"cannot read `{source}`: {str(reason).splitlines()[0]}") from reason


def engine_frame(files: list[Path], name: str, engine: str) -> Any:
    """The frame that an engine makes of Parquet or CSV files; what folders are called by is a column too."""
    kinds = {format_of(path) for path in files}
    if len(kinds) > 1 or not kinds <= {"parquet", "csv"}:
        raise RoleError("{engine:{given}} reads Parquet and CSV files; `{table}` is none.", given=engine, table=name)
    (kind,) = kinds
    root = Path(name) if os.path.isdir(name) else None
    keyed = root is not None and any("=" in part for part in files[0].relative_to(root).parts[:-1])
    paths = [str(path) for path in files]
    return lazy_frame(_OPEN[engine](paths, kind, str(root) if keyed else None))


def slices_for(files: list[Path], engine: str) -> Slices:
    """Rows that an engine should read at a time: Polars holds the row groups ahead, the more the longer the file."""
    return row_slices(files) if engine == "polars" and format_of(files[0]) == "parquet" else ()


def _polars(paths: list[str], kind: str | None, root: str | None) -> Any:
    import polars as pl

    if kind == "csv":
        return pl.scan_csv(paths)
    return pl.scan_parquet(root or paths, hive_partitioning=root is not None)


def _duckdb(paths: list[str], kind: str | None, root: str | None) -> Any:
    """A relation of a connection of its own; of local files, row groups that are read ahead only fill memory."""
    import duckdb

    connection = duckdb.connect()
    if connection.sql(f"from duckdb_settings() where name = '{_NO_READING_AHEAD}'").fetchall():
        connection.execute(f"set {_NO_READING_AHEAD} = true")
    if kind == "csv":
        return connection.read_csv(paths)
    return connection.read_parquet(paths, hive_partitioning=root is not None)


def _dask(paths: list[str], kind: str | None, root: str | None) -> Any:
    import dask.dataframe as dd

    return dd.read_csv(paths) if kind == "csv" else dd.read_parquet(root or paths)


def _spark(paths: list[str], kind: str | None, root: str | None) -> Any:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession() or SparkSession.builder.appName("calibrant").getOrCreate()
    reader = session.read
    if kind == "csv":
        return reader.csv(paths, header=True, inferSchema=True)
    return reader.parquet(root) if root else reader.parquet(*paths)


_OPEN = {"polars": _polars, "duckdb": _duckdb, "dask": _dask, "spark": _spark}
