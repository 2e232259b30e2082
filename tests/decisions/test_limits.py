"""Actions by limits: probabilities with the limits inside, enough confidence, least cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibrant import Normal, Poisson
from calibrant.decisions import cheapest_action, limit_probabilities, ship_or_hold


def test_limits_themselves_are_within():
    pmf = stats.poisson(3.0).pmf(np.arange(60))
    got = limit_probabilities(Poisson([3.0]), 2, 4)
    np.testing.assert_allclose(got, [[pmf[:2].sum(), pmf[2:5].sum(), pmf[5:].sum()]])
    np.testing.assert_allclose(limit_probabilities(Poisson([3.0]), high=4), [[0, pmf[:5].sum(), pmf[5:].sum()]])
    np.testing.assert_allclose(limit_probabilities(Poisson([3.0]), low=2), [[pmf[:2].sum(), pmf[2:].sum(), 0]])


def test_limits_by_row():
    low, high = [9.0, -np.inf], pd.Series([11.0, 10.0])
    got = limit_probabilities(([10.0, 10.0], 1.0), low, high)
    np.testing.assert_allclose(got[0], stats.norm.cdf([-1, 1, -1]) - [0, stats.norm.cdf(-1), 0])
    np.testing.assert_allclose(got[1], [0.0, 0.5, 0.5])


def test_two_places_with_one_action_count_together():
    law = Normal([10.0], 20.0)  # 0.48 below, 0.04 within, 0.48 above
    assert ship_or_hold(law, 9.0, 11.0) == "rework"
    assert ship_or_hold(law, 9.0, 11.0, below="scrap") == "hold"
    assert ship_or_hold(law, 9.0, 11.0, below="scrap", unsure="ask") == "ask"
    assert ship_or_hold(Normal([8.0], 0.1), 9.0, 11.0, below="scrap") == "scrap"


def test_confidence_is_a_bound():
    edge = 10.0 + stats.norm.ppf(0.9)
    assert list(ship_or_hold(Normal([10.0, 10.0], 1.0), high=[edge + 1e-9, edge - 1e-9])) == ["ship", "hold"]


def test_what_is_shipped_is_within_its_limits(rng):
    loc = rng.normal(10.0, 1.0, 20_000)
    y = rng.normal(loc, 0.5)
    shipped = ship_or_hold(Normal(loc, 0.5), 9.0, 11.0, confidence=0.9) == "ship"
    rework = ship_or_hold(Normal(loc, 0.5), 9.0, 11.0, confidence=0.9) == "rework"
    inside = (y >= 9) & (y <= 11)
    assert 0.1 < shipped.mean() < 0.9 and inside[shipped].mean() > 0.9 and (~inside[rework]).mean() > 0.9
    eager = ship_or_hold(Normal(loc, 0.1), 9.0, 11.0, confidence=0.9) == "ship"
    assert inside[eager].mean() < 0.9  # too sure of itself


def test_least_cost_by_hand():
    costs = {"ship": (90, 0, 40), "measure": (5, 5, 5), "rework": (60, 10, 1)}
    law = Normal([10.0, 10.8, 13.0, 8.0], 0.4)
    chances = limit_probabilities(law, 9.0, 11.0)
    expected = [[sum(p * c for p, c in zip(row, each, strict=True)) for each in costs.values()] for row in chances]
    wanted = [list(costs)[int(np.argmin(row))] for row in expected]
    assert list(cheapest_action(law, 9.0, 11.0, costs=costs)) == wanted == ["ship", "measure", "rework", "measure"]


def test_errors_name_the_argument():
    law = Normal([1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match="`low` or `high` must be given"):
        ship_or_hold(law)
    with pytest.raises(ValueError, match="`low` must be at most `high`; 2 of 2 values are not"):
        ship_or_hold(law, 2.0, 1.0)
    with pytest.raises(ValueError, match="`confidence` must be strictly between 0 and 1.*Percent"):
        ship_or_hold(law, 1.0, confidence=90)
    with pytest.raises(ValueError, match="`high` must be a number"):
        ship_or_hold(law, 1.0, np.nan)
    with pytest.raises(TypeError, match="`costs` must be a dict"):
        cheapest_action(law, 1.0, costs=[1, 2, 3])
    with pytest.raises(ValueError, match="`costs` must have three numbers an action"):
        cheapest_action(law, 1.0, costs={"ship": (1, 2)})
