import json
from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from calibrant import PlattCalibrator, QuantileCalibrator, engines
from calibrant.cli.app import run
from calibrant.store import load
from calibrant.tables.reading import Reading
from calibrant.tables.sources import open_table

from .lazy_examples import collected, rows_of, spark_session

ROLES = {"mean": "mu", "std": "sigma", "target": "y"}
FLAGS = ["--mean", "mu", "--std", "sigma", "--target", "y"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Parquet files by month."""
    root = tmp_path_factory.mktemp("forecasts")
    rows = rows_of(np.random.default_rng(0), 900)
    for month in (1, 2, 3):
        (root / f"month={month}").mkdir()
        pq.write_table(rows.slice(300 * (month - 1), 300), root / f"month={month}" / "part.parquet")
    return root


def needed(engine):
    if engine == "spark":
        spark_session()
    elif engine != "arrow":
        pytest.importorskip({"dask": "dask.dataframe"}.get(engine, engine), reason=f"{engine} is not installed")
    return engine


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb", "dask", "spark"])
def test_any_engine_reads_folders_with_keys_and_finds_the_same(folder, tmp_path, engine):
    needed(engine)
    expected = engines.fit(folder, QuantileCalibrator(), **ROLES)
    found = engines.fit(folder, QuantileCalibrator(), engine=engine, **ROLES)
    assert found.n_rows_ == expected.n_rows_ and found.span_ == expected.span_
    measures = engines.evaluate(folder, found, engine=engine, group=["month"], **ROLES)
    assert list(measures) == ["1", "2", "3"]
    whole = engines.evaluate(str(folder / "*" / "*.parquet"), found, engine=engine, **ROLES)
    assert whole["nll"] == pytest.approx(engines.evaluate(folder, expected, **ROLES)["nll"], rel=1e-6)
    out = tmp_path / "out.parquet"
    with pytest.warns(UserWarning, match="no finite forecast") if engine == "arrow" else nullcontext():
        assert engines.apply(found, folder, output=out, engine=engine, levels=[0.1], with_mean=True) == ["q0.1", "mean"]
    written = pq.read_table(out)
    assert len(written) == 900 and written["q0.1"].null_count == written["mu"].null_count > 0


def test_duckdb_reads_no_row_groups_ahead(folder):
    duckdb = pytest.importorskip("duckdb")
    relation = open_table(folder, Reading(engine="duckdb")).lazy.to_native()
    asked = "select value as x from duckdb_settings() where name = 'disable_parquet_prefetching'"
    known = duckdb.connect().sql(asked).fetchall()
    assert [row[0].lower() for row in relation.query("unused", asked).fetchall()] == ["true"] * len(known)


def test_the_command_line_names_an_engine(folder, tmp_path, capsys):
    saved, out = tmp_path / "a.calibrant", tmp_path / "out.csv"
    assert run(["fit", str(folder), *FLAGS, "--engine", "polars", "-o", str(saved), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == load(saved).n_rows_ and told["measures"]
    assert run(["apply", str(saved), str(folder), "--engine", "polars", "-o", str(out), "--levels", "0.5"]) == 0
    assert "q0.5" in capsys.readouterr().out and pl.read_csv(out).height == 900
    assert run(["evaluate", str(folder), *FLAGS, "--engine", "polars", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 900
    assert run(["evaluate", str(folder), *FLAGS, "--engine", "hadoop"]) == 2
    assert "--engine hadoop must be arrow, duckdb, polars, spark or dask." in capsys.readouterr().err


def test_a_table_of_a_database(tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    rows = rows_of(np.random.default_rng(0), 300)
    with duckdb.connect(str(tmp_path / "shop.db")) as connection:
        connection.from_arrow(rows).create("forecasts")
    monkeypatch.chdir(tmp_path)
    for where in ("/shop.db", f"/{tmp_path}/shop.db"):
        assert open_table(f"duckdb://{where}?table=forecasts").columns == rows.column_names
    fitted = engines.fit("duckdb:///shop.db?table=forecasts", QuantileCalibrator(), **ROLES)
    assert fitted.span_ == engines.fit(rows, QuantileCalibrator(), **ROLES).span_
    assert run(["fit", "duckdb:///shop.db?table=forecasts", *FLAGS, "-o", "a.calibrant"]) == 0
    with pytest.raises(ValueError, match="cannot read `duckdb:///shop.db\\?table=other`"):
        open_table("duckdb:///shop.db?table=other")


def test_what_cannot_be_read_is_told(tmp_path):
    with pytest.raises(ValueError, match="must be like duckdb:///shop.db"):
        open_table("duckdb:///shop.db")
    with pytest.raises(FileNotFoundError, match="there is no file `gone.db`"):
        open_table("duckdb:///gone.db?table=a")
    (tmp_path / "a.jsonl").write_text('{"y": 1}')
    with pytest.raises(ValueError, match="engine='polars' reads Parquet and CSV files; `.*a.jsonl` is none"):
        open_table(tmp_path / "a.jsonl", Reading(engine="polars"))


def test_lazy_frames_stay_lazy_and_eager_ones_eager():
    rows = rows_of(np.random.default_rng(0), 200)
    frame = pl.from_arrow(rows)
    fitted = engines.fit(frame.lazy(), QuantileCalibrator(), **ROLES)
    made = engines.apply(fitted, frame.lazy(), levels=[0.5])
    assert isinstance(made, pl.LazyFrame)
    with pytest.warns(UserWarning, match="have no finite forecast"):
        eager = engines.apply(fitted, frame, levels=[0.5])
    assert isinstance(eager, pl.DataFrame)
    np.testing.assert_array_equal(collected(made)["q0.5"].to_numpy(), eager["q0.5"].to_numpy())


def test_one_name_and_one_number_stand_for_themselves():
    frame = pl.DataFrame({"mu": [0.0, 1.0, 2.0], "sigma": 1.0, "y": [0.5, 0.5, 3.5], "shop": ["a", "a", "b"]}).lazy()
    roles = {"mean": "mu", "std": "sigma"}
    assert set(engines.evaluate(frame, group="shop", target="y", **roles)) == {"a", "b"}
    fitted = engines.fit(frame, QuantileCalibrator(), target="y", **roles)
    made = engines.apply(fitted, frame, coverage=0.9, levels=0.5, **roles)
    assert made.collect_schema().names()[4:] == ["q0.5", "lo-90", "hi-90"]
    with pytest.raises(ValueError, match="`a role of columns` must be one of 'mean', .*; got 'groups'"):
        engines.evaluate(frame, groups="shop", **roles)


@pytest.mark.parametrize("kind", ["pandas", "lazy"])
def test_class_columns_are_those_of_their_labels(rng, kind):
    label = rng.integers(0, 2, 200)
    p = np.clip(0.5 + 0.3 * (label - 0.5) + 0.1 * rng.normal(size=200), 0.01, 0.99)
    calibrator = PlattCalibrator().fit(p, label)
    expected = calibrator.transform(p)
    for columns in ({"p_1": p}, {"p_1": p, "p_0": 1 - p}, {"p_0": 1 - p, "p_1": p}):
        frame = pd.DataFrame(columns) if kind == "pandas" else pl.LazyFrame(columns)
        made = engines.apply(calibrator, frame)
        made = made if kind == "pandas" else made.collect()
        zero = made["p_0_calibrated" if "p_0" in columns else "p_0"]
        np.testing.assert_allclose(np.column_stack([zero, made["p_1_calibrated"]]), expected, rtol=1e-9)
    margins = PlattCalibrator(scores_are="margins").fit(4 * p - 2, label)
    made = engines.apply(margins, pd.DataFrame({"p_1": 4 * p - 2}))
    np.testing.assert_allclose(made["p_1_calibrated"], margins.transform(4 * p - 2)[:, 1])
    with pytest.raises(ValueError, match="the calibrator is for classes 0, 1; got columns for ham, spam"):
        engines.apply(calibrator, pd.DataFrame({"p_ham": p, "p_spam": 1 - p}))
