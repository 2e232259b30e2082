import json

import numpy as np
import pandas as pd
import pytest

from calibrant import Normal, metrics
from experiments.kuleshov2018 import retail
from experiments.kuleshov2018 import sales as experiment
from experiments.kuleshov2018.past_only import Issued, learned_again, learned_once
from experiments.kuleshov2018.retail import MADE, calendar_of, made_frame, read
from experiments.kuleshov2018.sales import next_day
from experiments.kuleshov2018.sales_verdict import by_store, inside, page, verdict

TINY = {"hidden": 8, "max_epochs": 3, "n_passes": 20}


@pytest.fixture
def short(monkeypatch):
    """A made panel with five weeks of tail and four of test."""
    monkeypatch.setattr(retail, "TAIL", 35)
    monkeypatch.setitem(retail.SPANS, MADE, (("2020-11-02", "2020-11-29"),))


def issued(rng, lead=1, days=120, n=3, late=0.0):
    mean = rng.normal(100.0, 10.0, (days, n))
    y = mean + 20.0 * rng.standard_normal((days, n)) + late * (np.arange(days) >= 60)[:, None]
    y[5] = np.nan
    return Issued(Normal(mean.ravel(), 10.0), y, lead)


@pytest.mark.parametrize("lead", [1, 3])
@pytest.mark.parametrize("way", [learned_once, lambda *arguments: learned_again(*arguments, every=7)])
def test_no_map_has_seen_an_outcome_of_its_morning_or_later(rng, lead, way):
    made = issued(rng, lead)
    morning = 74
    target = np.arange(len(made.y)) + lead - 1
    changed = made._replace(y=np.where((target >= morning)[:, None], made.y + 1000.0, made.y))
    before, after = (way(each, 60).median().reshape(-1, 3)[: morning - 60 + 1] for each in (made, changed))
    np.testing.assert_array_equal(before, after)


def test_a_map_has_seen_all_that_happened_before_its_week(rng):
    made = issued(rng, 3)
    target = np.arange(len(made.y)) + 2
    changed = made._replace(y=np.where((target == 73)[:, None], made.y + 1000.0, made.y))
    before, after = (learned_again(each, 60).median().reshape(-1, 3) for each in (made, changed))
    assert (before[:14] == after[:14]).all() and (before[14:] != after[14:]).all()


def test_maps_of_the_first_week_are_those_learned_once(rng):
    made = issued(rng, 2)
    once, again = learned_once(made, 60), learned_again(made, 60)
    assert len(once) == len(again) == 60 * 3
    np.testing.assert_allclose(again[:21].median(), once[:21].median(), rtol=1e-6)


def test_maps_that_are_learned_again_follow_a_change(rng):
    made = issued(rng, days=180, late=25.0)
    y = made.y[60:].ravel()
    shares = [metrics.coverage(y, way(made, 60), coverage=0.9) for way in (learned_once, learned_again)]
    assert metrics.coverage(y, made.law[180:], coverage=0.9) < 0.5 < shares[0] < shares[1] - 0.02
    assert abs(shares[1] - 0.9) < 0.06


def test_closed_days_are_missing_and_the_calendar_is_whole(short, monkeypatch):
    frame = made_frame()
    closed = (frame["store"] == 1) & (frame["date"] == "2020-02-03")
    frame.loc[closed, "sales"] = 0
    frame.loc[(frame["store"] == 0) & (frame["item"] == 0) & (frame["date"] == "2020-02-04"), "sales"] = 0
    monkeypatch.setattr(retail, "made_frame", lambda: frame[frame["date"] != "2020-02-05"])
    sales = read(MADE, 0, None)
    first = sales.days.get_loc(pd.Timestamp("2020-02-03"))
    assert sales.values.shape == (4, len(sales.days)) == sales.known.shape[:2]
    np.testing.assert_array_equal(np.isnan(sales.values[:, first]), sales.store == 1)
    assert sales.values[0, first + 1] == 0 and np.isnan(sales.values[:, first + 2]).all()
    assert sales.days[sales.test] == pd.Timestamp("2020-11-02") and len(sales.days) - sales.tail == 63
    whole = frame[(frame["store"] == 1) & (frame["item"] == 1) & (frame["date"] <= sales.days[-1])]
    good = np.isfinite(sales.values[3])
    np.testing.assert_array_equal(sales.values[3, good], whole["sales"].to_numpy()[good])
    assert not sales.open_enough(55).any() and sales.open_enough(60).all()


def test_the_calendar_tells_weekday_and_season():
    calendar = calendar_of(pd.date_range("2024-01-01", periods=366))
    assert (calendar[:, :7].argmax(axis=1) == np.arange(366) % 7).all()
    np.testing.assert_allclose(calendar[90, 7:9], [np.sin(2 * np.pi * 91 / 365.25), np.sin(4 * np.pi * 91 / 365.25)])


def test_forecasts_of_a_morning_stand_together(short):
    class Told:
        def backtest(self, values, known, *, steps):
            assert values.shape[1] == known.shape[1]
            days = np.arange(values.shape[1] - steps, values.shape[1])
            return Normal((1000.0 * np.arange(len(values))[:, None] + days).ravel(), 1.0)

    sales = read(MADE, 0, None)
    made = next_day(Told(), sales, sales.tail, len(sales.days))
    wanted = 1000.0 * np.arange(4) + np.arange(sales.tail, len(sales.days))[:, None]
    np.testing.assert_allclose(made.law.median(), wanted.ravel())
    np.testing.assert_array_equal(made.y, sales.values[:, sales.tail :].T)


def cell_of(covered, n=100):
    measured = {"calibration": 0.01, "mape": 0.2, "covered": covered, "crps": 1.0}
    return {"n": n, **{way: measured for way in ("none", "paper", "tail", "weekly")}}


def test_stores_are_judged_over_all_their_days():
    spans = [{"1": cell_of(0.84, 100), "2": cell_of(0.9)}, {"1": cell_of(0.90, 300), "2": {"n": 0}}]
    rows = [{"rate": 0.5, **row} for row in by_store("x", spans)]
    assert rows[0]["weekly"]["covered"] == pytest.approx(0.885) and rows[0]["n"] == 400 and rows[1]["n"] == 100
    claims = list(verdict(rows))
    assert claims[0].startswith("PASS") and "single spans 2 of 3, 0.840 to 0.900" in claims[-1]
    spans[1]["1"] = cell_of(0.95, 900)
    assert next(verdict([{"rate": 0.5, **row} for row in by_store("x", spans)])).startswith("PASS")
    spans[1]["1"] = cell_of(0.99, 900)
    assert next(verdict([{"rate": 0.5, **row} for row in by_store("x", spans)])).startswith("FAIL")
    assert "| x | 1 | 400 |" in "\n".join(page(rows))
    assert inside([0.859, 0.86, 0.94, 0.941]).tolist() == [False, True, True, False]


def test_recalibrated_sales_are_better_calibrated(short, tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    monkeypatch.setattr(experiment, "SMALL", TINY)
    experiment.main(["--quick", "--jobs", "1", "--out", str(tmp_path)])
    stores = json.loads((tmp_path / "sales-quick.cells.json").read_text())[f"{MADE}/0/0.5"].values()
    errors = {way: np.mean([store[way]["calibration"] for store in stores]) for way in ("none", "weekly")}
    assert errors["weekly"] < 0.7 * errors["none"]
    assert (tmp_path / f"sales-{MADE}-0-0.5.png").stat().st_size > 10_000
    assert "§4.4" in capsys.readouterr().out


def test_a_missing_data_folder_is_told(monkeypatch, capsys):
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    assert experiment.main([]) == 2 and "CALIBRANT_DATA" in capsys.readouterr().err
