"""Verdicts of the experiments on real data."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Normal, metrics
from experiments.song2019.table1.cell import measure
from experiments.song2019.table1.pair import Pair
from experiments.song2019.table1.paper import PAIRS, PAPER, SETS
from experiments.song2019.table1.table import harmful, verdict
from experiments.stack.sets import Change
from experiments.stack.sets import verdict as stack_verdict


def _pair(name, base, *rises, published=None):
    none = np.array([[3.0, 1, 1], [3.2, 1, 1]])
    stack = none + np.array(rises)[:, None]
    points = stack if published is None else none - published
    return Pair(name, base, {"none": none, "GPB 8": none + 1, "GPB 16": points, "stack": stack})


def test_pinball_is_summed_over_rows_and_averaged_over_levels():
    y, law = np.array([0.0, 1.0, 2.0]), Normal(np.zeros(3), 1.0)
    found = measure(y, law)
    assert list(found) == ["NLL", "MSE", "pinball"] and found["NLL"] == metrics.nll(y, law)
    assert found["MSE"] == pytest.approx(5 / 3)
    levels = np.arange(1, 20) / 20
    away = y[:, None] - law.quantiles(levels)
    assert found["pinball"] == pytest.approx(np.maximum(levels * away, (levels - 1) * away).sum(axis=0).mean())


def test_the_papers_table_has_23_pairs():
    assert len(PAIRS) == 23 and ("appliances_energy", "GPR") not in PAIRS
    gains = {base: [Pair(name, base, {}).paper_gain for name in SETS[:5]] for base in PAPER}
    assert gains["OLS"] == [0.03, 0.21, 0.07, 0.13, 0.05] and gains["GPR"] == [0.0, 0.16, 0.01, 0.21, 0.0]
    assert gains["ridge"] == [0.05, 0.21, 0.07, 0.03, 0.03] and gains["NN"] == [1.88, 0.06, 2.29, 5.91, 0.13]
    assert PAPER["NN"]["appliances_energy"]["pinball"] == (110156.3, 98102.22, 98574.75)


def test_one_split_has_no_standard_error_and_none_to_excuse_it():
    pair = Pair("diabetes", "OLS", {"none": np.array([[5.4, 1, 1]]), "stack": np.array([[5.38, 1, 1]])})
    assert np.isnan(pair.rise("stack")[1]) and not pair.reaches("stack") and not harmful(pair, "stack")
    assert pair.summary()["mean and error"]["none"]["NLL"] == [5.4, None]


def test_rises_are_paired():
    assert _pair("diabetes", "OLS", 0.1, 0.3).rise("stack") == pytest.approx((0.2, 0.1))


@pytest.mark.parametrize(
    ("rises", "harm"),
    [((0.009, 0.009), False), ((0.011, 0.011), True), ((-0.01, 0.06), False), ((0.01, 0.05), True), ((0, 44), True)],
)
def test_limit_of_harm(rises, harm):
    assert harmful(_pair("diabetes", "OLS", *rises), "stack") == harm


@pytest.mark.parametrize(("gains", "reached"), [((0.21, 0.21), True), ((0.20, 0.20), False), ((0.15, 0.25), True)])
def test_a_gain_is_reached_within_one_standard_error(gains, reached):
    assert _pair("boston_housing", "OLS", *(-gain - 1e-12 for gain in gains)).reaches("stack") == reached


def test_sixteen_and_twenty_of_23_pairs_are_wanted():
    def pairs(stacked, published):
        made = []
        for i, (name, base) in enumerate(PAIRS):
            gain = Pair(name, base, {}).paper_gain + 1e-9
            mine, theirs = (gain if i < most else gain - 0.001 for most in (stacked, published))
            made.append(_pair(name, base, -mine, -mine, published=theirs))
        return [line[:4] for line in verdict(made)][1:3]

    assert pairs(20, 16) == ["PASS", "PASS"]
    assert pairs(19, 16) == ["PASS", "FAIL"]
    assert pairs(20, 15) == ["FAIL", "PASS"]


def test_one_harmed_pair_fails_the_stack():
    before = np.array([1.0, 2.0])
    changes = [Change("a", "OLS", False, 100, before, before + rise, {"base": 1.0}) for rise in (-0.5, 0.009)]
    assert stack_verdict(changes)[0]
    worse = [*changes, Change("b", "OLS", True, 100, before, before + 0.011, {"base": 1.0})]
    holds, text = stack_verdict(worse)
    assert not holds and "falls on 1 of 3 pairs" in text and "largest b x OLS +0.0110" in text
