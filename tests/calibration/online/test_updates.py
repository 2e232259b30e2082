"""Learning row by row, from batches, and never twice; stopping and going on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibrant import Normal, OnlineCalibrator, load, save

LEVELS = [0.05, 0.5, 0.95]
NEW = Normal([0.0, 3.0], [1.0, 2.0])


def sample(rng, n=120):
    mu = rng.normal(0, 2, n)
    return mu, mu + 0.5 + 2 * rng.standard_normal(n)


def forecasts(calibrator, **beside):
    return calibrator.transform(NEW, **beside).quantiles(LEVELS)


def test_nothing_is_changed_until_something_is_known():
    assert np.array_equal(forecasts(OnlineCalibrator()), NEW.quantiles(LEVELS))


def test_a_batch_is_its_rows_in_order(rng):
    mu, y = sample(rng)
    whole = OnlineCalibrator().update(Normal(mu, 1.0), y)
    rows = OnlineCalibrator()
    for row in range(len(y)):
        rows.update(Normal(mu[[row]], 1.0), y[[row]])
    parts = OnlineCalibrator().fit(Normal(mu[:50], 1.0), y[:50]).update(Normal(mu[50:], 1.0), y[50:])
    np.testing.assert_allclose(forecasts(rows), forecasts(whole), rtol=1e-9)
    np.testing.assert_allclose(forecasts(parts), forecasts(whole), rtol=1e-9)
    assert rows.n_rows_ == whole.n_rows_ == 120 and rows.new_rows_ == 1


def test_going_on_after_a_load_is_as_if_never_stopped(rng, tmp_path):
    mu, y = sample(rng)
    groups, ids = np.where(mu > 0, "a", "b"), np.arange(120)
    one = OnlineCalibrator().update(Normal(mu[:70], 1.0), y[:70], groups=groups[:70], ids=ids[:70], time=ids[:70])
    save(one, tmp_path / "one")
    two = load(tmp_path / "one")
    for each in (one, two):
        each.update(Normal(mu, 1.0), y, groups=groups, ids=ids, time=ids)
        assert (each.new_rows_, each.repeated_rows_) == (50, 70)
    assert np.array_equal(forecasts(one, groups=["a", "c"]), forecasts(two, groups=["a", "c"]))


@pytest.mark.parametrize(
    "beside", [{"ids": [f"row {i}" for i in range(120)]}, {"time": pd.date_range("2024", periods=120)}]
)
def test_the_same_rows_twice_change_nothing(rng, beside):
    mu, y = sample(rng)
    calibrator = OnlineCalibrator().update(Normal(mu, 1.0), y, **beside)
    before = forecasts(calibrator)
    calibrator.update(Normal(mu, 1.0), y, **beside)
    assert (calibrator.new_rows_, calibrator.repeated_rows_, calibrator.n_rows_) == (0, 120, 120)
    assert np.array_equal(forecasts(calibrator), before)
