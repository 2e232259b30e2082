"""One calibrator per horizon, with rows of the nearest where a horizon has few."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calibrant import (
    GroupedCalibrator,
    HorizonCalibrator,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    ScaleCalibrator,
    load,
    save,
)
from calibrant.calibration.horizons import _shares


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    ahead = np.tile(np.arange(1, 13), 400)
    y = rng.normal(0.0, np.sqrt(ahead))
    return Normal(np.zeros(len(y)), 1.0), y, ahead


def test_each_horizon_gets_its_own_width(rows):
    laws, y, ahead = rows
    new = HorizonCalibrator(ScaleCalibrator()).fit(laws, y, horizon=ahead).transform(laws, horizon=ahead)
    for h in (1, 6, 12):
        assert new[ahead == h].std()[0] == pytest.approx(np.sqrt(np.mean(np.square(y[ahead == h]))), rel=1e-6)


def test_borrows_nearest_first_and_no_more_than_it_lacks():
    ahead = np.repeat([1.0, 2.0, 3.0, 5.0], [10, 20, 30, 40])
    own, both = _shares(ahead, np.ones(100), np.array([1.0, 2.0, 3.0, 5.0]), 25.0)[:2]
    assert [own[ahead == h][0] for h in (1, 2, 3, 5)] == [1.0, 0.75, 0.0, 0.0]  # 10 + 15 of 20
    assert [both[ahead == h][0] for h in (1, 2, 3, 5)] == [0.125, 1.0, 0.125, 0.0]  # 20 + 5 of the 40 at distance 1
    alone = _shares(ahead, np.full(100, 3.0), np.array([1.0, 2.0, 3.0, 5.0]), 25.0)[0]
    assert set(alone[ahead == 1]) == {3.0} and not alone[ahead > 1].any()  # 30 rows are enough


def test_few_rows_of_each_are_as_good_as_all(rows):
    laws, y, _ = rows
    some, ahead = slice(0, 24), np.arange(24)
    cal = HorizonCalibrator(QuantileCalibrator()).fit(laws[some], y[some], horizon=ahead)
    common = QuantileCalibrator().fit(laws[some], y[some])
    assert np.allclose(cal.transform(laws[some], horizon=ahead).std(), common.transform(laws[some]).std())


@pytest.mark.parametrize("kind", [list, pd.Series, pl.Series, np.float32, lambda a: a.astype("m8[D]")])
def test_any_kind_of_horizon(rows, kind):
    laws, y, ahead = rows
    plain = HorizonCalibrator(ScaleCalibrator()).fit(laws, y, horizon=ahead).transform(laws, horizon=ahead)
    other = HorizonCalibrator(ScaleCalibrator()).fit(laws, y, horizon=kind(ahead))
    assert np.array_equal(other.transform(laws, horizon=kind(ahead)).std(), plain.std())


def test_unseen_horizons_get_the_nearest_and_order_is_kept(rows):
    laws, y, ahead = rows
    cal = HorizonCalibrator(ScaleCalibrator()).fit(laws[ahead != 6], y[ahead != 6], horizon=ahead[ahead != 6])
    widths = cal.transform(Normal(np.zeros(4), 1.0), horizon=[99, 6, 5, 0.2]).std()
    assert widths[1] == widths[2] and widths[0] > widths[1] > widths[3]
    shuffled = np.random.default_rng(1).permutation(len(y))
    again = HorizonCalibrator(ScaleCalibrator()).fit(laws[shuffled], y[shuffled], horizon=ahead[shuffled])
    once = HorizonCalibrator(ScaleCalibrator()).fit(laws, y, horizon=ahead)
    assert np.allclose(again.transform(laws, horizon=ahead).std(), once.transform(laws, horizon=ahead).std())


def test_weights_are_copies(rows):
    laws, y, ahead = (part[:120] for part in rows)
    w = np.arange(120) % 3
    weighted = HorizonCalibrator(ScaleCalibrator(), rows=15).fit(laws, y, horizon=ahead, sample_weight=w)
    many = np.repeat(np.arange(120), w)
    copied = HorizonCalibrator(ScaleCalibrator(), rows=15).fit(laws[many], y[many], horizon=ahead[many])
    assert np.allclose(
        weighted.transform(laws, horizon=ahead).std(), copied.transform(laws, horizon=ahead).std(), rtol=1e-9
    )


def test_classes_groups_and_files(rows, tmp_path):
    laws, y, ahead = rows
    p = np.full(len(y), 0.5)
    truth = np.random.default_rng(2).random(len(y)) < ahead / 13
    made = HorizonCalibrator(PlattCalibrator()).fit(p, truth, horizon=ahead)
    save(made, tmp_path / "classes.calibrant")
    new = load(tmp_path / "classes.calibrant").transform(p[:12], horizon=ahead[:12])
    assert np.abs(new[:, 1] - np.arange(1, 13) / 13).max() < 0.08
    shop = np.where(np.arange(len(y)) % 2, "a", "b")
    both = HorizonCalibrator(GroupedCalibrator(ScaleCalibrator())).fit(laws, y, horizon=ahead, groups=shop)
    save(both, tmp_path / "laws.calibrant")
    again = load(tmp_path / "laws.calibrant").transform(laws, horizon=ahead, groups=shop)
    assert np.array_equal(again.std(), both.transform(laws, horizon=ahead, groups=shop).std())


def test_errors(rows):
    laws, y, ahead = rows
    cal = HorizonCalibrator(ScaleCalibrator())
    with pytest.raises(ValueError, match="`horizon` must be given: how far ahead"):
        cal.fit(laws, y)
    with pytest.raises(ValueError, match=r"`horizon` must have .* got 3 for 4800"):
        cal.fit(laws, y, horizon=[1, 2, 3])
    with pytest.raises(ValueError, match=r"`horizon` must be finite; 1 of 4800 .*, first horizon\[0\] = nan"):
        cal.fit(laws, y, horizon=np.where(np.arange(len(y)), ahead, np.nan))
    with pytest.raises(ValueError, match="`groups` was given, but ScaleCalibrator does not take it"):
        cal.fit(laws, y, horizon=ahead, groups=ahead)
