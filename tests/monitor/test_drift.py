"""The monitor: false alarms, changes and their dates, groups, classes, rows that depend or come again."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calibrant import Alarm, DriftMonitor, Normal, Poisson, load, save
from calibrant.monitor.history import MOST


def law(n):
    return Normal(np.zeros(n), 1.0)


def changed(rng, start, after, change):
    z = rng.normal(size=start + after)
    z[start:] = change(z[start:])
    return z


def test_calm_runs_are_calm(rng):
    alarms = [bool(DriftMonitor(0.2).update(law(1000), rng.normal(size=1000)).alarms_) for _ in range(50)]
    assert sum(alarms) <= 0.2 * 50
    monitor = DriftMonitor().update(Poisson(np.full(3000, 2.5)), rng.poisson(2.5, 3000))
    assert not monitor.alarms_ and monitor.e_value_ < 1
    assert str(monitor) == f"No drift: 3000 rows, level 0.05, e-value {monitor.e_value_:.2g}."


@pytest.mark.parametrize(
    ("change", "kind", "words", "size", "noticed", "named"),
    [
        (lambda z: 1.5 * z, "width", "times too narrow", (1.25, 2.2), 150, 60),
        (lambda z: z / 2, "width", "times too wide", (0.35, 0.7), 150, 60),
        (lambda z: z + 0.3, "bias", "σ too low", (0.15, 0.6), 400, 150),
        (lambda z: z - 1, "bias", "σ too high", (-1.6, -0.6), 60, 20),
        (lambda z: np.where(np.arange(len(z)) % 20, z, 6 * z), "tails", "90 % intervals hold", (0.7, 0.93), 300, 150),
        (lambda z: (z**2 - 1) / np.sqrt(2), "shape", "", (0.7, 1), 100, 50),
    ],
    ids=["narrow", "wide", "low", "high", "outliers", "skew"],
)
def test_changes_are_noticed_and_named(rng, change, kind, words, size, noticed, named):
    first = [DriftMonitor().update(law(1800), changed(rng, 1000, 800, change)).alarms_[0] for _ in range(5)]
    assert np.median([alarm.step for alarm in first]) - 1000 <= noticed
    assert np.median([abs(alarm.since - 1000) for alarm in first]) <= named
    assert sum(alarm.kind == kind and words in alarm.words for alarm in first) >= 3
    assert size[0] < np.median([alarm.size for alarm in first]) < size[1]
    assert all(alarm.e_value >= 20 and alarm.group is None and alarm.time is None for alarm in first)


@pytest.mark.parametrize("same_time", ["independent", "dependent"])
@pytest.mark.parametrize("grouped", [False, True])
def test_rows_and_batches_say_the_same(rng, same_time, grouped):
    n = 210
    y, days = changed(rng, 120, n - 120, lambda z: 1.6 * z + 0.4), np.arange(n) // 3
    beside = {"time": days, **({"groups": np.array(list("abc") * (n // 3))} if grouped else {})}
    whole = DriftMonitor(same_time=same_time).update(law(n), y, **beside)
    parts = DriftMonitor(same_time=same_time)
    for rows in np.split(np.arange(n), range(3, n, 3)):
        parts.update(law(3), y[rows], **{name: column[rows] for name, column in beside.items()})
    assert parts.e_value_ == pytest.approx(whole.e_value_) and len(parts.alarms_) >= 1
    assert list(map(str, parts.alarms_)) == list(map(str, whole.alarms_))
    np.testing.assert_allclose(parts.history_.sums, whole.history_.sums)
    np.testing.assert_allclose(parts.history_.peaks, whole.history_.peaks)
    np.testing.assert_allclose(parts.history_.belief, whole.history_.belief, rtol=1e-6, atol=1e-12)


def test_blocks_do_not_matter(rng, monkeypatch):
    y, days = changed(rng, 500, 200, lambda z: z - 0.8), np.arange(700) // 7
    for same_time in ("independent", "dependent"):
        whole = DriftMonitor(same_time=same_time).update(law(700), y, time=days)
        with monkeypatch.context() as patch:
            patch.setattr("calibrant.monitor.drift.BLOCK", 100)
            parts = DriftMonitor(same_time=same_time).update(law(700), y, time=days)
        assert parts.e_value_ == pytest.approx(whole.e_value_)
        assert list(map(str, parts.alarms_)) == list(map(str, whole.alarms_))


def test_groups_and_dates(rng):
    n = 4000
    shops = rng.choice([f"shop {k}" for k in range(8)], n)
    days = np.datetime64("2026-01-01") + np.arange(n) // 20
    y = rng.normal(size=n) + 0.8 * ((shops == "shop 3") & (np.arange(n) >= 2000))
    frame = pd.DataFrame({"y": y, "shop": shops, "day": days}).sample(frac=1, random_state=0)
    monitor = DriftMonitor().update(law(n), frame["y"], groups=frame["shop"], time=frame["day"])
    first = monitor.alarms_[0]
    assert (first.group, first.kind) == ("shop 3", "bias") and "σ too low since 2026-0" in first.words
    assert abs(first.since_time - datetime.datetime(2026, 4, 11)) < datetime.timedelta(days=12)
    assert first.since_time < first.time < datetime.datetime(2026, 7, 20) and 0.5 < first.size < 1.3
    assert str(monitor).startswith("Drift: 4000 rows of 8 groups, level 0.05.\nshop 3: forecasts 0.")
    table = monitor.to_frame()
    assert table["group"].iloc[0] == "shop 3" and table["words"].iloc[0] == first.words
    assert monitor.shares_.sum() < 1 and monitor.shares_[0] == 0.5


def test_the_loudest_is_named_though_the_last_row_is_not_of_it():
    monitor = DriftMonitor(kinds="bias").update(law(3), [0.0, 0.0, 0.0], groups=["a", "b", "b"])
    share = monitor.shares_[1]
    for stream, e_value in ((1, 15 / share), (2, 4 / share)):
        monitor.streams_.log_capital[stream], monitor.log_e_[stream] = np.log(e_value), np.log(e_value)
    monitor.update(law(1), [2.0], groups=["b"])
    (alarm,) = monitor.alarms_
    assert alarm.group == "a" and alarm.step == 4 and (monitor.shares_ * np.exp(monitor.log_e_)).max() < 20
    assert monitor.e_value_ == pytest.approx(alarm.e_value) and alarm.e_value > 20


def test_class_probabilities(rng):
    n = 3000
    p = rng.beta(1, 2, n)
    y = rng.random(n) < np.where(np.arange(n) < 1500, p, p**2)
    monitor = DriftMonitor(task="classification", classes=["no", "yes"])
    for rows in np.split(np.arange(n), [1, 2000]):  # a single row does not show all classes
        monitor.update(p[rows], np.where(y[rows], "yes", "no"))
    first = monitor.alarms_[0]
    assert first.kind == "bias" and "points too high" in first.fault and abs(first.since - 1500) < 200
    rows = rng.dirichlet([1, 1, 1], n)
    labels = np.array([rng.choice(3, p=row) for row in np.sqrt(rows) / np.sqrt(rows).sum(axis=1, keepdims=True)])
    first = DriftMonitor().update(rows, labels).alarms_[0]
    assert first.kind == "confidence" and "points overconfident" in first.fault and first.since < 200


def test_tolerance(rng):
    y = 1.1 * rng.normal(size=8000) + 0.1
    assert DriftMonitor().update(law(8000), y).alarms_
    assert not DriftMonitor(tolerance=0.1).update(law(8000), y).alarms_
    assert DriftMonitor(tolerance=0.1).update(law(800), 1.6 * y[:800]).alarms_


@pytest.mark.parametrize("same_time", ["independent", "dependent"])
def test_one_wild_outcome_raises_no_alarm(rng, same_time):
    y = rng.normal(size=400)
    y[300] = 1e6
    monitor = DriftMonitor(same_time=same_time).update(law(400), y, time=np.arange(400))
    assert not monitor.alarms_ and np.isfinite(monitor.e_value_)
    y[[310, 320]] = -1e6
    assert DriftMonitor(same_time=same_time).update(law(400), y, time=np.arange(400)).alarms_


def test_rows_of_one_time_may_depend(rng):
    days = np.repeat(np.arange(300), 10)
    y = rng.normal(size=300)[days]  # ten shops, all alike
    assert DriftMonitor().update(law(3000), y, time=days).alarms_
    assert not DriftMonitor(same_time="dependent").update(law(3000), y, time=days).alarms_


def test_rows_count_once_and_late_outcomes_too(rng):
    y, ids = rng.normal(size=100), [f"row {k}" for k in range(100)]
    once = DriftMonitor().update(law(100), y)
    late = y.copy()
    late[40:] = np.nan
    monitor = DriftMonitor()
    with pytest.warns(UserWarning, match="60 of 100 rows have no outcome"):
        monitor.update(law(100), late, ids=ids)
    for _ in range(2):
        monitor.update(law(100), y, ids=pl.Series(ids))
        assert monitor.n_rows_ == 100 and monitor.e_value_ == pytest.approx(once.e_value_)


def test_any_kind_of_input(rng):
    y = rng.normal(size=50)
    days = pd.date_range("2026-01-01", periods=50)
    expected = DriftMonitor().update(law(50), y, time=days).e_value_
    for mean, outcomes, time in (
        ([0.0] * 50, y.tolist(), days.date.tolist()),
        (pd.Series(np.zeros(50)), pd.Series(y), days),
        (np.zeros(50), pl.Series(y), pl.Series(days)),
    ):
        assert DriftMonitor().update((mean, np.ones(50)), outcomes, time=time).e_value_ == pytest.approx(expected)
    assert DriftMonitor().update(law(50), y.astype(np.float32)).e_value_ == pytest.approx(expected, rel=1e-4)


def test_memory_is_bounded(rng):
    monitor = DriftMonitor()
    for rows in np.split(np.arange(2701), [700, 701]):
        monitor.update(law(len(rows)), rng.normal(size=len(rows)), time=rows)
    history = monitor.history_
    assert len(history) <= MOST and history.size == 8 and history.sums[:, 0].sum() == 2701
    assert history.times[[0, len(history) - 1]].tolist() == [7, 2700] and np.isnan(history.times[len(history) :]).all()
    assert np.exp(history.peaks[: len(history), 0].max()) >= monitor.e_value_


@pytest.mark.parametrize("grouped", [False, True])
def test_saved_in_the_middle(rng, tmp_path, grouped):
    y, days = changed(rng, 300, 200, lambda z: 2 * z), np.datetime64("2026-01-01") + np.arange(500)
    beside = {"time": days, "ids": np.arange(500), **({"groups": [1, 2] * 250} if grouped else {})}
    monitor = DriftMonitor(0.01, kinds=["width", "bias"])

    def parts(rows):
        return {name: column[rows] for name, column in beside.items()}

    monitor.update(law(400), y[:400], **parts(slice(0, 400)))
    save(monitor, tmp_path / "m.calibrant")
    other = load(tmp_path / "m.calibrant")
    for each in (monitor, other):
        each.update(law(150), y[350:], **parts(slice(350, 500)))
    assert other.alarms_ == monitor.alarms_ and other.e_value_ == monitor.e_value_ and other.n_rows_ == 500
    assert other.kinds_ == ("bias", "width") and other.level == 0.01


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shares_", np.array([2.0])),
        ("log_e_", np.array([np.inf])),
        ("log_e_", np.ones(2)),
        ("raised_", np.zeros((1, 3), dtype=bool)),
        ("kinds_", ("width", "bias", "tails", "shape")),
        ("task_", "points"),
        ("groups_", ["a"]),
        ("clock_", "moon"),
        ("alarms_", ["fire"]),
        ("alarms_", [Alarm("width", None, 1, None, 0, None, np.inf, 1.0, "")]),
        ("alarms_", [Alarm("width", None, 1, "now", 0, None, 20.0, 1.0, "")]),
        ("n_rows_", -1),
        ("level", 2.0),
        ("tolerance", -1.0),
        ("recent_ids_", np.zeros(1)),
        ("streams_.won", np.full((1, 31), np.nan)),
        ("streams_.steps", np.array([-1])),
        ("streams_.log_capital", np.zeros((1, 3))),
        ("history_.sums", np.full((512, 5), np.inf)),
        ("history_.rows", 10_000),
    ],
)
def test_forged_states_are_refused(tmp_path, name, value):
    monitor = DriftMonitor().update(law(3), [0.0, 1.0, 2.0])
    *part, last = name.split(".")
    setattr(getattr(monitor, part[0]) if part else monitor, last, value)
    save(monitor, tmp_path / "m.calibrant")
    with pytest.raises(ValueError, match="no sound calibrator"):
        load(tmp_path / "m.calibrant")


def test_fit_begins_anew_and_clone_forgets(rng):
    y = rng.normal(size=40)
    monitor = DriftMonitor(0.1).update(law(40), y + 3, groups=["a"] * 40)
    assert monitor.alarms_ and not monitor.fit(law(40), y).alarms_ and monitor.n_rows_ == 40 and monitor.groups_ is None
    with pytest.raises(NotFittedError):
        _ = clone(monitor).e_value_
    assert str(clone(monitor)) == "DriftMonitor(level=0.1)"


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"level": 1.0}, {}, "`level` must be strictly between 0 and 1"),
        ({"tolerance": -0.1}, {}, "`tolerance` must be a number of at least 0 and below 1; got -0.1."),
        ({"kinds": ["colour"]}, {}, "`kinds` must be one of 'bias', 'width', 'tails', 'shape'; got 'colour'."),
        ({"kinds": []}, {}, "`kinds` must name at least one"),
        ({"same_time": "maybe"}, {}, "`same_time` must be one of 'independent', 'dependent'; got 'maybe'."),
        ({"task": "maybe"}, {}, "`task` must be one of"),
        ({}, {"groups": ["a"]}, "`groups` must have one label per forecast"),
        ({}, {"time": ["a", "b"]}, "`time` must be numbers, dates, or texts such as 2024-01-31; got str"),
        ({}, {"time": [1.0, np.nan]}, "`time` must be present; 1 of 2 values is not"),
        ({}, {"ids": [1]}, "`ids` must have one label per forecast; got shape .1,. for 2 forecasts."),
        ({"same_time": "dependent"}, {}, "`time` must be given"),
    ],
)
def test_errors(options, given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        DriftMonitor(**options).update(law(2), [0.0, 1.0], **given)


def test_rows_of_the_past_are_told(rng):
    days, y = np.arange(6), rng.normal(size=6)
    monitor = DriftMonitor().update(law(6), y, time=days).update(law(6), y, time=days + 5)
    with pytest.warns(UserWarning, match="4 of 6 rows are of times that earlier batches had passed. Have they come"):
        monitor.update(law(6), y, time=days + 6)
    with pytest.warns(UserWarning, match="1 of 6 rows are of times .* Rows of one time must come in one batch"):
        DriftMonitor(same_time="dependent").update(law(6), y, time=days).update(law(6), y, time=days + 5)


def test_batches_must_be_alike():
    monitor = DriftMonitor().update(law(2), [0.0, 1.0], time=[1, 2])
    e_value = monitor.e_value_
    for given, message in (
        ({}, "`time` must be numbers in all batches; here it is missing."),
        ({"time": pd.date_range("2026", periods=2)}, "here it is dates"),
        ({"time": [3, 4], "groups": ["a", "b"]}, "`groups` must be given with all batches or with none."),
    ):
        with pytest.raises(ValueError, match=message):
            monitor.update(law(2), [9.0, 9.0], **given)
    assert monitor.e_value_ == e_value and monitor.n_rows_ == 2
