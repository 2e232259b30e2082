"""Verdicts of the experiments on real data."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Normal, metrics
from experiments.song2019.real.table import SETS, Pair, harmful, measure, verdict
from experiments.stack.sets import Change
from experiments.stack.sets import verdict as stack_verdict


def _pair(name, base, *rises):
    none = np.array([[3.0, 1, 1, 1], [3.2, 1, 1, 1]])
    return Pair(name, base, {"none": none, "stack": none + np.array(rises)[:, None]})


def test_pinball_is_summed_over_rows_and_averaged_over_levels():
    y, law = np.array([0.0, 1.0, 2.0]), Normal(np.zeros(3), 1.0)
    nll, crps, pinball, a2 = measure(y, law)
    assert (nll, crps) == (metrics.nll(y, law), metrics.crps(y, law))
    levels = np.arange(1, 20) / 20
    away = y[:, None] - law.quantiles(levels)
    assert pinball == pytest.approx(np.maximum(levels * away, (levels - 1) * away).sum(axis=0).mean())
    assert a2 == metrics.anderson_darling(y, law)


def test_rises_are_paired():
    assert _pair("diabetes", "OLS", 0.1, 0.3).rise("stack") == pytest.approx((0.2, 0.1))


@pytest.mark.parametrize(
    ("rises", "harm"),
    [((0.009, 0.009), False), ((0.011, 0.011), True), ((-0.01, 0.06), False), ((0.01, 0.05), True), ((0, 44), True)],
)
def test_limit_of_harm(rises, harm):
    assert harmful(_pair("diabetes", "OLS", *rises), "stack") == harm


def test_four_of_six_sets_are_wanted():
    gains = {"diabetes": 0.031, "boston_housing": 0.211, "airfoil_self_noise": 0.071, "forest_fires": 0.131}
    pairs = [_pair(name, "OLS", *[-gains.get(name, 0.0)] * 2) for name in SETS]
    assert [line[:4] for line in verdict(pairs)] == ["PASS", "    ", "PASS"]
    pairs[0] = _pair("diabetes", "OLS", -0.02, -0.02)
    assert [line[:4] for line in verdict(pairs)] == ["FAIL", "    ", "PASS"]


def test_one_harmed_pair_fails_the_stack():
    before = np.array([1.0, 2.0])
    changes = [Change("a", "OLS", False, 100, before, before + rise, {"base": 1.0}) for rise in (-0.5, 0.009)]
    assert stack_verdict(changes)[0]
    worse = [*changes, Change("b", "OLS", True, 100, before, before + 0.011, {"base": 1.0})]
    holds, text = stack_verdict(worse)
    assert not holds and "falls on 1 of 3 pairs" in text and "largest b x OLS +0.0110" in text
