"""Learning row by row, from batches, and never twice; stopping and going on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibrant import CalibratedRegressor, Normal, OnlineCalibrator, Poisson, QuantileCalibrator, StudentT, load, save
from calibrant.calibration.online import memory

LEVELS = [0.05, 0.5, 0.95]
NEW = Normal([0.0, 3.0], [1.0, 2.0])


def sample(rng, n=60):
    mu = rng.normal(0, 2, n)
    return mu, mu + 0.5 + 2 * rng.standard_normal(n)


def forecasts(calibrator, **beside):
    return calibrator.transform(NEW, **beside).quantiles(LEVELS)


def test_nothing_is_changed_until_something_is_known():
    calibrator = OnlineCalibrator()
    assert np.array_equal(forecasts(calibrator), NEW.quantiles(LEVELS))
    with pytest.warns(UserWarning, match="1 of 1 rows have no outcome"):
        calibrator.update(Normal([0.0], 1.0), [np.nan], ids=[1])
    assert np.array_equal(forecasts(calibrator), NEW.quantiles(LEVELS)) and calibrator.new_rows_ == 0
    assert calibrator.update(Normal([0.0], 1.0), [1.0], ids=[1]).new_rows_ == 1


def test_a_batch_is_its_rows_in_order_and_weight_two_a_row_twice(rng):
    mu, y = sample(rng)
    w = rng.integers(0, 3, 60)
    mu2, y2 = np.repeat(mu, w), np.repeat(y, w)
    whole = OnlineCalibrator().update((mu.tolist(), [1.0] * 60), y.astype(np.float32), sample_weight=w)
    rows = OnlineCalibrator()
    for mean, outcome in zip(mu2, y2, strict=True):
        rows.update(Normal([mean], 1.0), [outcome])
    parts = OnlineCalibrator().fit(Normal(mu2[:20], 1.0), y2[:20]).update(Normal(mu2[20:], 1.0), y2[20:])
    np.testing.assert_allclose(forecasts(rows), forecasts(whole), rtol=1e-5)
    # sums in another order differ in the last digit, and with it the trust in a spline by 1e-8 and more: its evidence
    # is a difference of logs of determinants. On one kind of processor 1e-9 held by chance.
    np.testing.assert_allclose(forecasts(parts), forecasts(rows), rtol=2e-7)
    assert parts.weights_ == pytest.approx(rows.weights_, rel=1e-12)
    assert parts.n_rows_ == rows.n_rows_ == w.sum() and whole.n_rows_ == (w > 0).sum() and rows.new_rows_ == 1


def test_going_on_after_a_load_is_as_if_never_stopped(rng, tmp_path):
    mu, y = sample(rng)
    beside = {"groups": np.where(mu > 0, "a", "b"), "ids": np.arange(60), "time": np.arange(60), "horizon": 2}
    some = {name: value if name == "horizon" else value[:40] for name, value in beside.items()}
    one = OnlineCalibrator(coverages=0.9).update(Normal(mu[:40], 1.0), y[:40], **some)
    save(one, tmp_path / "one")
    two = load(tmp_path / "one")
    for each in (one, two):
        each.update(Normal(mu, 1.0), y, **beside)
        assert (each.new_rows_, each.repeated_rows_) == (20, 40)
    asked = {"groups": ["a", "c"], "horizon": 2}
    assert np.array_equal(forecasts(one, **asked), forecasts(two, **asked)) and one.weights_ == two.weights_


@pytest.mark.parametrize(
    "beside", [{"ids": [f"row {i}" for i in range(60)]}, {"time": pd.date_range("2024", periods=60)}]
)
def test_the_same_rows_twice_change_nothing(rng, beside):
    mu, y = sample(rng)
    calibrator = OnlineCalibrator().update(Normal(mu, 1.0), y, **beside)
    before = forecasts(calibrator)
    calibrator.update(Normal(mu, 1.0), y, **beside)
    assert (calibrator.new_rows_, calibrator.repeated_rows_, calibrator.n_rows_) == (0, 60, 60)
    assert np.array_equal(forecasts(calibrator), before)


def test_rows_are_learned_in_the_order_of_their_times(rng):
    mu, y = sample(rng, 30)
    order = rng.permutation(30)
    one = OnlineCalibrator().update(Normal(mu, 1.0), y)
    two = OnlineCalibrator().update(Normal(mu[order], 1.0), y[order], time=order)
    np.testing.assert_allclose(forecasts(two), forecasts(one), rtol=1e-12)


def test_names_are_remembered_as_texts_and_no_longer_than_there_is_room(monkeypatch):
    many = [memory.hashes_of(ids, 9) for ids in ([*range(9)], [f"{i}" for i in range(9)], np.arange(9.0))]
    assert np.array_equal(many[0], many[1]) and np.array_equal(many[0], many[2])
    assert np.array_equal(memory.hashes_of(["7", "8"], 2), many[0][7:])
    monkeypatch.setattr(memory, "MOST", 3)
    seen = memory.Memory()
    seen.keep(many[0][:5])
    assert seen.new(many[0][:6]).tolist() == [True, True, False, False, False, True] and len(seen.hashes) == 3
    with pytest.raises(ValueError, match=r"`ids` must not be missing; 1 of 2 labels are, first ids\[1\]"):
        memory.hashes_of([1, None], 2)


def test_a_batch_of_many_rows_is_nearly_its_rows(rng):
    mu, y = sample(rng, 1200)
    many = OnlineCalibrator().update(Normal(mu, 1.0), y)
    few = OnlineCalibrator().update(Normal(mu[:600], 1.0), y[:600]).update(Normal(mu[600:], 1.0), y[600:])
    assert np.abs((forecasts(many) - forecasts(few)) / NEW.std()[:, None]).max() < 0.05
    assert many.n_rows_ == 1200


def test_counts_and_heavy_tails(rng):
    mean = rng.uniform(1, 5, 80)
    law = OnlineCalibrator().update(Poisson(mean), rng.poisson(2 * mean)).transform(Poisson([3.0]))
    assert law.median() == pytest.approx(6, abs=1) and law.is_discrete
    mu, y = sample(rng, 40)
    heavy = OnlineCalibrator().update(StudentT(mu, 1.0, 3.0), y).transform(StudentT([0.0], 1.0, 3.0))
    far = heavy.logsf(np.array([[1e8, 1e9]]))
    assert np.diff(far).ravel() / np.log(10) == pytest.approx([-3], abs=0.1)


def test_an_estimator_that_goes_on_learning(rng):
    X = rng.normal(size=(60, 1))
    y = X[:, 0] + rng.normal(size=60)
    model = CalibratedRegressor(online=True).fit(X, y)
    before = model.predict_interval(X[:1])
    assert model.update(X, y + 5, ids=np.arange(60)).calibrator_.n_rows_ == 120
    assert np.diff(before) > 0 and model.predict(X[:1]) > before.mean() + 2
    with pytest.raises(TypeError, match="needs a calibrator with update, such as OnlineCalibrator; QuantileCal"):
        CalibratedRegressor(calibrator=QuantileCalibrator(), online=True).fit(X, y)
    with pytest.raises(ValueError, match="update is for online=True"):
        CalibratedRegressor().fit(X, y).update(X, y)


@pytest.mark.parametrize(
    ("parameters", "beside", "told"),
    [
        ({"half_lives": (20.0, 0.0)}, {}, r"`half_lives` must be positive; 1 of 2 values is not"),
        ({"coverages": (0.5, 1.0)}, {}, r"`coverages` must be strictly between 0 and 1; 1 of 2 values is not"),
        ({"kind": "points"}, {}, r"`kind` must be one of 'distributions', 'probabilities', 'logits'; got 'points'"),
        ({}, {"horizon": [1, 0]}, r"`horizon` must be whole numbers from 1 to 1000; 1 of 2 values is not"),
        ({}, {"time": [1.0]}, "`time` must have one entry per forecast; got 1 for 2"),
        ({}, {"groups": ["a"]}, r"`groups` must have one label per forecast"),
        ({"classes": ["a", "b"]}, {}, r"`classes` are labels of class probabilities; say kind='probabilities'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(parameters, beside, told):
    with pytest.raises(ValueError, match=told):
        OnlineCalibrator(**parameters).update(Normal([0.0, 1.0], 1.0), [0.0, 1.0], **beside)


def test_vast_weights_are_rows_that_come_once():
    y = np.random.default_rng(0).normal(0.0, 2.0, 40)
    laws = Normal(np.zeros(40), 1.0)
    plain, vast = (OnlineCalibrator().update(laws, y, sample_weight=w) for w in (None, np.full(40, 1e12)))
    new = Normal([0.0], 1.0)
    assert np.allclose(vast.transform(new).interval(0.9), plain.transform(new).interval(0.9), rtol=1e-9)


def test_outcomes_beyond_belief_are_not_outdone():
    calibrator = OnlineCalibrator().update(Normal(np.zeros(3000), 1.0), np.full(3000, 1.7e16))
    assert np.abs(calibrator.transform(Normal([0.0], 1.0)).interval(0.9)).max() < 1e17
