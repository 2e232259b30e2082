"""Features on their way through the engines, by blocks and by samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from calibrant import AutoCalibrator, BoostedCalibrator, Chain, GroupedCalibrator, QuantileCalibrator, ScaleCalibrator
from calibrant.engines.added import Added
from calibrant.engines.arrow import analysed, apply, compare, evaluate, fit
from calibrant.engines.sampling import Sample
from calibrant.tables.columns import Columns
from calibrant.tables.rows import scan_rows
from calibrant.tables.sources import open_table

COLUMNS = Columns("normal", ("mu", "sigma"), target="y", feature=("name", "twin"), category=("name",))
LEVELS = Added.of(levels=[0.1, 0.5, 0.9])


@pytest.fixture
def table() -> pa.Table:
    """Forecasts, some without an outcome and some missing, with the outcome as a number and as a text."""
    rng = np.random.default_rng(0)
    mu = rng.normal(size=300)
    frame = pd.DataFrame({"mu": mu, "sigma": 1.0, "y": mu + 2 * rng.normal(size=300), "w": np.arange(300) % 3})
    frame = frame.assign(twin=frame["y"], name=frame["y"].round(6).astype(str))
    frame.loc[::7, "y"], frame.loc[::11, "mu"] = np.nan, np.nan
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.parametrize("most", [60, 10_000])
def test_rows_of_a_sample_keep_their_features(table: pa.Table, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibrant.tables.sources.ROWS", 32)
    columns = Columns(**{**vars(COLUMNS), "weight": "w"})
    found = evaluate(table, columns, candidates={"scale": ScaleCalibrator()}, most=most, cv=3)
    assert found.features.column_names == ["name", "twin"] and len(found.y) > 30
    assert np.array_equal(found.features["twin"].to_numpy(), found.y)
    assert found.features["name"].to_pylist() == [f"{value}" for value in found.y.round(6)]
    assert found.notes[0] == "none of the calibrators that were tried uses the features"


def test_who_uses_no_features(table: pa.Table) -> None:
    for calibrator in (QuantileCalibrator(), GroupedCalibrator(QuantileCalibrator()), Chain([ScaleCalibrator()])):
        with pytest.raises(ValueError, match="Calibrator uses no features; leave feature= out|Chain uses no features"):
            fit(table, COLUMNS, calibrator)
    with pytest.raises(ValueError, match="no calibrator that is tried uses feature=; boosted does, of distributions"):
        compare(table, COLUMNS, candidates={"scale": ScaleCalibrator()})


def test_chains_and_choices_get_them(table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lightgbm")
    trees = BoostedCalibrator(20, rate=0.15)
    for calibrator in (trees, Chain([ScaleCalibrator(), trees]), AutoCalibrator({"trees": trees}, cv=2)):
        fitted = fit(table, COLUMNS, calibrator)
        whole = apply_quietly(fitted, table, COLUMNS)
        assert whole.column_names[-3:] == ["q0.1", "q0.5", "q0.9"]
        monkeypatch.setattr("calibrant.tables.sources.ROWS", 5)  # some blocks without any forecast
        assert apply_quietly(fitted, table, COLUMNS).equals(whole)
        monkeypatch.undo()
    with pytest.raises(ValueError, match="the calibrator uses features; say which columns they are: feature="):
        apply(fit(table, COLUMNS, trees), table, COLUMNS.without_features())


def apply_quietly(fitted: object, table: pa.Table, columns: Columns) -> pa.Table:
    with pytest.warns(UserWarning, match="have no finite forecast; the new columns are blank there"):
        return apply(fitted, table, columns, added=LEVELS)


def test_features_that_a_calibrator_does_not_use_are_not_read(table: pa.Table) -> None:
    fitted = fit(table, COLUMNS.without_features(), QuantileCalibrator())
    assert "q0.5" in apply_quietly(fitted, table.drop_columns(["twin", "name"]), COLUMNS).column_names


def test_a_sample_is_looked_at_with_its_features(table: pa.Table) -> None:
    pytest.importorskip("lightgbm")
    sample = Sample()
    for rows in scan_rows(open_table(table), COLUMNS):
        sample.add(rows)
    found = analysed(sample, COLUMNS, candidates={"boosted": BoostedCalibrator(20, rate=0.15)}, cv=2)
    nll = {stage: measures["nll"].value for stage, measures in found.measures.items()}
    assert nll["boosted"] < nll["none"] - 0.3  # the outcome itself is among the features
    assert found.notes[0] != "none of the calibrators that were tried uses the features"
