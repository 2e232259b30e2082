"""Scores that an engine hands over are counted as the engine would count them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from calibrant import Normal, QuantileCalibrator
from calibrant.engines.lazy import cells
from calibrant.engines.lazy.fit import fit
from calibrant.engines.lazy.frames import frame_of
from calibrant.engines.lazy.scores import scored
from calibrant.tables import parquet
from calibrant.tables.columns import Columns
from calibrant.tables.reading import Reading
from calibrant.tables.sources import open_table

N = 70_000
BARE = Columns("normal", ("mu", "sigma"), target="y")
GROUPED = Columns("normal", ("mu", "sigma"), target="y", weight="w", group=("shop", "day"))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(size=N), np.exp(0.3 * rng.normal(size=N))
    y = mu + sigma * rng.standard_t(3, N)
    y[:3] = [1e30, -1e9, 300.0]
    shop, day = rng.integers(0, 40, N), rng.integers(0, 2, N).astype(str)
    w = rng.integers(0, 3, N) / 2
    return pl.DataFrame({"mu": mu, "sigma": sigma, "y": y, "shop": shop, "day": day, "w": w})


@pytest.mark.parametrize("columns", [BARE, GROUPED], ids=["all", "groups"])
def test_sums_are_those_of_the_engine(columns, table, monkeypatch):
    frame = frame_of(table.with_columns(y=pl.when(pl.col("mu") > 2.5).then(None).otherwise("y")).lazy())
    wanted = scored(QuantileCalibrator(), columns)
    found = cells.summed(frame, columns, wanted)
    monkeypatch.setattr(cells, "streams", lambda frame: False)
    parts, others, rows = cells.summed(frame, columns, wanted)
    assert found[1:] == (others, rows) and rows == N and list(found[0]) == list(parts)
    assert len(parts) == (80 if columns.group else 1)
    for name, part in parts.items():
        mine = found[0][name]
        assert mine.grid.level == part.grid.level and mine.n_rows == part.n_rows and mine.extremes == part.extremes
        assert np.array_equal(mine.grid.keys, part.grid.keys) and np.array_equal(mine.grid.mass, part.grid.mass)
        assert np.allclose(mine.grid.moment, part.grid.moment, rtol=1e-12, atol=1e-12)


def test_many_groups_are_streamed_and_few_are_not(table, monkeypatch):
    frame, wanted = frame_of(table.lazy()), scored(QuantileCalibrator(), GROUPED)
    rows = cells.prepared(frame, GROUPED, wanted)
    assert len(cells.of_groups(rows, GROUPED, wanted, cells.COARSE).parts) == 80
    assert cells.of_groups(rows.filter(cells.nw.col("g0") < 3), GROUPED, wanted, cells.COARSE) is None
    monkeypatch.setattr("calibrant.engines.lazy.streams._MOST_CELLS", 1000)
    assert cells.of_groups(rows, GROUPED, wanted, cells.COARSE) is None


def test_one_grid_is_that_of_the_rows(table):
    law = Normal(table["mu"].to_numpy(), table["sigma"].to_numpy())
    expected = QuantileCalibrator().summarise(law, table["y"].to_numpy()).grid
    (part,) = cells.summed(frame_of(table.lazy()), BARE, scored(QuantileCalibrator(), BARE))[0].values()
    assert part.grid.level == expected.level and np.array_equal(part.grid.mass, expected.mass)


def test_polars_reads_row_groups_one_after_another(table, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "SLICE", 20_000)
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, part in zip(paths, (table[:50_000], table[50_000:]), strict=True):
        pq.write_table(part.to_arrow(), path, row_group_size=15_000)
    source = open_table(tmp_path, Reading(engine="polars"))
    assert source.slices == [(0, 30_000), (30_000, 20_000), (50_000, None)]
    plan = source.lazy.to_native().select("y").slice(*source.slices[1]).explain()
    assert "SLICE" in plan.partition("SCAN")[2]  # by the reader itself, which leaves the other row groups alone
    sizes = [batch.num_rows for batch in source.batches(["y"])]
    assert sum(sizes) == N and np.isin([30_000, 50_000], np.cumsum(sizes)).all()
    found, expected = (fit(one, BARE, QuantileCalibrator()).summary_.grid for one in (source, table.lazy()))
    assert np.array_equal(found.keys, expected.keys) and np.array_equal(found.mass, expected.mass)
    monkeypatch.setattr(parquet, "MOST_LOOKS", 4)
    assert parquet.row_slices(paths) == [(0, 45_000), (45_000, None)]
