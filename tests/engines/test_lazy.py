import numpy as np
import pyarrow as pa
import pytest
from scipy.special import ndtr

from calibrant import (
    BetaCalibrator,
    GroupedCalibrator,
    IsotonicCalibrator,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    TemperatureCalibrator,
)
from calibrant.engines import arrow
from calibrant.engines.added import Added
from calibrant.engines.lazy import apply, evaluate, fit
from calibrant.engines.lazy.batches import Work
from calibrant.engines.measuring import measured_by_batches
from calibrant.metrics.catalogue import MEASURES
from calibrant.numerics.nested_grid import NestedGrid
from calibrant.tables.columns import Columns

from .lazy_examples import LAZY, collected, lazily, rows_of

PLAIN = Columns("normal", ("mu", "sigma"), target="y")
WEIGHTED = Columns("normal", ("mu", "sigma"), target="y", weight="w")
GROUPED = Columns("normal", ("mu", "sigma"), target="y", weight="w", group=("shop", "kind"))
POINTS = Columns("points", ("mu",), target="y")
ADDED = Added.of(levels=[0.01, 0.5], coverage=[0.9], mean=True, std=True)


@pytest.fixture(scope="module")
def rows():
    return rows_of(np.random.default_rng(0))


def check_same(mine, other):
    """Counts and extremes to the last digit, sums but for rounding."""
    assert mine.grid.level == other.grid.level and mine.n_rows == other.n_rows and mine.span == other.span
    np.testing.assert_allclose(mine.grid.keys, other.grid.keys, rtol=1e-14)
    np.testing.assert_allclose(mine.grid.mass, other.grid.mass, rtol=1e-14)
    np.testing.assert_allclose(mine.grid.moment, other.grid.moment, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("engine", LAZY)
@pytest.mark.parametrize(
    ("columns", "calibrator"),
    [
        (PLAIN, QuantileCalibrator()),
        (WEIGHTED, ScaleCalibrator("bins")),
        (POINTS, ResidualCalibrator()),
        (GROUPED, GroupedCalibrator(ScaleCalibrator())),
    ],
)
def test_an_engine_learns_and_forecasts_what_python_does(rows, engine, columns, calibrator):
    frame = lazily(engine, rows)
    found, expected = fit(frame, columns, calibrator), arrow.fit(rows, columns, calibrator)
    assert type(found) is type(calibrator) and found.n_rows_ == expected.n_rows_
    if columns.group:
        assert found.summary_.groups.keys() == expected.summary_.groups.keys()
        for name, part in found.summary_.groups.items():
            check_same(part, expected.summary_.groups[name])
    else:
        check_same(found.summary_, expected.summary_)
    made = apply(found, frame, columns, added=ADDED)
    assert type(made) is type(frame)
    with pytest.warns(UserWarning, match="have no finite forecast"):
        wanted = arrow.apply(expected, rows, columns, added=ADDED)
    made = collected(made)
    assert made.column_names == wanted.column_names
    for name in wanted.column_names[-6:]:
        one, two = (table[name].to_numpy() for table in (made, wanted))
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)


def test_cells_are_those_of_the_grid_and_maps_those_of_the_rows():
    rng = np.random.default_rng(1)
    n = 200_000
    mu, y = rng.normal(size=n), 1.3 * rng.normal(size=n) ** 3
    frame = lazily("polars", pa.table({"mu": mu, "sigma": np.full(n, 0.5), "y": y}))
    found = fit(frame, PLAIN, QuantileCalibrator())
    z = (y - mu) / 0.5
    cells = np.floor(np.ldexp(np.arcsinh(z), found.summary_.grid.level))
    keys, counts = np.unique(cells, return_counts=True)
    grid = NestedGrid.of(z)
    assert found.summary_.grid.level == grid.level and len(keys) <= 16_384 < 2.5 * len(keys)
    np.testing.assert_array_equal(found.summary_.grid.keys, keys)
    np.testing.assert_array_equal(found.summary_.grid.mass[0], counts)
    places = np.linspace(-8, 8, 401)
    exact = QuantileCalibrator().fit(Normal(mu, 0.5), y)
    np.testing.assert_allclose(ndtr(found.map_(places)), ndtr(exact.map_(places)), atol=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_cells_are_fine_enough_in_any_unit(unit):
    rng = np.random.default_rng(2)
    rows = pa.table({"mu": np.zeros(80_000), "y": unit * rng.normal(size=80_000)})
    found, expected = (f(rows, POINTS, ResidualCalibrator()) for f in (_fit_polars, arrow.fit))
    check_same(found.summary_, expected.summary_)
    few = pa.table({"mu": np.zeros(80_000), "y": unit * rng.integers(0, 50, 80_000)})
    found = _fit_polars(few, POINTS, ResidualCalibrator())
    assert found.summary_.grid.level is None and len(found.summary_.grid.keys) == 50


def _fit_polars(table, columns, calibrator):
    return fit(lazily("polars", table), columns, calibrator)


def test_groups_may_be_categories_and_empty_texts_are_missing():
    rows = pa.table({"mu": np.zeros(6), "y": np.arange(6.0), "shop": ["a", "", None, "b", "b", "a"]})
    columns = Columns("points", ("mu",), target="y", group=("shop",))
    for table in (rows, rows.set_column(2, "shop", rows["shop"].combine_chunks().dictionary_encode())):
        found = _fit_polars(table, columns, GroupedCalibrator(ResidualCalibrator(), strength=2.0)).summary_.groups
        assert {name: part.n_rows for name, part in found.items()} == {"(missing)": 2, "a": 2, "b": 2}


def test_what_is_wrong_is_told_in_one_line(rows):
    def refused(match, columns=PLAIN, **changed):
        table = rows
        for name, value in changed.items():
            values = rows[name].to_numpy().copy()
            values[10] = value
            table = table.set_column(table.column_names.index(name), name, pa.array(values))
        with pytest.raises(ValueError, match=match):
            _fit_polars(table, columns, QuantileCalibrator())

    refused("column `sigma` must be positive; 1 of 4000 rows are not so", sigma=0.0)
    refused("column `y` must be finite; 1 of 4000", y=np.inf)
    refused("column `w` must hold finite numbers, 0 or positive; 1 of", WEIGHTED, w=-1)
    refused("within 1e\\+100 predicted deviations", y=1e200)
    shares = rows.set_column(3, "w", pa.array(np.full(len(rows), 1e-6)))
    with pytest.warns(UserWarning, match="Weights are frequencies"):
        _fit_polars(shares, WEIGHTED, ScaleCalibrator("bins"))
    nothing = rows.set_column(2, "y", pa.array([None] * len(rows), pa.float64()))
    with pytest.raises(ValueError, match="column `y` must have an outcome in some row; it has none."):
        _fit_polars(nothing, PLAIN, QuantileCalibrator())


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_applying_needs_no_python_in_the_engine(rows, engine, capsys):
    calibrator = arrow.fit(rows, PLAIN, QuantileCalibrator())
    made = apply(calibrator, lazily(engine, rows), PLAIN)
    if engine == "spark":
        made.explain(True)
    plan = made.explain() if engine == "duckdb" else capsys.readouterr().out
    assert "sigma" in plan and not any(word in plan.lower() for word in ("python", "udf", "mapinarrow"))


@pytest.mark.parametrize("engine", LAZY)
def test_measures_are_those_of_the_rows(rows, engine):
    frame = lazily(engine, rows)
    kept = rows.filter(
        np.isfinite(rows["mu"].to_numpy()) & np.isfinite(rows["y"].to_numpy()) & (rows["w"].to_numpy() > 0)
    )
    mu, sigma, y, w = (kept[name].to_numpy().astype(float) for name in ("mu", "sigma", "y", "w"))
    calibrator = QuantileCalibrator().fit(Normal(mu, sigma), y)
    for fitted, law in ((None, Normal(mu, sigma)), (calibrator, calibrator.transform(Normal(mu, sigma)))):
        found = evaluate(frame, WEIGHTED, fitted)
        assert list(found) == [
            "nll",
            "crps",
            "coverage_50",
            "coverage_90",
            "coverage_99",
            "calibration_error",
            "mean_std",
        ]
        for key, value in found.items():
            assert value == pytest.approx(MEASURES[key].function(y, law, sample_weight=w), rel=1e-6)
    by_group = evaluate(frame, GROUPED)
    batches = measured_by_batches(rows, GROUPED)
    assert by_group.keys() == batches.keys() and len(by_group) == 24
    for name, found in by_group.items():
        assert found == pytest.approx(batches[name], rel=1e-5)


def test_measures_of_points_classes_and_of_calibrators_with_groups_come_by_batches(rows):
    rng = np.random.default_rng(3)
    kept = rows.filter(np.isfinite(rows["mu"].to_numpy()) & np.isfinite(rows["y"].to_numpy()))
    error = kept["y"].to_numpy() - kept["mu"].to_numpy()
    found = evaluate(lazily("polars", rows), POINTS)
    assert found == pytest.approx({"mae": np.abs(error).mean(), "rmse": np.sqrt(np.square(error).mean())})
    p = rng.random(500)
    table = pa.table({"p": p, "y": (rng.random(500) < p).astype(int)})
    classes = Columns("classes", ("p",), keys=("0", "1"), target="y")
    y = table["y"].to_numpy()
    right = np.where(y == 1, p, 1 - p)
    found = evaluate(lazily("polars", table), classes)
    assert found == pytest.approx({"log_loss": -np.log(right).mean(), "brier_score": np.square(1 - right).mean()})
    calibrator = arrow.fit(rows, GROUPED, GroupedCalibrator(ScaleCalibrator()))
    after, before = (evaluate(lazily("polars", rows), GROUPED, fitted) for fitted in (calibrator, None))
    assert sum(after[name]["nll"] < before[name]["nll"] for name in after) > 20


@pytest.mark.parametrize("engine", LAZY)
def test_quantile_columns_and_classes_are_summed_by_the_engine(engine, monkeypatch):
    rng = np.random.default_rng(4)
    n = 1500
    values = np.sort(rng.normal(size=(n, 3)), axis=1)
    p = rng.dirichlet([1, 1, 1], n)
    p[0], p[1] = (1.0, 0.0, 0.0), (0.2, 0.2001, 0.6)
    label = np.array(["a", "b", "c"])[(p.cumsum(axis=1)[:, :2] < rng.random(n)[:, None]).sum(axis=1)]
    table = pa.table(
        {f"q{j}": values[:, j] for j in range(3)}
        | {name: p[:, j] for j, name in enumerate("abc")}
        | {"y": 2 * rng.normal(size=n), "label": label, "hit": label == "a", "w": rng.integers(0, 3, n)}
    )
    frame = lazily(engine, table)
    cases = [
        (Columns("quantiles", ("q0", "q1", "q2"), (0.1, 0.4, 0.9), "y", "w"), QuantileCalibrator()),
        (Columns("classes", ("a", "b", "c"), ("a", "b", "c"), "label", "w"), PlattCalibrator()),
        (Columns("classes", ("a",), ("False", "True"), "hit"), BetaCalibrator()),
    ]
    expected = [arrow.fit(table, columns, calibrator) for columns, calibrator in cases]
    monkeypatch.setattr(arrow, "fit", None)  # no rows come to Python
    for (columns, calibrator), wanted in zip(cases, expected, strict=True):
        found = fit(frame, columns, calibrator)
        mine, other = found.summary_, wanted.summary_
        assert mine.about == other.about and mine.n_rows == other.n_rows
        for one, two in zip(*(getattr(each, "grids", None) or [each.grid] for each in (mine, other)), strict=True):
            np.testing.assert_allclose(one.keys, two.keys, rtol=1e-12, atol=1e-14)
            np.testing.assert_array_equal(one.mass, two.mass)
        if columns.kind == "classes":
            assert (mine.least, mine.certain) == (other.least, other.certain)
            scores = p[2:] if len(columns.forecast) == 3 else p[:, 0]
            np.testing.assert_allclose(found.transform(scores), wanted.transform(scores), atol=1e-12)


def test_rows_that_expressions_cannot_tell_are_read_one_by_one():
    rng = np.random.default_rng(5)
    low = rng.normal(size=200)
    table = pa.table({"q0": low, "q1": low + (np.arange(200) % 4), "q2": low + 4, "y": low + rng.random(200)})
    columns = Columns("quantiles", ("q0", "q1", "q2"), (0.1, 0.5, 0.9), "y")
    found, wanted = _fit_polars(table, columns, QuantileCalibrator()), arrow.fit(table, columns, QuantileCalibrator())
    check_same(found.summary_, wanted.summary_)
    two = Columns("classes", ("p",), ("0", "1"), "y")
    with pytest.raises(ValueError, match="must be probabilities between 0 and 1; 1 of 2 rows are not so"):
        _fit_polars(pa.table({"p": [1.5, 0.5], "y": [0, 1]}), two, PlattCalibrator())
    with pytest.raises(ValueError, match="labels in `y` must be among '0', '1'; 1 of 2 rows are not so"):
        _fit_polars(pa.table({"p": [0.4, 0.5], "y": [0, 2]}), two, PlattCalibrator())


@pytest.mark.parametrize("engine", LAZY)
def test_probabilities_and_few_groups_are_expressions_too(engine, monkeypatch):
    rng = np.random.default_rng(6)
    n = 600
    p = rng.dirichlet([0.5, 0.5, 0.5], n)
    p[0] = 1.0, 0.0, 0.0
    table = pa.table(
        {name: p[:, j] for j, name in enumerate("abc")}
        | {"label": np.array(["a", "b", "c"])[rng.integers(0, 3, n)], "mu": rng.normal(size=n), "sigma": np.ones(n)}
        | {"y": 2 * rng.normal(size=n), "shop": [f"s{i % 4}" if i % 5 else None for i in range(n)]}
    )
    shops = Columns("normal", ("mu", "sigma"), target="y", group=("shop",))
    names = ("a", "b", "c")
    cases = [
        (Columns("classes", names, names, "label"), PlattCalibrator(clip=0.2)),
        (Columns("classes", names, names, "label"), BetaCalibrator()),
        (Columns("classes", names, names, "label"), TemperatureCalibrator()),
        (Columns("classes", names, names, "label"), IsotonicCalibrator()),
        (shops, GroupedCalibrator(ScaleCalibrator())),
    ]
    fitted = [(arrow.fit(table, *case), case[0]) for case in cases]
    frame = lazily(engine, table)
    expected = [arrow.apply(one, table, columns) for one, columns in fitted]
    monkeypatch.setattr(Work, "of", None)  # no rows come to Python
    for (one, columns), wanted in zip(fitted, expected, strict=True):
        made = collected(apply(one, frame, columns))
        assert made.column_names == wanted.column_names
        for name in wanted.column_names[table.num_columns :]:
            np.testing.assert_allclose(made[name].to_numpy(), wanted[name].to_numpy(), rtol=1e-12)
