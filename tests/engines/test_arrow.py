"""Calibrators on tables do what they do in memory, batch by batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibrant import (
    GroupedCalibrator,
    Normal,
    PlattCalibrator,
    PointCalibrator,
    QuantileCalibrator,
    Quantiles,
    ResidualCalibrator,
    ScaleCalibrator,
    StackCalibrator,
    load,
    metrics,
    save,
)
from calibrant.engines import arrow
from calibrant.engines.added import LEVELS, Added
from calibrant.engines.sampling import Sample
from calibrant.tables import sources as tables
from calibrant.tables.columns import Columns
from calibrant.tables.reading import Reading
from calibrant.tables.rows import TableRows
from calibrant.tables.sources import open_table

NORMAL = Columns("normal", ("mu", "sigma"), target="y")
N = 3000


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROWS", 700)


def data(n: int = N) -> dict[str, Any]:
    """Forecasts with half the right width."""
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    return {"id": np.arange(n), "mu": mu, "sigma": sigma, "y": mu + 2 * sigma * rng.normal(size=n)}


def file(folder: Path, columns: dict[str, Any], name: str = "a.parquet") -> Path:
    pq.write_table(pa.table(columns), folder / name)
    return folder / name


@pytest.mark.parametrize("calibrator", [QuantileCalibrator(), QuantileCalibrator("ecdf"), ScaleCalibrator()])
def test_fit_by_batches_is_the_fit(calibrator: Any, tmp_path: Path) -> None:
    d = data()
    fitted = arrow.fit(file(tmp_path, d), NORMAL, calibrator)
    expected = calibrator.fit(Normal(d["mu"], d["sigma"]), d["y"])
    new = Normal([0.0, 3.0], [1.0, 0.5])
    assert np.array_equal(fitted.transform(new).quantiles(LEVELS), expected.transform(new).quantiles(LEVELS))
    assert fitted.n_rows_ == N


def test_fit_by_batches_with_atoms_weights_and_missing_outcomes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    y = rng.poisson(3.0, N).astype(float)
    q = np.sort(rng.poisson(3.0, (N, 3)), axis=1).astype(float)
    q[:, 2] = np.maximum(q[:, 2], q[:, 0] + 1)
    w = rng.integers(0, 3, N).astype(float)
    y[::10] = np.nan
    columns = Columns("quantiles", ("q1", "q2", "q3"), (0.1, 0.5, 0.9), target="y", weight="w")
    path = file(tmp_path, {"q1": q[:, 0], "q2": q[:, 1], "q3": q[:, 2], "y": y, "w": w})
    seen = Sample(100)
    fitted = arrow.fit(path, columns, QuantileCalibrator(), sample=seen)
    kept = ~np.isnan(y)
    law = Quantiles([0.1, 0.5, 0.9], q)
    expected = QuantileCalibrator().fit(law[kept], y[kept], sample_weight=w[kept])
    np.testing.assert_allclose(
        fitted.transform(law[:5]).quantiles(LEVELS), expected.transform(law[:5]).quantiles(LEVELS), rtol=1e-9
    )
    assert fitted.n_rows_ == np.count_nonzero(w[kept]) and fitted.span_ == expected.span_
    assert (seen.read, seen.seen, len(seen.rows())) == (N, kept.sum(), 100)
    assert seen.notes()[0] == "300 of 3000 rows have no outcome and are left out"


def test_very_many_rows_are_summarised(tmp_path: Path) -> None:
    n = 60_000
    rng = np.random.default_rng(2)
    d = data(n)
    d["y"] = d["mu"] + d["sigma"] * (rng.gamma(2.0, 1.0, n) - 2 + np.linspace(0, 1, n))  # skewed, and drifting
    d["w"] = rng.integers(0, 3, n).astype(float)
    law = Normal(d["mu"], d["sigma"])
    for columns, w in ((NORMAL, None), (Columns("normal", ("mu", "sigma"), target="y", weight="w"), d["w"])):
        fitted = arrow.fit(file(tmp_path, d), columns, QuantileCalibrator())
        whole = QuantileCalibrator().fit(law, d["y"], sample_weight=w)
        levels = [0.0001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.9999]
        one, other = (f.transform(Normal([0.0], 1.0)).quantiles(levels) for f in (fitted, whole))
        np.testing.assert_allclose(one, other, atol=1e-6)
        assert fitted.n_rows_ == whole.n_rows_ and fitted.span_ == whole.span_
        before, after = (metrics.nll(d["y"], f.transform(law), sample_weight=w) for f in (whole, fitted))
        assert after == pytest.approx(before, abs=1e-8)


def test_a_table_may_be_continued(tmp_path: Path) -> None:
    d = data()
    fitted = arrow.fit(file(tmp_path, {name: column[:2000] for name, column in d.items()}), NORMAL, ScaleCalibrator())
    save(fitted, tmp_path / "scale.calibrant")
    loaded = load(tmp_path / "scale.calibrant").partial_fit(Normal(d["mu"][2000:], d["sigma"][2000:]), d["y"][2000:])
    expected = ScaleCalibrator().fit(Normal(d["mu"], d["sigma"]), d["y"])
    assert loaded.factor_ == pytest.approx(expected.factor_, rel=1e-12) and loaded.n_rows_ == N


def test_other_calibrators_get_the_columns(tmp_path: Path) -> None:
    d = data()
    d["shop"] = np.where(d["id"] % 2, "a", "b")
    d["y"] = np.where(d["id"] % 2, d["y"], d["mu"] + d["sigma"])
    columns = Columns("normal", ("mu", "sigma"), target="y", group=("shop",))
    grouped = arrow.fit(file(tmp_path, d), columns, GroupedCalibrator(ScaleCalibrator()))
    assert isinstance(grouped, GroupedCalibrator) and set(grouped.calibrators_) == {"a", "b"}
    wide = arrow.apply(grouped, file(tmp_path, d), columns, added=Added.of(std=True))["std"].to_numpy() / d["sigma"]
    assert np.ptp(wide[::2]) < 1e-9 and np.ptp(wide[1::2]) < 1e-9
    assert wide[0] == pytest.approx(1.0, abs=0.05) and wide[1] == pytest.approx(2.0, abs=0.1)
    points = Columns("points", ("mu",), target="y")
    assert isinstance(arrow.fit(file(tmp_path, d), points, ResidualCalibrator()), ResidualCalibrator)
    line = arrow.fit(file(tmp_path, d), points, PointCalibrator())
    slope, start = np.polyfit(d["mu"], d["y"], 1)
    out = arrow.apply(line, file(tmp_path, d), points)
    np.testing.assert_allclose(out["point"].to_numpy(), start + slope * d["mu"])


def test_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 2, N)
    spam = rng.random(N) < 1 / (1 + np.exp(-odds / 3))
    d = {"p_spam": 1 / (1 + np.exp(-odds)), "label": np.where(spam, "spam", "ham")}
    columns = Columns("classes", ("p_spam",), ("ham", "spam"), target="label")
    fitted = arrow.fit(file(tmp_path, d), columns, PlattCalibrator())
    expected = PlattCalibrator().fit(d["p_spam"], d["label"])
    assert fitted.classes_.tolist() == ["ham", "spam"]
    out = arrow.apply(fitted, file(tmp_path, d), columns)
    assert out.column_names == ["p_spam", "label", "p_ham", "p_spam_calibrated"]
    np.testing.assert_allclose(out["p_spam_calibrated"].to_numpy(), expected.transform(d["p_spam"])[:, 1], rtol=1e-9)
    result = arrow.evaluate(file(tmp_path, d), columns, candidates={"platt": PlattCalibrator()})
    assert result.chosen == "platt" and result.measures["none"]["log_loss"].value == pytest.approx(
        metrics.log_loss(d["label"], d["p_spam"]), rel=1e-9
    )


def test_applied_columns_come_last_in_the_order_asked(tmp_path: Path) -> None:
    d = data()
    path, calibrator = file(tmp_path, d), QuantileCalibrator().fit(Normal(d["mu"], d["sigma"]), d["y"])
    added = Added((("coverage", 0.9), ("std", None), ("level", 0.5), ("mean", None), ("coverage", 0.995)))
    names = arrow.apply(calibrator, path, NORMAL, tmp_path / "b.parquet", added=added)
    assert names == ["lo-90", "hi-90", "std", "q0.5", "mean", "lo-99.5", "hi-99.5"]
    out = pq.read_table(tmp_path / "b.parquet")
    assert out.column_names == [*d, *names] and out.select(list(d)).equals(pa.table(d))
    law = calibrator.transform(Normal(d["mu"], d["sigma"]))
    expected = np.column_stack([law.interval(0.9), law.std(), law.median(), law.mean(), law.interval(0.995)])
    np.testing.assert_allclose(np.column_stack([out[name].to_numpy() for name in names]), expected, rtol=1e-12)
    inside = (out["lo-90"].to_numpy() <= d["y"]) & (d["y"] <= out["hi-90"].to_numpy())
    assert inside.mean() == pytest.approx(0.9, abs=0.02)


def test_names_that_are_taken() -> None:
    frame = pa.table({"mean": [0.0, 1.0], "std": [1.0, 1.0], "q0.5": ["x", "y"]})
    columns = Columns("normal", ("mean", "std"))
    calibrator = ScaleCalibrator().fit(Normal([0.0, 0.0], 1.0), [2.0, -2.0])
    out = arrow.apply(calibrator, frame, columns, added=Added.of(levels=[0.5], mean=True, std=True))
    assert out.column_names[3:] == ["q0.5_calibrated", "mean_calibrated", "std_calibrated"]
    assert out["std_calibrated"].to_pylist() == [2.0, 2.0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_come_back_as_they_came(make: Any) -> None:
    d = data(1500)
    frame = make(d)
    if make is pd.DataFrame:
        frame.index = frame.index[::-1] + 7
    calibrator = arrow.fit(frame, NORMAL, QuantileCalibrator())
    out = arrow.apply(calibrator, frame, NORMAL, added=Added.of(levels=[0.1, 0.9]))
    assert type(out) is type(frame)
    expected = calibrator.transform(Normal(d["mu"], d["sigma"])).quantiles([0.1, 0.9])
    np.testing.assert_allclose(np.column_stack([out["q0.1"], out["q0.9"]]), expected)
    if make is pd.DataFrame:
        assert out.index.equals(frame.index) and list(out.columns) == [*d, "q0.1", "q0.9"]


def test_evaluate_is_analyse_of_the_rows(tmp_path: Path) -> None:
    d = data()
    d["shop"] = np.array(["a", "b", "c"])[d["id"] % 3]
    d["y"][::100] = np.nan
    steps: list[int] = []
    columns = Columns("normal", ("mu", "sigma"), target="y", group=("shop",), time="id")
    candidates = {"scale": ScaleCalibrator()}
    result = arrow.evaluate(file(tmp_path, d), columns, candidates=candidates, progress=steps.append)
    assert sum(steps) == N and len(steps) == 5 and result.rows == N
    assert sorted(group.name for group in result.groups) == ["shop = a", "shop = b", "shop = c"]
    for group in result.groups:
        share, error, low, high = group.before["coverage_90"]
        assert error == pytest.approx(np.sqrt(share * (1 - share) / group.rows))
        assert high - low == pytest.approx(2 * 1.645 * error, rel=0.02) and low < share < high  # 90 % around a share
    assert result.source.endswith("a.parquet") and result.notes == [
        "the first 495 of 2970 rows in time are learned from, not measured",
        "30 of 3000 rows have no outcome and are left out",
    ]
    worst = result.worst[0].row
    z = np.abs(d["y"] - d["mu"]) / d["sigma"]
    late = np.arange(N) >= N / 6  # the first block is never tested
    score = np.where(late, z**2 / 2 + np.log(d["sigma"]), -np.inf)
    assert worst == np.nanargmax(score)
    sampled = arrow.evaluate(file(tmp_path, d), columns, candidates=candidates, most=500)
    assert "500 of 2970 rows were looked at, drawn at random" in sampled.notes
    assert sampled.rows == N and len(sampled.y) < 500


def test_evaluate_points(tmp_path: Path) -> None:
    result = arrow.evaluate(file(tmp_path, data()), Columns("points", ("mu",), target="y"))
    assert result.chosen == "residual" and "none" not in result.stages
    assert result.verdict == "After calibration your predictions have 90 % intervals that contain 90 % of outcomes."


def test_no_outcomes_at_all(tmp_path: Path) -> None:
    path = file(tmp_path, {"mu": [0.0], "sigma": [1.0], "y": pa.array([None], pa.float64())})
    for calibrator in (QuantileCalibrator(), StackCalibrator()):
        with pytest.raises(ValueError, match="column `y` must have an outcome in some row; it has none"):
            arrow.fit(path, NORMAL, calibrator)
    with pytest.raises(ValueError, match="no quantiles, intervals, means or standard deviations to add"):
        Added.of(mean=True).columns(np.zeros((2, 2)), "ab")


def test_samples_are_even() -> None:
    counts = np.zeros(1000)
    sample = Sample(100)
    for start in range(0, 1000, 50):
        sample.add(TableRows([np.zeros(50)], np.arange(start, start + 50), read=50))
    rows = sample.rows()
    counts[rows.numbers] += 1
    assert len(rows) == 100 and counts.max() == 1 and (np.diff(rows.numbers) > 0).all()
    assert 30 < counts[:500].sum() < 70  # half of them, give or take four standard errors


def test_two_rows_are_enough_to_look_at(tmp_path: Path) -> None:
    path = file(tmp_path, {"mu": [0.0, 1.0], "sigma": [1.0, 1.0], "y": [0.5, 3.0]})
    assert arrow.evaluate(path, NORMAL, candidates={"scale": ScaleCalibrator()}).chosen == "none"
    one = file(tmp_path, {"mu": [2.0], "sigma": [1.0], "y": [0.5]}, "one.parquet")
    with pytest.raises(ValueError, match="must have an outcome in 2 rows at least; it has 1"):
        arrow.evaluate(one, NORMAL)
    assert arrow.fit(one, Columns("points", ("mu",), target="y"), PointCalibrator("ratio")).n_rows_ == 1


def test_rows_are_told_by_their_place_in_the_table(tmp_path: Path) -> None:
    d = data()
    fitted = arrow.fit(file(tmp_path, d), NORMAL, ScaleCalibrator())
    d["sigma"][1500] = -1.0
    with pytest.raises(ValueError, match=r"column `sigma` must be positive; row 1500 "):
        arrow.apply(fitted, file(tmp_path, d), NORMAL)


def test_a_batch_without_weight_does_no_harm(tmp_path: Path) -> None:
    d = data()
    d["w"] = np.where(np.arange(N) < 700, 0.0, 1.0)  # the first batch
    columns = Columns("normal", ("mu", "sigma"), target="y", weight="w")
    fitted = arrow.fit(file(tmp_path, d), columns, ScaleCalibrator())
    rest = {name: values[700:] for name, values in d.items()}
    assert fitted.factor_ == pytest.approx(arrow.fit(file(tmp_path, rest), NORMAL, ScaleCalibrator()).factor_)
    d["w"] = np.zeros(N)
    with pytest.raises(ValueError, match="must have a weight above 0 in `w` in some row"):
        arrow.fit(file(tmp_path, d), columns, ScaleCalibrator())
    d["y"] = np.full(N, np.nan)
    with pytest.raises(ValueError, match="column `y` must have an outcome in some row; it has none"):
        arrow.evaluate(file(tmp_path, d), NORMAL)


KINDS = {
    "normal": (Columns("normal", ("a", "b"), target="y"), ScaleCalibrator()),
    "not by summaries": (Columns("normal", ("a", "b"), target="y"), StackCalibrator([ScaleCalibrator()])),
    "quantiles": (Columns("quantiles", ("a", "b"), (0.1, 0.9), target="y"), QuantileCalibrator()),
    "samples": (Columns("samples", ("a", "b"), target="y"), ScaleCalibrator()),
    "points": (Columns("points", ("b",), target="y"), ResidualCalibrator()),
    "classes": (Columns("classes", ("p",), ("0", "1"), target="label"), PlattCalibrator()),
}


def with_gaps(n: int = 1500) -> tuple[dict[str, Any], np.ndarray]:
    """Forecasts of every kind, and which rows have none: the second batch, and some others."""
    d, rng = data(n), np.random.default_rng(3)
    gone = np.zeros(n, dtype=bool)
    gone[700:1400], gone[[2, 5]] = True, True
    holes = np.where(gone, rng.choice([np.nan, np.inf, -np.inf], n), 0.0)
    p = rng.uniform(0.1, 0.9, n)
    classes = {"p": p + holes, "label": (rng.random(n) < p).astype(int)}
    return {"a": d["mu"], "b": d["sigma"] + 8 + holes, "y": d["y"], **classes}, gone


@pytest.mark.parametrize("kind", KINDS)
def test_missing_forecasts_are_left_out_and_come_out_blank(kind: str, tmp_path: Path) -> None:
    columns, calibrator = KINDS[kind]
    d, gone = with_gaps()
    there = {name: values[~gone] for name, values in d.items()}
    whole, part = file(tmp_path, d, "whole.parquet"), file(tmp_path, there, "part.parquet")
    seen = Sample()
    fitted, expected = arrow.fit(whole, columns, calibrator, sample=seen), arrow.fit(part, columns, calibrator)
    assert fitted.n_rows_ == expected.n_rows_ == np.count_nonzero(~gone)
    assert seen.notes() == ["702 of 1500 rows have no finite forecast and are left out"]
    with pytest.warns(UserWarning, match=r"^702 of 1500 rows have no finite forecast; the new columns are blank there"):
        names = arrow.apply(fitted, whole, columns, tmp_path / "out.parquet")
    out = pq.read_table(tmp_path / "out.parquet")
    right = arrow.apply(expected, part, columns)
    for name in names:
        assert np.array_equal(out[name].is_null().to_numpy(), gone)
        np.testing.assert_allclose(out[name].to_numpy()[~gone], right[name].to_numpy(), rtol=1e-9)


def test_measures_are_those_of_the_rows_with_a_forecast(tmp_path: Path) -> None:
    d, gone = with_gaps()
    there = {name: values[~gone] for name, values in d.items()}
    columns, candidates = KINDS["normal"][0], {"scale": ScaleCalibrator()}
    whole, part = file(tmp_path, d, "whole.parquet"), file(tmp_path, there, "part.parquet")
    one, other = (arrow.evaluate(path, columns, candidates=candidates) for path in (whole, part))
    assert one.measures["none"]["nll"].value == pytest.approx(other.measures["none"]["nll"].value, rel=1e-12)
    assert one.notes == ["702 of 1500 rows have no finite forecast and are left out"]
    assert all(not gone[row.row] for row in one.worst)
    found, notes = arrow.compare(whole, columns, candidates=candidates)
    assert np.allclose(found.loss, arrow.compare(part, columns, candidates=candidates)[0].loss)
    assert notes[-1] == "702 of 1500 rows have no finite forecast and are left out"


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_blanks_of_every_library(make: Any) -> None:
    calibrator = ScaleCalibrator().fit(Normal([0.0, 0.0], 1.0), [2.0, -2.0])
    frame = make({"mu": [0.0, None, 2.0], "sigma": [1.0, 1.0, 1.0]})
    with pytest.warns(UserWarning, match="1 of 3 rows"):
        out = arrow.apply(calibrator, frame, Columns("normal", ("mu", "sigma")), added=Added.of(std=True))
    missing = out["std"].isna() if make is pd.DataFrame else out["std"].is_null()
    assert missing.to_numpy().tolist() == [False, True, False] and type(out) is type(frame)


def test_groups_without_any_forecast(tmp_path: Path) -> None:
    d = data()
    d["shop"] = np.where(d["id"] % 2, "a", "b")
    columns = Columns("normal", ("mu", "sigma"), target="y", group=("shop",))
    grouped = arrow.fit(file(tmp_path, d), columns, GroupedCalibrator(ScaleCalibrator()))
    d["mu"][:] = np.nan
    with pytest.warns(UserWarning, match=r"3000 of 3000 rows have no finite forecast; the new columns are blank"):
        out = arrow.apply(grouped, file(tmp_path, d), columns, added=Added.of(mean=True))
    assert out["mean"].null_count == N


def test_no_forecasts_at_all(tmp_path: Path) -> None:
    path = file(tmp_path, {"mu": [np.nan, np.inf, 1.0], "sigma": [1.0, 1.0, 1.0], "y": [0.0, 1.0, np.nan]})
    message = (
        r"^means and standard deviations in `mu`, `sigma` must be finite in some row with an outcome; 2 of 2 rows with "
        r"an outcome have no finite forecast\.$"
    )
    for calibrator in (QuantileCalibrator(), StackCalibrator()):
        with pytest.raises(ValueError, match=message):
            arrow.fit(path, NORMAL, calibrator)
    with pytest.raises(ValueError, match=message):
        arrow.evaluate(path, NORMAL)
    one = file(tmp_path, {"mu": [np.nan, 1.0], "sigma": [1.0, 1.0], "y": [0.0, 1.0]}, "one.parquet")
    with pytest.raises(ValueError, match="must be finite in 2 rows at least with an outcome; 1 of 2 rows"):
        arrow.evaluate(one, NORMAL)


def test_a_strict_table_refuses_missing_forecasts(tmp_path: Path) -> None:
    d, _ = with_gaps()
    fitted = ScaleCalibrator().fit(Normal([0.0, 0.0], 1.0), [2.0, -2.0])
    table = open_table(file(tmp_path, d), Reading(strict=True))
    columns = KINDS["normal"][0]
    for call in (
        lambda: arrow.fit(table, columns, ScaleCalibrator()),
        lambda: arrow.evaluate(table, columns),
        lambda: arrow.compare(table, columns),
        lambda: arrow.apply(fitted, table, columns),
    ):
        with pytest.raises(ValueError, match=r"column `b` must be finite numbers; rows 2, 5 \(the first is 0\): "):
            call()
