"""What must hold for every calibrator of laws."""

from __future__ import annotations

import time
import weakref
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

import calibrant
from calibrant import (
    BetaCalibrator,
    BoostedCalibrator,
    Chain,
    DensityCalibrator,
    FlowCalibrator,
    GPBetaCalibrator,
    GPCCalibrator,
    Normal,
    PointCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    StackCalibrator,
    StudentT,
)
from calibrant.calibration import RegressionCalibrator
from calibrant.regression.map_choice import FITS
from tests.common.examples import can_fit, exported, fit_example, transform_example, unlisted_calibrators

LISTED = {f"quantile, {map}": QuantileCalibrator(map=map) for map in FITS} | {
    "quantile, isotonic over T": QuantileCalibrator("isotonic", ranks="T"),
    "residual": ResidualCalibrator(),
    "residual, ecdf": ResidualCalibrator(map="ecdf"),
    "scale, nll": ScaleCalibrator(),
    "scale, coverage": ScaleCalibrator("coverage"),
    "scale, bins": ScaleCalibrator("bins", n_bins=3),
    "density": DensityCalibrator(n_thresholds=12),
    "density, calibrators": DensityCalibrator(BetaCalibrator(), 12),
    "gpc": GPCCalibrator(8, n_basis=10, n_grid=64),
    "gp-beta": GPBetaCalibrator(),
    "gp-beta, as published": GPBetaCalibrator(8, kernel="quantiles", inducing="learned", base_map=None),
    "flow": FlowCalibrator(),
    "stack": StackCalibrator([QuantileCalibrator(), FlowCalibrator(4, penalty=4.0)]),
    "chain": Chain([ScaleCalibrator(), QuantileCalibrator()]),
}
SMALL = {"boosted": BoostedCalibrator(20, n_leaves=3, nu=8.0)}  # so few trees need not mend the spread
PUBLISHED = {  # as in their papers, which promise less
    "density, no map": DensityCalibrator(n_thresholds=12, base_map=None),
    "gpc, published": GPCCalibrator(
        8, n_basis=10, n_grid=32, mean="zero", inputs="q", lengths="learn", quantile_map=False, kernel="rbf"
    ),
}
OTHERS = unlisted_calibrators(RegressionCalibrator, LISTED | SMALL, but=(PointCalibrator,))  # it only moves laws
EVERY = LISTED | PUBLISHED | SMALL | OTHERS
CALIBRATORS = {name: calibrator for name, calibrator in EVERY.items() if can_fit(calibrator)}
every = pytest.mark.parametrize("name", CALIBRATORS)
PLAIN: dict[str, np.ndarray] = {}  # medians of fits to columns of numbers, by name


def rows():
    rng = np.random.default_rng(20180710)
    mu, sigma = rng.normal(0, 2, 300), np.exp(rng.normal(0, 0.5, 300))
    return mu, sigma, mu + 0.3 + 2 * sigma * rng.standard_normal(300)


@pytest.fixture
def data():
    return rows()


@cache
def fitted(name):
    """A calibrator that has learned from all rows, once for all tests that only look at it."""
    mu, sigma, y = rows()
    return fit_example(clone(CALIBRATORS[name]), Normal(mu, sigma), y)


def medians(calibrator, mu, sigma):
    return transform_example(calibrator, Normal(mu, sigma)).quantiles([0.1, 0.5, 0.9])


def test_every_calibrator_is_here():
    of_laws = {*exported(calibrant, RegressionCalibrator).values(), Chain}
    assert len(of_laws) >= 10 and of_laws - {PointCalibrator} == {type(c) for c in EVERY.values()}


def parts_of(calibrator):
    """Weak references to a calibrator and to what it has learned."""
    parts = [calibrator, *vars(calibrator).values()]
    return [weakref.ref(part) for part in parts if type(part).__weakrefoffset__]


@every
def test_what_is_no_longer_used_is_freed(name, data):
    mu, sigma, y = (column[:60] for column in data)
    calibrator = fit_example(clone(CALIBRATORS[name]), Normal(mu, sigma), y)
    law = transform_example(calibrator, Normal(mu, sigma))
    assert np.isfinite(law.cdf(y)).all() and np.isfinite(law.quantiles([0.1, 0.9])).all()
    learned = parts_of(calibrator)
    del calibrator, law
    assert not [part() for part in learned if part() is not None]


@every
def test_contract(name, data):
    mu, sigma, y = data
    calibrator = clone(CALIBRATORS[name])
    before = calibrator.get_params()
    with pytest.raises(NotFittedError):
        transform_example(calibrator, Normal(mu, sigma))
    owned = y.copy()
    seen = owned[:]
    for array in (mu, sigma, seen):
        array.flags.writeable = False
    assert fit_example(calibrator, Normal(mu, sigma), seen) is calibrator
    owned[:] = 0.0  # what was learned does not follow the caller's array
    assert calibrator.get_params().keys() == before.keys()
    law = transform_example(calibrator, Normal(mu, sigma))
    assert len(law) == 300 and calibrator.n_rows_ == 300
    assert np.array_equal(medians(fitted(name), mu, sigma), medians(calibrator, mu, sigma))
    assert isinstance(calibrator, BaseEstimator) and repr(calibrator)


@every
def test_improves_what_is_wrong(name):
    fresh = np.random.default_rng(1)
    mu2, sigma2 = fresh.normal(0, 2, 2000), np.exp(fresh.normal(0, 0.5, 2000))
    y2 = mu2 + 0.3 + 2 * sigma2 * fresh.standard_normal(2000)
    law = transform_example(fitted(name), Normal(mu2, sigma2))
    inside = (law.interval(0.8)[:, 0] <= y2) & (y2 <= law.interval(0.8)[:, 1])
    if name in LISTED:  # others need not mend the spread
        assert inside.mean() == pytest.approx(0.8, abs=0.05)
    some = slice(0, 150)
    assert law[some].crps(y2[some]).mean() < Normal(mu2[some], sigma2[some]).crps(y2[some]).mean()


@every
@pytest.mark.usefixtures("laws_only")
def test_weight_two_is_the_row_twice(name, data):
    mu, sigma, y = data
    w = np.random.default_rng(0).integers(0, 4, 300)
    weighted = fit_example(clone(CALIBRATORS[name]), Normal(mu, sigma), y, sample_weight=w)
    repeated = fit_example(clone(CALIBRATORS[name]), Normal(np.repeat(mu, w), np.repeat(sigma, w)), np.repeat(y, w))
    assert np.allclose(medians(weighted, mu, sigma), medians(repeated, mu, sigma), rtol=1e-6)


@every
@pytest.mark.filterwarnings("ignore")  # so many rows ask for more than some can learn
def test_weights_of_a_hundred_trillion_rows(name, data):
    mu, sigma, y = (column[:30] for column in data)
    start = time.process_time()
    fitted = fit_example(clone(CALIBRATORS[name]), Normal(mu, sigma), y, sample_weight=np.full(30, 1e14 / 30))
    assert np.isfinite(medians(fitted, mu, sigma)).all() and time.process_time() - start < 8


@every
@pytest.mark.usefixtures("laws_only")
@pytest.mark.parametrize(
    "kind",
    [
        list,
        np.float32,
        pd.Series,
        pl.Series,
        lambda a: np.repeat(a, 2)[::2],
        lambda a: pd.Series(a, index=a.astype(str)),
    ],
)
def test_any_kind_of_column(name, data, kind):
    mu, sigma, y = (column[:100] for column in data)
    if name not in PLAIN:
        PLAIN[name] = medians(fit_example(clone(CALIBRATORS[name]), (mu, sigma), y), mu, sigma)
    other = fit_example(clone(CALIBRATORS[name]), (kind(mu), kind(sigma)), kind(y))
    assert np.allclose(PLAIN[name], medians(other, mu, sigma), rtol=1e-5, atol=1e-5)


@every
@pytest.mark.filterwarnings("ignore:.*rows.*:UserWarning")  # some say that they fall back
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows(name, n):
    fitted = fit_example(clone(CALIBRATORS[name]), Normal(np.zeros(n), 1.0), np.linspace(0.5, 1.0, n))
    law = transform_example(fitted, Normal([0.0], [1.0]))
    assert np.isfinite(law.interval(0.5)).all()
    assert not np.isnan(law.crps([0.3])).any()


@every
def test_bad_input(name, data):
    mu, sigma, y = data
    calibrator = clone(CALIBRATORS[name])
    with pytest.raises(ValueError, match=r"one entry per forecast; got 299 for 300"):
        fit_example(calibrator, Normal(mu, sigma), y[:-1])
    with pytest.raises(ValueError, match=r"`y` must be finite; 1 of 300 values is not, first y\[4\] = inf"):
        fit_example(calibrator, Normal(mu, sigma), np.where(np.arange(300) == 4, np.inf, y))
    with pytest.raises(ValueError, match=r"`sample_weight` must be non-negative"):
        fit_example(calibrator, Normal(mu, sigma), y, sample_weight=-np.ones(300))
    with pytest.raises(ValueError, match="empty"):
        fit_example(calibrator, Normal(mu[:0], sigma[:0]), y[:0])
    with pytest.raises(
        ValueError, match=r"`scale` must be positive; 300 of 300 values are not, first scale\[0\] = 0.0. Constant"
    ):
        fit_example(calibrator, (mu, 0 * sigma), y)
    with pytest.raises(TypeError, match=r"`y` must be numbers; got str 'a'"):
        fit_example(calibrator, Normal(mu, sigma), ["a"] * 300)


@every
@pytest.mark.usefixtures("laws_only")
def test_missing_outcomes_are_left_out_with_a_count(name, data):
    mu, sigma, y = data
    holes = np.where(np.arange(300) % 10 == 0, np.nan, y)
    with pytest.warns(UserWarning, match="30 of 300 rows have no outcome"):
        some = fit_example(clone(CALIBRATORS[name]), Normal(mu, sigma), holes)
    kept = ~np.isnan(holes)
    whole = fit_example(clone(CALIBRATORS[name]), Normal(mu[kept], sigma[kept]), y[kept])
    assert some.n_rows_ == 270
    assert np.allclose(medians(some, mu, sigma), medians(whole, mu, sigma))


@every
def test_huge_and_tiny_units(name, data):
    mu, sigma, y = data
    plain = medians(fitted(name), mu, sigma)
    for unit in (1e-150, 1e150):
        scaled = fit_example(clone(CALIBRATORS[name]), Normal(mu * unit, sigma * unit), y * unit)
        assert np.allclose(medians(scaled, mu * unit, sigma * unit), plain * unit, rtol=1e-6, atol=1e-6 * unit)


@every
@pytest.mark.usefixtures("laws_only")
def test_heavy_tails_keep_their_index(name, rng):
    mu = rng.normal(size=500)
    y = mu + 3 * rng.standard_t(3, 500)
    calibrator = clone(CALIBRATORS[name])
    law = transform_example(fit_example(calibrator, StudentT(mu, 1.0, 3.0), y), StudentT([0.0], 1.0, 3.0))
    if name.startswith("residual") or name == "quantile, step":  # these do not build on the base's tails
        return
    far = np.array([[1e8, 1e9, 1e10]])
    assert np.diff(law.logsf(far)).ravel() / np.log(10) == pytest.approx([-3, -3], abs=0.7)
    assert np.isfinite(law.logpdf(far)).all()
