"""One reader of column names: what the command line finds in a table, ``as_distribution`` finds in the same frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from calibrant.adapters import as_distribution
from calibrant.adapters.names import forecasts_told, level_of
from calibrant.distributions import Ensemble, Normal, Quantiles
from calibrant.tables.detection import Asked, find_columns
from calibrant.tables.rows import forecasts_of, scan_rows
from calibrant.tables.sources import open_table

DECILES = [k / 10 for k in range(1, 10)]
PROPHET = "`yhat_lower` and `yhat_upper` are read as ends of 80 % intervals, Prophet's default"
# names of a library's columns; those of the forecasts in the order of what they are; levels
NAMES: dict[str, tuple[list[Any], list[Any], list[float]]] = {
    "mu and sigma": (["id", "mu", "sigma", "y"], ["mu", "sigma"], []),
    "yhat and sigma": (["ds", "sigma", "yhat", "y"], ["yhat", "sigma"], []),
    "prediction and std": (["prediction", "std", "target"], ["prediction", "std"], []),
    "a mean beside another point": (["pred", "mean", "sd", "y"], ["mean", "sd"], []),
    "levels": (["0.9", "0.1", "0.5", "y"], ["0.1", "0.5", "0.9"], [0.1, 0.5, 0.9]),
    "percent": (["10%", "90%", "day", "y"], ["10%", "90%"], [0.1, 0.9]),
    "AutoGluon": (["item_id", "timestamp", "mean", *map(str, DECILES), "y"], [*map(str, DECILES)], DECILES),
    "statsforecast": (
        ["unique_id", "ds", "ARIMA", "ARIMA-lo-90", "ARIMA-lo-80", "ARIMA-hi-80", "ARIMA-hi-90", "y"],
        ["ARIMA-lo-90", "ARIMA-lo-80", "ARIMA-hi-80", "ARIMA-hi-90"],
        [0.05, 0.1, 0.9, 0.95],
    ),
    "neuralforecast, levels": (
        ["unique_id", "ds", "NHITS-median", "NHITS-lo-80.0", "NHITS-hi-80.0", "y"],
        ["NHITS-lo-80.0", "NHITS-median", "NHITS-hi-80.0"],
        [0.1, 0.5, 0.9],
    ),
    "neuralforecast, quantiles": (
        ["ds", "NHITS", "NHITS_ql0.9", "NHITS_ql0.1", "y"],
        ["NHITS_ql0.1", "NHITS_ql0.9"],
        [0.1, 0.9],
    ),
    "neuralforecast, percentiles": (["NHITS-q-5", "NHITS-q-95", "y"], ["NHITS-q-5", "NHITS-q-95"], [0.05, 0.95]),
    "NeuralProphet": (["ds", "yhat1", "yhat1 5.0%", "yhat1 95.0%", "y"], ["yhat1 5.0%", "yhat1 95.0%"], [0.05, 0.95]),
    "darts, quantiles": (
        ["time", "sales_q0.10", "sales_q0.50", "sales_q0.90", "y"],
        ["sales_q0.10", "sales_q0.50", "sales_q0.90"],
        [0.1, 0.5, 0.9],
    ),
    "older darts, ETNA": (["target_0.025", "target_0.975", "target"], ["target_0.025", "target_0.975"], [0.025, 0.975]),
    "sktime, intervals": (
        [("sales", 0.9, "lower"), ("sales", 0.9, "upper"), ("sales", 0.5, "lower"), ("sales", 0.5, "upper"), "y"],
        [("sales", 0.9, "lower"), ("sales", 0.5, "lower"), ("sales", 0.5, "upper"), ("sales", 0.9, "upper")],
        [0.05, 0.25, 0.75, 0.95],
    ),
    "sktime, quantiles": (
        [("Quantiles", 0.05), ("Quantiles", 0.95), "y"],
        [("Quantiles", 0.05), ("Quantiles", 0.95)],
        [0.05, 0.95],
    ),
    "Prophet": (
        ["ds", "trend", "yhat_lower", "yhat_upper", "trend_lower", "trend_upper", "yhat", "y"],
        ["yhat_lower", "yhat", "yhat_upper"],
        [0.1, 0.5, 0.9],
    ),
    "Prophet, no centre": (["yhat_upper", "yhat_lower", "y"], ["yhat_lower", "yhat_upper"], [0.1, 0.9]),
    "samples": (
        ["id", *(f"sample_{k}" for k in range(12)), "y"],
        [f"sample_{k}" for k in range(12)],
        [],
    ),
    "samples from 1": (["sample_2", "sample_1", "sample_3", "y"], ["sample_1", "sample_2", "sample_3"], []),
    "draws": (["draw.0", "draw.1", "draw.2", "y"], ["draw.0", "draw.1", "draw.2"], []),
    "draws with zeros": (["draw_00", "draw_01", "draw_02", "y"], ["draw_00", "draw_01", "draw_02"], []),
    "short samples": (["shop", "s0", "s1", "s2", "y"], ["s0", "s1", "s2"], []),
    "darts, samples": (["time", "sales_s0", "sales_s1", "y"], ["sales_s0", "sales_s1"], []),
}  # fmt: skip


def table_of(names: list[Any], forecast: list[Any], n: int = 30) -> pd.DataFrame:
    """Numbers that rise with the place among the forecast's columns, a target, and texts in all other columns."""
    rng = np.random.default_rng(0)
    columns: dict[Any, Any] = {name: rng.standard_normal(n) if name in ("y", "target") else ["a"] * n for name in names}
    for k, name in enumerate(forecast):
        columns[name] = k + 1 + rng.uniform(0, 0.9, n)
    return pd.DataFrame(list(columns.values()), index=pd.Index(columns, tupleize_cols=False)).T.infer_objects()


def expected(frame: pd.DataFrame, forecast: list[Any], levels: list[float]) -> Any:
    values = np.column_stack([frame[name].to_numpy(dtype=float) for name in forecast])
    if levels:
        return Quantiles(levels, values)
    return Ensemble(values) if len(forecast) != 2 or "s0" in str(forecast[0]) else Normal(*values.T)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
@pytest.mark.parametrize("case", NAMES)
def test_as_distribution_reads_what_the_command_line_reads(case: str, library: str) -> None:
    names, forecast, levels = NAMES[case]
    frame = table_of(names, forecast)
    nested = isinstance(forecast[0], tuple)
    written = frame.rename(columns=str) if nested else frame
    made = {
        "pandas": lambda: frame,
        "polars": lambda: pl.DataFrame({str(name): frame[name].to_numpy() for name in frame}),
        "pyarrow": lambda: pa.table({str(name): frame[name].to_numpy() for name in frame}),
        "dict": lambda: {name: frame[name].to_numpy() for name in frame},
    }[library]()
    columns, notes = find_columns(open_table(written if library == "dict" else made), Asked())
    assert columns.forecast == tuple(map(str, forecast)) and list(columns.keys) == levels
    (rows,) = scan_rows(open_table(written), columns)
    if case.startswith("Prophet"):
        with pytest.warns(UserWarning, match=PROPHET):
            law = as_distribution(made)
        assert any(text.startswith(PROPHET) for text in notes)
    else:
        law = as_distribution(made)
    told, right = forecasts_of(columns, rows), expected(frame, forecast, levels)
    at = [0.05, 0.5, 0.9]
    assert type(law) is type(told) is type(right)
    np.testing.assert_array_equal(law.quantiles(at), right.quantiles(at))
    np.testing.assert_array_equal(told.quantiles(at), right.quantiles(at))


def test_nested_columns_of_a_file(tmp_path: Any) -> None:
    """pandas writes (variable, coverage, side) as a text, its numbers as texts."""
    nested = pd.MultiIndex.from_product([["sales"], [0.5, 0.9], ["lower", "upper"]])
    pd.DataFrame([[2.0, 3.0, 1.0, 4.0]], columns=nested).to_parquet(tmp_path / "a.parquet")
    columns, _ = find_columns(open_table(tmp_path / "a.parquet"), Asked(), outcomes=False)
    assert columns.keys == (0.05, 0.25, 0.75, 0.95) and columns.forecast[0] == "('sales', '0.9', 'lower')"


def test_samples_of_a_frame_are_samples_of_an_array(rng: np.random.Generator) -> None:
    x = rng.standard_normal((4, 3))
    frame = pd.DataFrame(x, columns=["sample_0", "sample_1", "sample_2"], index=[7, 5, 3, 1])
    for made in (frame, pl.DataFrame(frame), pa.table(dict(frame)), frame.assign(day="a")):
        law = as_distribution(made, kind="discrete")
        assert law.is_discrete and np.array_equal(law.samples, np.sort(x, axis=1))
    assert list(as_distribution(frame).index) == [7, 5, 3, 1]
    assert type(as_distribution(dict(frame))) is Ensemble


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["mu", "sigma", "q10", "q90"], "must tell one kind of forecasts; these tell means and standard deviations in"),
        (
            ["prediction", "day"],
            "a distribution needs a spread, and 'prediction' holds point predictions. Use",
        ),
        (["p_cat", "p_dog"], "a distribution needs a spread, and 'p_cat' holds class probabilities"),
        (["a_s0", "a_s1", "b_s0", "b_s1"], "columns must be of one model; 'a_s0' and 'b_s0' are not"),
        (["sample_0", "sample_2"], "2 of 2 are neither: 'sample_0', 'sample_2'"),  # one is lost
        (["s7", "s8"], "2 of 2 are neither"),
        (["gdp_q1", "gdp_q2"], "2 of 2 are neither"),  # quarters
        (["yhat_lower", "mean"], "2 of 2 are neither"),
    ],
)
def test_names_that_tell_no_distribution(names: list[str], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        as_distribution(pd.DataFrame([[1.0] * len(names)], columns=names))


def test_two_models() -> None:
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["A-lo-90", "B-lo-90", "A-hi-90"])
    with pytest.raises(ValueError, match="`A-lo-90` and `B-lo-90` are both of level 0.05. Two models\\? Select"):
        as_distribution(frame)


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (["mu", "sigma", "s0", "s1"], ["normal"]),  # names that are less sure do not get in the way
        (["mu", "sigma", "alpha_0.5", "alpha_0.9", "prediction"], ["normal"]),
        (["q10", "q90", "yhat_lower", "yhat_upper", "probability"], ["quantiles"]),
        (["p_a", "p_b", "prediction"], ["classes"]),
        (["probability", "prediction"], ["classes"]),
        (["mu", "sigma", "sample_0", "sample_1"], ["normal", "samples"]),
        (["s0", "s1", "probability"], ["samples", "classes"]),
        (["pred", "yhat"], ["points", "points"]),
        (["mean", "day"], []),
    ],
)
def test_how_sure_names_are(names: list[str], kinds: list[str]) -> None:
    assert [told.kind for told in forecasts_told(names)] == kinds


@pytest.mark.parametrize(
    "name", ["gdp_q1", "x_1.5", "model-q-100", "()", "('a', 'b')", "(day", "_0.5x", "a-lo-", ("y", 3)]
)
def test_names_that_are_no_levels(name: Any) -> None:
    assert level_of(name) is None
