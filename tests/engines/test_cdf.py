"""Distribution functions as columns: by rows in Python, and as expressions of engines."""

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import ndtr

from calibrant import (
    Chain,
    GroupedCalibrator,
    Normal,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    engines,
)
from calibrant.engines import arrow
from calibrant.engines.added import Added
from calibrant.engines.lazy import apply
from calibrant.engines.lazy.batches import Work
from calibrant.engines.lazy.curves import is_expressible, mapped, normal_below
from calibrant.engines.lazy.steps import Steps
from calibrant.maps import PiecewiseLinearMap
from calibrant.tables.columns import Columns

from .lazy_examples import LAZY, collected, lazily, rows_of

NORMAL = Columns("normal", ("mu", "sigma"), target="y")
POINTS = Columns("points", ("mu",), target="y")
QUANTILES = Columns("quantiles", ("q9", "q1", "q5"), (0.9, 0.1, 0.5), "y")
PLACES = ["y", "far", 1]
PYTHON = ("python", "udf", "mapinarrow")


@pytest.fixture(scope="module")
def rows():
    """Normal forecasts and quantiles, some of these equal or crossing, and thresholds far out, infinite and missing."""
    rng = np.random.default_rng(0)
    table = rows_of(rng)
    n = len(table)
    far = rng.normal(0.0, 20.0, n)
    far[[5, 10, 11, 12]] = np.inf, np.inf, -np.inf, np.nan
    low = rng.normal(size=n)
    upper = low + np.where(np.arange(n) % 7 == 2, -0.5, rng.random(n) + 0.1)
    new = {"far": far, "q1": low, "q5": np.where(np.arange(n) % 5 == 1, low, 0.5 * (low + upper)), "q9": upper}
    for name, values in new.items():
        table = table.append_column(name, pa.array(values))
    return table


def check_same(made, wanted, names):
    assert made.column_names == wanted.column_names
    for name in names:
        one, two = (table[name].to_numpy() for table in (made, wanted))
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*no finite forecast", "ignore:.*quantiles cross")
@pytest.mark.parametrize("engine", LAZY)
@pytest.mark.parametrize(
    ("columns", "calibrator", "others"),
    [
        (NORMAL, QuantileCalibrator(), {"levels": [0.1], "std": True}),
        (NORMAL, Chain([ScaleCalibrator(), ResidualCalibrator()]), {"coverage": [0.9]}),
        (POINTS, ResidualCalibrator(), {}),
        (QUANTILES, QuantileCalibrator(), {}),
    ],
)
def test_engines_say_what_python_does(rows, engine, columns, calibrator, others, monkeypatch):
    fitted, added = arrow.fit(rows, columns, calibrator), Added.of(cdf=PLACES, **others)
    wanted = arrow.apply(fitted, rows, columns, added=added)
    if engine != "dask":
        monkeypatch.setattr(Work, "of", None)  # no rows come to Python
    frame = lazily(engine, rows)
    made = apply(fitted, frame, columns, added=added)
    assert type(made) is type(frame)
    check_same(collected(made), wanted, added.names())


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_plans_have_no_python_in_them(rows, engine, capsys):
    fitted = arrow.fit(rows, NORMAL, QuantileCalibrator())
    made = apply(fitted, lazily(engine, rows), NORMAL, added=Added.of(cdf="y"))
    if engine == "spark":
        made.explain(True)
    plan = made.explain() if engine == "duckdb" else capsys.readouterr().out
    assert "sigma" in plan and not any(word in plan.lower() for word in PYTHON)


def test_polars_plans_have_no_python_in_them(rows):
    fitted = arrow.fit(rows, NORMAL, QuantileCalibrator())
    plan = apply(fitted, lazily("polars", rows), NORMAL, added=Added.of(cdf="y")).explain()
    assert "sigma" in plan and not any(word in plan.lower() for word in PYTHON)


@pytest.mark.filterwarnings("ignore:.*no finite forecast")
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize(
    ("columns", "calibrator"),
    [
        (Columns("normal", ("mu", "sigma"), target="y", group=("shop",)), GroupedCalibrator(ScaleCalibrator())),
        (NORMAL, QuantileCalibrator("ecdf")),
        (NORMAL, ScaleCalibrator("bins")),
    ],
)
def test_what_expressions_cannot_tell_comes_by_batches(rows, engine, columns, calibrator):
    fitted, added = arrow.fit(rows, columns, calibrator), Added.of(cdf=PLACES)
    made = collected(apply(fitted, lazily(engine, rows), columns, added=added))
    check_same(made, arrow.apply(fitted, rows, columns, added=added), added.names())


def test_rows_have_the_laws_own_numbers():
    table = pa.table({"mu": [0.0, 1.0, None], "sigma": [1.0, 2.0, 1.0], "y": [0.5, None, 0.5], "cdf_3": [1, 2, 3]})
    fitted = ScaleCalibrator().fit(Normal([0.0, 0.0], 1.0), [-2.0, 2.0])
    with pytest.warns(UserWarning, match="1 of 3 rows have no finite forecast"):
        made = engines.apply(fitted, table, mean="mu", std="sigma", cdf=["y", 3])
    law = fitted.transform(Normal([0.0, 1.0], [1.0, 2.0]))
    assert made.column_names[4:] == ["cdf_y", "cdf_3_calibrated"]
    assert made["cdf_y"].to_pylist() == [law.cdf([0.5, 0.0])[0], None, None]
    assert made["cdf_3_calibrated"].to_pylist() == [*law.cdf([3.0, 3.0]), None]
    with pytest.raises(ValueError, match="`cdf` must be one of 'mu', 'sigma'.*; got 'z'"):
        engines.apply(fitted, table, mean="mu", std="sigma", cdf="z")
    with pytest.raises(ValueError, match="`cdf` must be one of"):
        engines.apply(fitted, pl.from_arrow(table).lazy(), mean="mu", std="sigma", cdf="z")


def test_the_normal_distribution_function():
    t = np.concatenate([np.linspace(-40.0, 40.0, 100_001), [np.inf, -np.inf, 0.0, -1e-300, 1e300]])
    steps = Steps(nw.from_native(pl.LazyFrame({"t": t})))
    found = steps.ended({"p": normal_below(nw.col("t"), steps)}).collect()["p"].to_numpy()
    np.testing.assert_allclose(found, ndtr(t), rtol=0, atol=1e-14)
    low = (t < 0) & (t > -37)
    np.testing.assert_allclose(found[low], ndtr(t[low]), rtol=1e-13)


def test_lines_are_told_apart_at_their_knots():
    curve = PiecewiseLinearMap(np.array([-1.0, 0.0, 2.0]), np.array([-2.0, 0.5, 1.0]), (0.5, 3.0))
    z = np.array([-np.inf, -3.0, -1.0, -0.5, 0.0, 1.0, 2.0, 9.0, np.inf])
    found = nw.from_native(pl.LazyFrame({"z": z})).select(t=mapped(curve, nw.col("z"))).collect()["t"].to_numpy()
    np.testing.assert_allclose(found[1:-1], curve(z[1:-1]), rtol=1e-15)
    assert found[0] == -np.inf and found[-1] == np.inf
    many = np.arange(2000.0)
    assert is_expressible(curve) and not is_expressible(PiecewiseLinearMap(many, many))
