"""Thousands of groups, and weights that add up to a great deal, take seconds."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from calibrant import (
    BetaCalibrator,
    DirichletCalibrator,
    FlowCalibrator,
    GroupedCalibrator,
    IsotonicCalibrator,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    ScaleCalibrator,
    VectorCalibrator,
    load,
    save,
)
from calibrant.cli import main
from calibrant.summaries import GroupedSummary, ScoreSummary

GROUPS = 10_000
LAWS = [QuantileCalibrator()]
CLASSES = [PlattCalibrator(), BetaCalibrator(), IsotonicCalibrator(), VectorCalibrator(), DirichletCalibrator()]


def seconds_of(work):
    began = time.process_time()
    made = work()
    return made, time.process_time() - began


def rows(rng, groups=GROUPS):
    mu, sigma = rng.normal(size=2 * groups), rng.uniform(0.5, 2, 2 * groups)
    return np.repeat(np.arange(groups), 2), Normal(mu, sigma), mu + 2 * sigma * rng.standard_normal(2 * groups)


@pytest.mark.parametrize("inner", LAWS, ids=str)
def test_ten_thousand_groups_of_two_laws(inner, rng, tmp_path):
    groups, law, y = rows(rng)
    fitted, took = seconds_of(lambda: GroupedCalibrator(inner).fit(law, y, groups=groups))
    assert took < 5 and not fitted.calibrators_
    after, took = seconds_of(lambda: fitted.transform(law, groups=groups))
    assert took < 2 and after.std() == pytest.approx(fitted.common_.transform(law).std())
    summed, took = seconds_of(lambda: GroupedCalibrator(inner).partial_fit(law, y, groups=groups))
    assert took < 10 and len(summed.summary_.groups) == GROUPS
    assert summed.transform(law[:5], groups=groups[:5]).std() == pytest.approx(after[:5].std(), rel=1e-3)
    _, took = seconds_of(lambda: load((save(summed, tmp_path / "c"), tmp_path / "c")[1]))
    assert took < 10 and (tmp_path / "c").stat().st_size < 6 * 2**20


@pytest.mark.parametrize("inner", CLASSES, ids=str)
def test_ten_thousand_groups_of_two_scores(inner, rng):
    p = rng.dirichlet(np.ones(3), 2 * GROUPS)
    y = (p.cumsum(axis=1) > rng.random((2 * GROUPS, 1))).argmax(axis=1)
    groups = np.repeat(np.arange(GROUPS), 2)
    fitted, took = seconds_of(lambda: GroupedCalibrator(inner).fit(p, y, groups=groups))
    assert took < 10
    _, took = seconds_of(lambda: fitted.transform(p, groups=groups))
    assert took < 2


def test_who_has_a_say(rng):
    """Groups whose own rows have a fifth of the weight have a fit of their own, by rows, weights, summaries alike."""
    sizes = {"a": 200, "b": 5, "c": 4, "d": 1}
    groups = np.repeat(list(sizes), list(sizes.values()))
    law, y = Normal(np.zeros(210), 1.0), rng.normal(0, np.where(groups == "a", 1.0, 5.0))
    calibrator = GroupedCalibrator(ScaleCalibrator())
    assert list(calibrator.fit(law, y, groups=groups).calibrators_) == ["a", "b"]
    assert list(calibrator.fit(law, y, groups=groups, sample_weight=np.full(210, 2.0)).calibrators_) == ["a", "b", "c"]
    assert list(GroupedCalibrator(ScaleCalibrator()).partial_fit(law, y, groups=groups).calibrators_) == ["a", "b"]
    assert list(GroupedCalibrator(ScaleCalibrator(), strength=0).fit(law, y, groups=groups).calibrators_) == list(
        "abcd"
    )
    wide = calibrator.fit(law, y, groups=groups).transform(Normal(np.zeros(3), 1.0), groups=["b", "c", "unseen"]).std()
    assert wide[0] > wide[1] == wide[2]


def test_rows_of_groups_with_and_without_a_fit_keep_their_order(rng):
    groups = np.array(["a", "b", "c"])[rng.permutation(np.repeat([0, 1, 2], [300, 300, 2]))]
    law = Normal(np.arange(602.0), 1.0)
    y = law.loc + rng.normal(0, np.where(groups == "a", 1.0, 5.0))
    fitted = GroupedCalibrator(ScaleCalibrator()).fit(law, y, groups=groups)
    after = fitted.transform(law, groups=groups)
    assert after.median() == pytest.approx(np.arange(602))
    assert after.std()[groups == "c"] == pytest.approx(fitted.common_.transform(law[:2]).std())
    assert (after.std()[groups == "b"] > 2 * after.std()[groups == "a"][0]).all()


def test_the_summary_of_all_groups_is_that_of_all_rows(rng):
    scores = rng.normal(size=999)
    whole = GroupedSummary({k: ScoreSummary.of_scores(scores[k::7]) for k in range(7)}).whole()
    expected = ScoreSummary.of_scores(scores)
    assert whole.n_rows == 999 and whole.span == expected.span
    np.testing.assert_array_equal(whole.grid.keys, expected.grid.keys)


def test_from_the_command_line(rng, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    groups, law, y = rows(rng, 3000)
    pd.DataFrame({"mu": law.loc, "sigma": law.scale, "y": y, "shop": groups}).to_parquet("t.parquet")
    for call in (
        ["fit", "t.parquet", "--group", "shop", "-o", "a.calibrant"],
        ["apply", "a.calibrant", "t.parquet", "-o", "b.parquet"],
        ["evaluate", "t.parquet", "--group", "shop", "-m", "scale", "--rows", "20000"],
    ):
        code, took = seconds_of(lambda call=call: main(call))
        assert code == 0 and took < 2.7, (call, took, capsys.readouterr().err)  # 30 with 10 000, if it went by squares
    assert len(pd.read_parquet("b.parquet")) == 6000


@pytest.mark.parametrize(
    "calibrator", [VectorCalibrator(), DirichletCalibrator(), QuantileCalibrator(), FlowCalibrator()]
)
def test_weights_that_add_up_to_a_great_deal(calibrator, rng):
    p = rng.dirichlet(np.ones(3), 1000)
    labels = (p.cumsum(axis=1) > rng.random((1000, 1))).argmax(axis=1)
    law, y = Normal(np.zeros(1000), 1.0), rng.normal(0, 2, 1000)
    given = (p, labels) if "softmax" in str(type(calibrator).__mro__).lower() else (law, y)
    _, took = seconds_of(lambda: calibrator.fit(*given, sample_weight=np.full(1000, 1e11)))
    assert took < 4
