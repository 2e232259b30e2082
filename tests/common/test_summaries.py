"""What must hold for every calibrator to which a summary is enough."""

from __future__ import annotations

from inspect import isabstract

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import calibrant
from calibrant import (
    BetaCalibrator,
    BinningCalibrator,
    GroupedCalibrator,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    load,
    save,
)
from calibrant.calibration.summarised import Summarised
from calibrant.regression.map_choice import FITS

LAWS = {f"quantile, {map}": QuantileCalibrator(map=map) for map in FITS} | {
    "quantile, isotonic over T": QuantileCalibrator("isotonic", ranks="T"),
    "quantile, step over T + 1": QuantileCalibrator("step", ranks="T+1"),
    "residual": ResidualCalibrator(),
    "scale, nll": ScaleCalibrator(),
    "scale, coverage": ScaleCalibrator("coverage"),
    "scale, bins": ScaleCalibrator("bins", n_bins=3),
    "grouped, quantile": GroupedCalibrator(QuantileCalibrator()),
    "grouped, scale": GroupedCalibrator(ScaleCalibrator()),
    "grouped, residual": GroupedCalibrator(ResidualCalibrator()),
}
SCORES = {"platt": PlattCalibrator(), "beta": BetaCalibrator(), "binning": BinningCalibrator(5)}
CALIBRATORS = LAWS | SCORES
every = pytest.mark.parametrize("name", CALIBRATORS)
N = 400


class Sample:
    """Columns of forecasts and outcomes, cut, repeated and turned into other kinds of columns."""

    def __init__(self, name, rng):
        x, sigma = rng.normal(0, 2, N), np.exp(rng.normal(0, 0.5, N))
        self.name, self.extra = name, {}
        if name in SCORES:
            self.forecasts, self.y = (expit(2 * x),), (rng.random(N) < expit(x)).astype(float)
        else:
            self.forecasts, self.y = (x, sigma), x + 0.3 + 2 * sigma * rng.standard_normal(N)
            self.extra = {"groups": np.where(rng.random(N) < 0.3, "a", "b")} if name.startswith("grouped") else {}

    def rows(self, rows=slice(None), kind=np.asarray, **more):
        """Arguments of a fit to some rows."""
        columns = tuple(kind(column[rows]) for column in self.forecasts)
        extra = {key: value[rows] for key, value in self.extra.items()}
        return (columns[0] if len(columns) == 1 else columns, kind(self.y[rows])), extra | more

    def result(self, calibrator):
        """Numbers that the calibrator forecasts."""
        if self.name in SCORES:
            return calibrator.transform(np.linspace(0.02, 0.98, 21))
        new = Normal(np.array([-1.0, 0.0, 2.0]), np.array([0.6, 1.0, 2.5]))
        extra = {"groups": ["a", "b", "c"]} if self.extra else {}
        return calibrator.transform(new, **extra).quantiles([0.1, 0.5, 0.9])


@pytest.fixture
def sample(name, rng):
    return Sample(name, rng)


def fitted(name, *batches):
    calibrator = clone(CALIBRATORS[name])
    for args, extra in batches:
        assert calibrator.partial_fit(*args, **extra) is calibrator
    return calibrator


def test_every_such_calibrator_is_here():
    exported = {getattr(calibrant, name) for name in calibrant.__all__}
    some = {item for item in exported if isinstance(item, type) and issubclass(item, Summarised)}
    some = {item for item in some if not isabstract(item)}
    some -= {calibrant.DensityCalibrator}  # takes two passes: tests/summaries/test_density.py
    assert some <= {type(c) for c in CALIBRATORS.values()} and all(c.summary_is_enough for c in CALIBRATORS.values())


@every
def test_batches_are_the_rows_together(name, sample):
    args, extra = sample.rows()
    whole = clone(CALIBRATORS[name]).fit(*args, **extra)
    parts = fitted(name, *(sample.rows(slice(start, start + 90)) for start in range(0, N, 90)))
    np.testing.assert_allclose(sample.result(parts), sample.result(whole), rtol=1e-7)
    assert parts.n_rows_ == whole.n_rows_ == N
    learned = {key for key in vars(whole) if key.endswith("_")}
    assert learned | {"summary_"} == {key for key in vars(parts) if key.endswith("_")}


@every
def test_weight_two_is_the_row_twice(name, sample):
    w = np.random.default_rng(0).integers(0, 4, N)
    repeated = fitted(name, sample.rows(np.repeat(np.arange(N), w)))
    weighted = fitted(name, sample.rows(sample_weight=w))
    np.testing.assert_allclose(sample.result(weighted), sample.result(repeated), rtol=1e-7)


@every
def test_order_of_rows(name, sample):
    order = np.random.default_rng(1).permutation(N)
    one, other = fitted(name, sample.rows()), fitted(name, sample.rows(order[:100]), sample.rows(order[100:]))
    np.testing.assert_allclose(sample.result(other), sample.result(one), rtol=1e-9)


@every
@pytest.mark.parametrize("kind", [list, np.float32, pd.Series, pl.Series])
def test_any_kind_of_column(name, sample, kind):
    one, other = fitted(name, sample.rows()), fitted(name, sample.rows(kind=kind))
    np.testing.assert_allclose(sample.result(other), sample.result(one), rtol=1e-5, atol=1e-5)


@every
def test_contract(name, sample, tmp_path):
    args, extra = sample.rows(slice(0, 200))
    calibrator = clone(CALIBRATORS[name])
    summary = calibrator.summarise(*args, **extra)
    with pytest.raises(NotFittedError):
        sample.result(calibrator)
    assert calibrator.fit_summary(summary) is calibrator and calibrator.n_rows_ == summary.n_rows == 200
    assert repr(calibrator) == repr(CALIBRATORS[name])
    before = sample.result(calibrator)
    save(calibrator, tmp_path / "calibrator")
    loaded = load(tmp_path / "calibrator")
    np.testing.assert_array_equal(sample.result(loaded), before)
    args, extra = sample.rows(slice(200, None))
    both = sample.result(fitted(name, sample.rows()))
    np.testing.assert_allclose(sample.result(loaded.partial_fit(*args, **extra)), both, rtol=1e-7)
    with pytest.raises(ValueError, match="fit has seen rows that are gone; begin with partial_fit, or"):
        loaded.fit(*args, **extra).partial_fit(*args, **extra)
    with pytest.raises(TypeError, match=r"`summary` must be a \w+Summary, as summarise makes it; got int"):
        loaded.fit_summary(3)
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        loaded.nothing_  # noqa: B018


@every
def test_a_fit_that_waits_can_be_saved(name, sample, tmp_path):
    calibrator = fitted(name, sample.rows())
    save(calibrator, tmp_path / "calibrator")
    np.testing.assert_array_equal(sample.result(load(tmp_path / "calibrator")), sample.result(calibrator))
