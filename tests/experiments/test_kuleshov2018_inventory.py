import json

import numpy as np
import pandas as pd
import pytest

from calibrant import Normal
from experiments.kuleshov2018 import inventory as experiment
from experiments.kuleshov2018 import retail
from experiments.kuleshov2018.inventory import earned, newest, paths_ahead, told
from experiments.kuleshov2018.inventory_verdict import AGENTS, NONE, OURS, names, page, paired, verdict
from experiments.kuleshov2018.lagged import asked, rows, training_rows
from experiments.kuleshov2018.retail import MADE, Sales, read


@pytest.fixture
def short(monkeypatch):
    """A made panel with five weeks of tail and four of test."""
    monkeypatch.setattr(retail, "TAIL", 35)
    monkeypatch.setitem(retail.SPANS, MADE, (("2020-06-01", "2020-06-28"),))


def panel_of(values, test):
    n, days = values.shape
    known = np.broadcast_to(np.arange(days, dtype=float)[:, None], (n, days, 1))
    return Sales(values, known, np.arange(n), np.zeros(n), pd.date_range("2024-01-01", periods=days), test)


def test_rows_hold_what_the_morning_knows(rng):
    values = rng.gamma(5.0, 10.0, (2, 60))
    values[1, 38] = np.nan
    sales = panel_of(values, 50)
    X, size = rows(sales, asked([1], [40], [3]))
    past = values[1, :40]
    unit = np.nanmean(past)
    month = past[12:40] / unit
    mean = np.nanmean(month)
    month = np.where(np.isnan(month), mean, month)
    same = [month[28 - j] for j in range(1, 29) if (42 - (40 - j)) % 7 == 0]
    last = month[::-1][:7]
    np.testing.assert_allclose(size, unit)
    np.testing.assert_allclose(X[0], [*last, last.mean(), mean, same[0], np.mean(same), 3 / 14, np.log(unit), 42.0])
    assert len(same) == 4


def test_training_rows_end_before_the_tail(short):
    sales = read(MADE, 0, None)
    later = sales.values.copy()
    later[:, sales.tail :] = 1e6
    for one, other in zip(training_rows(sales), training_rows(sales._replace(values=later)), strict=True):
        np.testing.assert_array_equal(one, other)
    X, y = training_rows(sales)
    assert len(X) == len(y) > 1000 and abs(y.mean() - 1) < 0.3


def test_paths_are_put_by_lead(short):
    class Told:
        def paths(self, values, known, ahead):
            assert known.shape[1] == values.shape[1] + ahead
            day = values.shape[1] + np.arange(ahead)
            return 1000.0 * np.arange(len(values))[:, None, None] + day + np.arange(-2.0, 3.0)[:, None]

    sales = read(MADE, 0, None)
    kept = np.array([0, 2])
    issued = paths_ahead(Told(), sales, kept)
    for lead in (1, 5, 14):
        each = issued[lead - 1]
        days = np.arange(sales.tail + lead - 1, len(sales.days))
        np.testing.assert_allclose(each.law.median().reshape(-1, 2), np.stack([days, 1000.0 + days], axis=1))
        np.testing.assert_array_equal(each.y, sales.values[kept][:, days].T)
        assert each.lead == lead
    morning = newest([each.law for each in issued], 2)(len(sales.days) - sales.tail - 3)
    assert [len(law) for law in morning] == [2, 2, 2]


def test_right_demand_earns_more_than_too_high_or_too_low(rng):
    sales = panel_of(rng.poisson(40.0, (6, 98)).astype(float), 70)
    kept, rewards = np.arange(6), {}
    for bias in (0.6, 1.0, 1.6):
        laws = [Normal(np.full(6 * (28 - lead), 40.0 * bias), 7.0) for lead in range(14)]
        rewards[bias] = sum(earned(sales, kept, laws, 1000)["profit"])
    assert rewards[1.0] > 1.05 * max(rewards[0.6], rewards[1.6])
    assert rewards[1.0] < 0.7 * sales.values[:, 70:].sum()
    measured = told(sales, kept, [Normal(np.full(6 * (28 - lead), 40.0), np.sqrt(40.0)) for lead in range(14)])
    assert set(measured) == {"1", "7", "14"} and all(abs(each["covered"] - 0.9) < 0.08 for each in measured.values())


def test_standard_errors_by_hand():
    found = paired(np.array([1.0, 3.0, 2.0, 6.0]), np.array(["a", "a", "b", "b"]))
    assert (found.n, found.mean) == (4, 3.0)
    assert found.error == pytest.approx(np.sqrt(14 / 3 / 4))
    assert found.clustered == pytest.approx(np.sqrt(2 * (2.0**2 + 2.0**2)) / 4)
    assert found.t == pytest.approx(3 / np.sqrt(7 / 6)) and found.clustered_t == pytest.approx(3.0)


def cells_of(gain):
    lead = {"covered": 0.9, "calibration": 0.01, "bias": 0.0}
    count = 30
    base = {"ordered": [9.0] * count, "sold": [8.0] * count, "lost": [2.0] * count, "wasted": [1.0] * count}
    profits = {agent: [100.0 + (gain + 0.1 * i if agent == OURS else 0.0) for i in range(count)] for agent in AGENTS}
    cell = {
        "series": [f"1/{i}" for i in range(count)],
        "demand": [200.0] * count,
        "agents": {agent: {"profit": profits[agent], **base} for agent in AGENTS},
        "leads": {agent: {"1": lead} for agent in AGENTS},
    }
    more = {agent: profits[agent] for agent in (NONE, OURS)}
    return {"x/0": {**cell, "more_states": more}, "x/1": {**cell, "more_states": {}}}


def test_claims_follow_the_rewards():
    good, bad = (list(verdict(cells_of(gain))) for gain in (1.0, -5.0))
    assert [claim[:4] for claim in good[:3]] == ["PASS"] * 3 and [claim[:4] for claim in bad[:3]] == ["FAIL"] * 3
    assert "60 series in their spans, 30 series" in good[0] and len(np.unique(names(cells_of(1.0)))) == 30
    assert "61,690" in "\n".join(page(cells_of(1.0)))


def test_calibrated_demand_is_better_and_earns_more(short, tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    monkeypatch.setattr(experiment, "SMALL_GRU", {"hidden": 8, "max_epochs": 3, "n_passes": 20})
    monkeypatch.setattr(experiment, "SMALL", {"hidden": (8,), "max_epochs": 2})
    monkeypatch.setattr(experiment, "HORIZON", 7)
    monkeypatch.setattr(experiment, "TOLD", (1, 7))
    monkeypatch.setattr(experiment, "STATES", 300)
    monkeypatch.setattr(experiment, "MORE_STATES", 600)
    experiment.main(["--quick", "--jobs", "1", "--out", str(tmp_path)])
    cell = json.loads((tmp_path / "inventory-quick.cells.json").read_text())[f"{MADE}/0"]
    assert set(cell["leads"][OURS]) == {"1", "7"}
    for lead in ("1", "7"):
        assert cell["leads"][OURS][lead]["calibration"] < cell["leads"][NONE][lead]["calibration"]
    assert sum(cell["agents"][OURS]["profit"]) > sum(cell["agents"][NONE]["profit"])
    assert "table 2" in capsys.readouterr().out


def test_a_missing_data_folder_is_told(monkeypatch, capsys):
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    assert experiment.main([]) == 2 and "CALIBRANT_DATA" in capsys.readouterr().err
