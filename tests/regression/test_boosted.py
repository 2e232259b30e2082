from __future__ import annotations

import builtins
from copy import deepcopy
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import norm, t

from calibrant import BoostedCalibrator, Ensemble, Normal, Poisson, QuantileCalibrator, load, save
from calibrant.regression.boosted import calibrator
from calibrant.regression.boosted.line import fit_line
from calibrant.regression.boosted.objective import LocationScale, Skew, standards, stretches
from tests.store.test_calibrators import forged

LEVELS = [0.05, 0.5, 0.95]


# ---- the likelihood ----
@pytest.fixture
def scores(rng):
    return rng.standard_t(3, 50) * 2, np.column_stack([rng.normal(size=50), rng.normal(0, 0.7, 50)])


def literal_skew(u, e):
    """Student's t behind sinh(asinh u - e) + c sinh e, written out."""
    c = quad(lambda x: x**4 / np.sqrt(1 + x * x) * norm.pdf(x), -12, 12)[0]
    value = np.sinh(np.arcsinh(u) - e) + c * np.sinh(e)
    return value, np.cosh(np.arcsinh(u) - e) / np.sqrt(1 + u * u)


@pytest.mark.parametrize("nu", [3.0, 8.0])
def test_losses_are_those_of_student(scores, nu):
    u, p = scores
    literal = -t.logpdf(u, nu, p[:, 0], np.exp(p[:, 1]))
    assert LocationScale(nu).losses(u, p) - t.logpdf(0, nu) == pytest.approx(literal)
    value, slope = literal_skew(u, p[:, 1])
    assert Skew(nu).losses(u, p[:, 1:]) - t.logpdf(0, nu) == pytest.approx(-t.logpdf(value, nu) - np.log(slope))


@pytest.mark.parametrize("nu", [3.0, 8.0])
@pytest.mark.parametrize("kind", [LocationScale, Skew])
def test_slopes_are_those_of_differences(scores, kind, nu):
    u, p = scores
    p = p[:, : kind.n_outputs]
    slope, _ = kind(nu).slopes(u, np.clip(p, -1, 1))
    for k in range(kind.n_outputs):
        step = 1e-6 * np.eye(kind.n_outputs)[k]
        found = (kind(nu).losses(u, np.clip(p, -1, 1) + step) - kind(nu).losses(u, np.clip(p, -1, 1) - step)) / 2e-6
        assert slope[:, k] == pytest.approx(found, rel=1e-5, abs=1e-6)


def test_curvatures_are_expected_squares_of_slopes():
    nu, parameters = 8.0, np.array([0.4, 0.3])
    u = np.linspace(-400, 400, 400_001)
    density = t.pdf(u, nu, 0.4, np.exp(0.3)) * (u[1] - u[0])
    slope, curvature = LocationScale(nu).slopes(u, np.broadcast_to(parameters, (len(u), 2)))
    assert density @ np.square(slope) == pytest.approx(curvature[0], rel=1e-4)
    assert density @ (slope[:, 0] * slope[:, 1]) == pytest.approx(0, abs=1e-6)
    value, rise = literal_skew(u, 0.6)
    slope, curvature = Skew(nu).slopes(u, np.full((len(u), 1), 0.6))
    density = t.pdf(value, nu) * rise * (u[1] - u[0])
    assert density @ np.square(slope[:, 0]) == pytest.approx(curvature[0, 0], rel=0.02)


def test_skew_and_location_hardly_depend_on_each_other():
    u = np.linspace(-40, 40, 80_001)
    density = t.pdf(u, 30.0) * (u[1] - u[0])
    (by_location, _), by_skew = (
        LocationScale(30.0).slopes(u, np.zeros((len(u), 2)))[0].T,
        Skew(30.0).slopes(u, np.zeros((len(u), 1)))[0][:, 0],
    )
    sizes = density @ np.square(by_location), density @ np.square(by_skew)
    assert abs(density @ (by_location * by_skew)) / np.sqrt(np.prod(sizes)) < 0.1


def test_standards_are_the_likeliest(rng):
    u, w = 0.4 + 1.3 * rng.standard_t(8, 400), rng.integers(1, 4, 400).astype(float)
    _, location, scale = t.fit(np.repeat(u, w.astype(int)), f0=8)
    assert standards(u, w, 8.0) == pytest.approx((location, scale), rel=1e-3)


def test_stretches_undo_shrinkage(rng):
    m, log_scale = rng.normal(size=(2, 20_000))
    u = m + np.exp(0.5 * log_scale) * rng.standard_t(8, 20_000)
    shrunken = np.column_stack([m / 1.5, 0.5 * log_scale / 1.2])
    assert stretches(u, shrunken, np.ones(20_000), LocationScale(8.0)) == pytest.approx([1.5, 1.2], abs=0.05)
    assert stretches(u, 3 * shrunken, np.ones(20_000), LocationScale(8.0)) == pytest.approx([1, 1])


def test_the_line_stretches_a_small_segment_and_presses_noise(rng):
    small = rng.random(20_000) < 0.05
    said = np.where(small, 0.4, 0.0) + rng.normal(0, 0.05, 20_000)  # log 2 = 0.69 is the truth of the small one
    u = np.where(small, 2.0, 1.0) * rng.standard_t(8, 20_000)
    line = fit_line(u, np.column_stack([np.zeros(20_000), said]), np.ones(20_000), LocationScale(8.0))
    assert line(np.array([0.4, 0.0])) == pytest.approx([np.log(2), 0.0], abs=0.08)
    assert line(0.05) - line(-0.05) < 0.06
    same = np.zeros((50, 2))
    assert fit_line(u[:50], same, np.ones(50), LocationScale(8.0)) is None


# ---- the calibrator ----
def segments(rng):
    """Forecasts that are right, but in the north, where they are 2 too low and three times too narrow."""
    pytest.importorskip("lightgbm")

    def draw(n):
        frame = pd.DataFrame({"region": rng.choice(["north", "south", "east", "west"], n), "price": rng.normal(size=n)})
        frame.loc[rng.random(n) < 0.1, "price"] = np.nan
        mu, north = rng.normal(0, 2, n), frame["region"] == "north"
        return frame, Normal(mu, 1.0), mu + np.where(north, 2 + 3 * rng.normal(size=n), rng.normal(size=n))

    return draw


@pytest.fixture
def segment(rng):
    return segments(rng)


@cache
def fitted(n=800, n_rounds=600):
    """Fitted to the first rows that tests draw, once for all that only look at it."""
    X, law, y = segments(np.random.default_rng(20180710))(n)
    return BoostedCalibrator(n_rounds).fit(law, y, X=X)


def test_a_segment_is_repaired(segment):
    cal, _ = fitted(1200), segment(1200)
    X, law, y = segment(4000)
    low, high = cal.transform(law, X=X).interval(0.9).T
    for north in (X["region"] == "north", X["region"] != "north"):
        assert np.mean(((low <= y) & (y <= high))[north]) == pytest.approx(0.9, abs=0.035)
    truth = Normal(law.loc + 2 * (X["region"] == "north"), np.where(X["region"] == "north", 3.0, 1.0))
    lost = np.mean(truth.logpdf(y) - cal.transform(law, X=X).logpdf(y))
    alone = QuantileCalibrator().fit(law, y).transform(law)
    assert 0 <= lost < 0.03 and np.mean(truth.logpdf(y) - alone.logpdf(y)) > 0.2
    assert cal.n_rounds_ > 0 and cal.gain_ > 0.2 and np.all(cal.stretch_ >= 1)


def test_forecast_dependent_faults_need_no_features(segment, rng):
    sigma = np.exp(rng.normal(0, 0.7, 1500))
    y = rng.normal(0, np.where(sigma > 1, 2.0, 0.5) * sigma)
    cal = BoostedCalibrator().fit(Normal(np.zeros(1500), sigma), y, X=np.zeros((1500, 1)))
    std = cal.transform(Normal([0.0, 0.0], [0.5, 2.0]), X=np.zeros((2, 1))).std()
    assert std == pytest.approx([0.25, 4.0], rel=0.25)


def test_where_nothing_is_wrong_little_is_done(segment):
    rounds, costs = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        mu, X = rng.normal(size=(2, 2300))
        law, y = Normal(mu, 1.0), mu + rng.normal(size=2300)
        cal = BoostedCalibrator(n_rounds=60).fit(law[:300], y[:300], X=X[:300, None])
        rounds.append(cal.n_rounds_)
        after = cal.transform(law[300:], X=X[300:, None])
        costs.append(np.mean(law[300:].logpdf(y[300:]) - after.logpdf(y[300:])))
    assert np.count_nonzero(rounds) <= 4 and np.mean(costs) < 0.01


def test_without_trees_it_is_the_quantile_map(segment, rng):
    y, w = rng.normal(1, 2, 30), rng.integers(1, 4, 30)
    law = Normal(np.zeros(30), 1.0)
    cal = BoostedCalibrator().fit(law, y, X=np.zeros((30, 1)), sample_weight=w)
    other = QuantileCalibrator().fit(law, y, sample_weight=w)
    assert cal.n_rounds_ == 0 and len(cal.forest_) == 0
    assert np.array_equal(cal.transform(law, X=np.zeros((30, 1))).cdf(y), other.transform(law).cdf(y))


def test_order_of_rows_and_copies(segment, rng):
    X, law, y = segment(500)
    new = X[:20], law[:20]
    w, order = rng.integers(1, 4, 500), rng.permutation(500)
    plain = BoostedCalibrator(60).fit(law, y, X=X, sample_weight=w)
    assert plain.n_rounds_ > 0
    said = plain.transform(new[1], X=new[0]).quantiles(LEVELS)
    moved = BoostedCalibrator(60).fit(law[order], y[order], X=X.iloc[order], sample_weight=w[order])
    assert np.allclose(moved.transform(new[1], X=new[0]).quantiles(LEVELS), said, rtol=1e-9, atol=1e-9)
    rows = np.repeat(np.arange(500), w)
    copies = BoostedCalibrator(60).fit(law[rows], y[rows], X=X.iloc[rows])
    assert np.allclose(copies.transform(new[1], X=new[0]).quantiles(LEVELS), said, rtol=1e-9, atol=1e-9)


def test_columns_in_another_order(segment):
    X, law, y = segment(800)
    one, other = (BoostedCalibrator(60).fit(law, y, X=X[names]) for names in (["region", "price"], ["price", "region"]))
    before = one.transform(law, X=X)
    assert np.array_equal(before.median(), one.transform(law, X=X[["price", "region"]]).median())  # found by name
    assert np.mean(before.logpdf(y) - other.transform(law, X=X).logpdf(y)) == pytest.approx(0, abs=0.02)


def test_the_same_every_time_with_any_threads(segment):
    X, law, y = segment(300)
    first, *others = (
        BoostedCalibrator(20, n_jobs=n, random_state=7).fit(law, y, X=X).transform(law, X=X).median() for n in (None, 2)
    )
    assert all(np.array_equal(first, other) for other in others)
    assert not np.array_equal(
        first, BoostedCalibrator(20, random_state=8).fit(law, y, X=X).transform(law, X=X).median()
    )


@pytest.mark.parametrize(
    "kind",
    [
        pl.DataFrame,
        lambda X: X.astype({"region": "category"}),
        lambda X: X.to_numpy(),
        lambda X: X.to_numpy().tolist(),
        lambda X: X.assign(price=X["price"].astype("Float64")),
        lambda X: pl.DataFrame(X).with_columns(pl.col("region").cast(pl.Categorical)),
        lambda X: pl.DataFrame(X).to_arrow(),
    ],
)
def test_any_kind_of_table(segment, kind):
    X, law, y = segment(400)
    plain, other = fitted(400, 60), BoostedCalibrator(60).fit(law, y, X=kind(X))
    assert plain.n_rounds_ > 0
    before, after = (cal.transform(law[:40], X=kind(X[:40])).median() for cal in (plain, other))
    assert np.array_equal(before, after)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_features_of_any_unit(segment, rng, unit):
    x = rng.normal(size=600)
    y = rng.normal(0, np.where(x > 0.5, 4.0, 1.0))
    law = Normal(np.zeros(600), 1.0)
    plain, other = (BoostedCalibrator(60).fit(law, y, X=u * x[:, None]) for u in (1.0, unit))
    after = other.transform(law, X=unit * x[:, None]).std()
    assert plain.n_rounds_ > 0 and after == pytest.approx(plain.transform(law, X=x[:, None]).std(), rel=1e-6)
    assert np.isfinite(other.transform(law[:2], X=[[np.inf], [-np.inf]]).std()).all()


def test_unseen_categories_are_missing_values():
    cal = fitted()
    law = Normal([0.0, 0.0], 1.0)
    made = cal.transform(law, X=pd.DataFrame({"region": ["new", None], "price": [0.0, 0.0]}))
    assert made.median()[0] == made.median()[1]


def test_counts_and_samples(segment, rng):
    X, _, _ = segment(600)
    rate = np.where(X["region"] == "north", 9.0, 3.0)
    law, y = Poisson(np.full(600, 3.0)), rng.poisson(rate).astype(float)
    cal = BoostedCalibrator(100).fit(law, y, X=X)
    after = cal.transform(law, X=X)
    north = X["region"] == "north"
    assert cal.n_rounds_ > 0 and after.mean()[north].mean() == pytest.approx(y[north].mean(), abs=1)
    draws = Ensemble(rng.normal(size=(600, 20)))
    y = rng.normal(0, np.where(X["region"] == "north", 4.0, 1.0))
    assert BoostedCalibrator(60).fit(draws, y, X=X).transform(draws, X=X).crps(y).mean() < draws.crps(y).mean()


def test_missing_outcomes_take_their_features_along(segment):
    X, law, y = segment(400)
    holes = np.where(np.arange(400) % 9 == 0, np.nan, y)
    with pytest.warns(UserWarning, match="45 of 400 rows have no outcome"):
        some = BoostedCalibrator(60).fit(law, holes, X=X)
    kept = ~np.isnan(holes)
    whole = BoostedCalibrator(60).fit(law[kept], y[kept], X=X[kept])
    assert np.array_equal(some.transform(law, X=X).median(), whole.transform(law, X=X).median())


def test_a_skew_that_the_features_tell_is_found(segment, rng):
    x = rng.normal(size=(3500, 3))
    side = np.where(x[:, 0] > 0, 1.0, -1.0)
    y = side * (rng.gamma(2.0, size=3500) - 2)
    law, new = Normal(np.zeros(1500), 1.5), slice(1500, None)
    cal = BoostedCalibrator(100).fit(law, y[:1500], X=x[:1500])
    assert cal.skew_ is not None

    def told():
        made = cal.transform(Normal(np.zeros(2000), 1.5), X=x[new])
        short, long = np.where(side[new, None] > 0, made.quantiles([0.05, 0.95]), -made.quantiles([0.95, 0.05])).T
        return np.mean(made.logpdf(y[new])), np.mean(side[new] * y[new] < short), np.mean(side[new] * y[new] > long)

    with_skew = told()
    cal.skew_ = None
    without = told()
    assert with_skew[0] > without[0] + 0.02
    for place in (1, 2):
        assert abs(with_skew[place] - 0.05) < min(0.035, abs(without[place] - 0.05))


def test_heavier_tails_are_chosen_where_unseen_rows_have_them(segment, rng):
    x = rng.normal(size=(1500, 2))
    spread = np.where(x[:, 0] > 0, 3.0, 1.0)
    law = Normal(np.zeros(1500), 1.0)
    heavy, light = (BoostedCalibrator(60).fit(law, spread * draw, X=x) for draw in _draws(rng))
    assert (heavy.nu_, light.nu_) == (4.0, 8.0)
    assert BoostedCalibrator(20, nu=5).fit(law, spread, X=x).nu_ == 5.0


def _draws(rng):
    return rng.standard_t(2.5, 1500), rng.normal(size=1500)


def test_very_many_rows_are_thinned(segment, rng, monkeypatch):
    monkeypatch.setattr(calibrator, "_MOST_ROWS", 1000)
    X, law, y = segment(4000)
    cal = BoostedCalibrator(60).fit(law, y, X=X)
    assert cal.n_rows_ == 4000 and cal.n_rounds_ > 0
    order = rng.permutation(4000)
    moved = BoostedCalibrator(60).fit(law[order], y[order], X=X.iloc[order])
    after = (each.transform(law[:20], X=X[:20]).quantiles(LEVELS) for each in (cal, moved))
    assert np.allclose(*after, rtol=1e-9, atol=1e-9)


# ---- errors ----
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"n_leaves": 9}, "`n_leaves` must be at most 8; got 9"),
        ({"n_rounds": 5}, "`n_rounds` must be a whole number of at least 20"),
        ({"rate": 0.0}, "`rate` must be a number above 0"),
        ({"nu": "3"}, "`nu` must be a number"),
        ({"n_jobs": -1}, "`n_jobs` must be"),
    ],
)
def test_bad_parameters(changes, text):
    with pytest.raises(ValueError, match=text):
        BoostedCalibrator(**changes).fit(Normal([0.0], 1.0), [1.0], X=[[1.0]])


def test_bad_features(segment):
    X, law, y = segment(60)
    with pytest.raises(ValueError, match="`X` must be given"):
        BoostedCalibrator().fit(law, y)
    with pytest.raises(ValueError, match="`X` must have one row per forecast; got 59 for 60"):
        BoostedCalibrator().fit(law, y, X=X[:59])
    with pytest.raises(ValueError, match="`X` must be 2-dimensional.*reshape"):
        BoostedCalibrator().fit(law, y, X=np.zeros(60))
    with pytest.raises(TypeError, match="Times"):
        BoostedCalibrator().fit(law, y, X=np.zeros((60, 1), dtype="M8[s]"))
    cal = BoostedCalibrator().fit(law, y, X=X)
    with pytest.raises(ValueError, match="`X` must be given"):
        cal.transform(law)
    with pytest.raises(ValueError, match="`X` must have the 2 columns of the fit; it has 3"):
        cal.transform(law, X=X.assign(more=1.0))
    with pytest.raises(ValueError, match="the columns of the fit, region, price; it lacks 'price'"):
        cal.transform(law, X=X.rename(columns={"price": "cost"}))
    with pytest.raises(TypeError, match=r"`X\['price'\]` must be numbers; got str 'high'"):
        cal.transform(law, X=X.assign(price="high"))


def test_without_lightgbm_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "lightgbm":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[boost\]'"):
        BoostedCalibrator().fit(Normal([0.0], 1.0), [1.0], X=[[1.0]])


# ---- files ----
def test_loaded_without_lightgbm(segment, tmp_path, monkeypatch):
    cal = fitted()
    X, law, y = segment(50)
    save(cal, tmp_path / "a.calibrant")
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    again = load(tmp_path / "a.calibrant")
    assert cal.n_rounds_ > 0 and repr(again) == repr(cal)
    assert np.array_equal(again.transform(law, X=X).logpdf(y), cal.transform(law, X=X).logpdf(y))


def test_files_from_before_the_line_and_the_skew_are_still_read(segment, tmp_path):
    path = tmp_path / "a.calibrant"
    cal = deepcopy(fitted())
    cal.line_, cal.skew_ = None, None
    X, law, y = segment(50)
    said = cal.transform(law, X=X).logpdf(y)
    cal.nu = 8.0
    save(cal, path)

    def change(told, _):
        for name in ("line_", "skew_", "skew_span_", "nu_"):
            told["state"]["state"].pop(name)

    forged(path, change)
    assert np.array_equal(load(path).transform(law, X=X).logpdf(y), said)


@pytest.mark.parametrize(
    ("part", "name", "value", "text"),
    [
        ("forest_", "n_outputs", 3, "spreads must be positive"),
        ("forest_", "n_outputs", 0, "counts must be counts"),
        ("table_", "names", {"tuple": ["region"]}, "a text for each column"),
        ("table_", "categories", {"tuple": [None, None]}, "trees must be on its features"),
        (None, "scale_", {"float": "nan"}, "must be finite"),
        (None, "scale_", 0.0, "scale must be positive"),
        (None, "line_", 1.0, "its line must be a line"),
        (None, "skew_", "none", "its skew trees"),
    ],
)
def test_forged_files_are_refused(tmp_path, part, name, value, text):
    path = tmp_path / "a.calibrant"
    save(fitted(200), path)

    def change(told, _):
        state = told["state"]["state"]
        (state if part is None else state[part]["state"])[name] = value

    forged(path, change)
    with pytest.raises(ValueError, match=text):
        load(path)
