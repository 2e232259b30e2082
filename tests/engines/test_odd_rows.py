"""Rows that are hard to look at: every one gives a result, with its page, or one line about what must hold."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from calibrant import Ensemble, Histogram, Normal, Poisson, report
from calibrant.adapters.class_scores import as_scores
from calibrant.engines import Result
from calibrant.report import render


def looked(forecasts, y, **options) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = report(forecasts, y, candidates="quick", **options)
    assert render(result).startswith("<!doctype html>") and result.to_json()
    return result


@pytest.fixture
def one_shown(monkeypatch):
    """Of the calibrators, the page shows the best: what is odd here is not in the laws."""
    monkeypatch.setattr("calibrant.report.page.MOST_SHOWN", 1)


@pytest.fixture
def rows(rng):
    mu = rng.normal(size=120)
    return Normal(mu, 0.5), mu + rng.normal(size=120)


def test_constant_outcomes(rows):
    found = looked(rows[0], np.zeros(120))
    assert found.decision.sentence
    same = looked(Normal(np.zeros(120), 1.0), np.arange(120) % 2 * 1.0)
    assert same.conditional == []


def test_all_rows_are_copies():
    with pytest.raises(ValueError, match="at least two different rows; all are copies of one"):
        looked(Normal(np.zeros(60), 1.0), np.zeros(60))


@pytest.mark.usefixtures("one_shown")
def test_one_group(rows):
    found = looked(*rows, groups=["a"] * 120)
    assert [group.name for group in found.groups] == ["a"]


@pytest.mark.usefixtures("one_shown")
def test_every_row_its_own_group(rows):
    found = looked(*rows, groups=np.arange(120))
    assert found.groups == [] and "120 groups have fewer than 10 rows" in " ".join(found.notes)


def test_all_rows_at_one_time(rows):
    with pytest.raises(ValueError, match="`time` must have at least two different values; it has one"):
        looked(*rows, time=np.zeros(120))


@pytest.mark.usefixtures("one_shown")
def test_two_times(rows):
    found = looked(*rows, time=np.repeat([0, 1], 60))
    assert len(found.y) == 60 and found.over_time == []


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_few_rows(rng, n):
    found = looked(Normal(np.arange(float(n)), 1.0), np.arange(n) + rng.normal(size=n))
    assert found.decision.checks[0].status == "fail" and found.decision.causes == []
    assert found.decision.caveats[0].startswith(f"Few rows: with {n}, less than 100")


def test_one_row():
    with pytest.raises(ValueError, match="at least two different rows"):
        looked(Normal([0.0], 1.0), [1.0])


def test_a_class_with_one_row(rng):
    p = rng.dirichlet([1, 1, 1], size=80)
    y = np.where(np.arange(80) % 2, "a", "b").astype(object)
    y[3] = "c"
    found = looked(as_scores(p), y)
    assert {group.name for group in found.by_class} == {"a", "b", "c"}


def test_one_class_only(rng):
    found = looked(as_scores(np.column_stack([rng.uniform(0.1, 0.9, 60)] * 2) * [1, -1] + [0, 1]), [1] * 59 + [0])
    assert found.decision.checks


def test_outcomes_that_were_ruled_out(rng):
    y = rng.uniform(0, 1, 100)
    y[:3] = 7.0
    law = Histogram(np.array([0.0, 0.5, 1.0]), np.tile([0.4, 0.6], (100, 1)))
    found = looked(law, y)
    assert "Forecasts had ruled out 3 of the outcomes: their loss is infinite." in found.decision.caveats


def test_counts(rng):
    rate = rng.uniform(0.2, 3.0, 300)
    found = looked(Poisson(rate), rng.poisson(2 * rate).astype(float))
    assert any("too low" in text for text in found.decision.causes)


def test_very_large_and_very_small_numbers(rng):
    for size in (1e-150, 1e150):
        mu = size * rng.normal(size=100)
        assert looked(Normal(mu, size), mu + 2 * size * rng.normal(size=100)).decision.severity == "serious"


def test_samples_with_ties(rng):
    draws = np.round(rng.normal(size=(100, 20)), 1)
    assert looked(Ensemble(draws, kind="discrete"), np.round(rng.normal(size=100), 1)).decision.sentence


@pytest.mark.usefixtures("one_shown")
def test_missing_outcomes_and_weights_of_zero(rows):
    law, y = rows
    y = y.copy()
    y[:10] = np.nan
    found = looked(law, y, sample_weight=np.where(np.arange(120) < 40, 0.0, 2.0))
    assert len(found.y) == 80 and found.decision.checks[0].value == 160
