"""A shop day by day: the oldest is sold first, what spoils is thrown away, and plans earn what they promise."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from calibrant import Ensemble, Normal, Poisson
from calibrant.decisions import PerishableInventory


class Fixed:
    """Orders that were decided beforehand."""

    def __init__(self, *orders):
        self.orders, self.seen = orders, []

    def order(self, stock, day):
        self.seen.append(stock.tolist())
        return [self.orders[day]] * len(stock)


def test_days_by_hand():
    shop = PerishableInventory(price=2.0, cost=1.0, salvage=0.1, shelf_life=2, pack=1)
    policy = Fixed(5, 4, 0, 0)
    ledger = shop.simulate(policy, [3, 2, 1, 9], stock=[1, 1])
    assert policy.seen == [[[1, 1]], [[0, 5]], [[3, 4]], [[4, 0]]]
    assert ledger.sold.tolist() == [[2, 2, 1, 4]] and ledger.lost.tolist() == [[1, 0, 0, 5]]
    assert ledger.wasted.tolist() == [[0, 0, 2, 0]] and ledger.ordered.tolist() == [[5, 4, 0, 0]]
    np.testing.assert_allclose(ledger.profit, [[-1.0, 0.0, 2.2, 8.0]])
    assert ledger.left.tolist() == [[0, 0]] and ledger.total_profit == pytest.approx(9.2)
    assert ledger.fill_rate == pytest.approx(9 / 15)
    assert repr(ledger) == "Ledger(n_series=1, days=4, ordered=9, sold=9, lost=6, wasted=2, profit=9.20)"


@pytest.mark.parametrize(("lead", "sold"), [(0, [3, 3, 3]), (1, [0, 3, 4]), (2, [0, 0, 4])])
def test_orders_come_when_they_should(lead, sold):
    shop = PerishableInventory(shelf_life=3, lead_time=lead, pack=1)
    ledger = shop.simulate(Fixed(5, 4, 0), [3, 3, 4])
    assert ledger.sold.tolist() == [sold]


@pytest.mark.parametrize("lead", [0, 1, 3])
def test_no_unit_is_lost_or_found(rng, lead):
    shop = PerishableInventory(lead_time=lead, shelf_life=3)
    orders = Fixed(*rng.integers(0, 30, 20))
    stock = rng.integers(0, 9, (4, 3 + lead - 1))
    actual = rng.integers(0, 25, (4, 20))
    ledger = shop.simulate(orders, actual, stock=stock)
    came = stock.sum(axis=1) + ledger.ordered.sum(axis=1)
    went = ledger.sold.sum(axis=1) + ledger.wasted.sum(axis=1) + ledger.left.sum(axis=1)
    np.testing.assert_array_equal(came, went)
    np.testing.assert_array_equal(ledger.sold + ledger.lost, actual)
    assert (ledger.lost >= 0).all() and ledger.wasted.sum() > 0


def test_plans_earn_what_they_promise(rng):
    """Thousands of weeks, with a plan that is asked on every order day."""
    rates = np.array([4.0, 6.0, 3.0, 5.0, 7.0, 9.0, 2.0])
    n = 4_000
    shop = PerishableInventory(shelf_life=3, pack=4, salvage=0.2)
    one = shop.policy(Poisson(rates), stock=[1, 0, 3])
    many = shop.policy([Poisson(np.full(n, rate)) for rate in rates[:5]], stock=[1, 0, 3])
    assert np.ptp(many.value) < 1e-9
    ledger = shop.simulate(many, rng.poisson(rates[:5], (n, 5)), stock=[1, 0, 3])
    earned = ledger.total_profit + 0.2 * ledger.left.sum(axis=1)
    assert abs(earned.mean() - many.value[0]) < 4 * earned.std() / np.sqrt(n)
    assert one.value[0] > many.value[0]


def test_rolling_equals_the_plan_while_forecasts_stay(rng):
    """With nothing new to know and the end in sight, planning anew changes nothing."""
    rates = rng.uniform(1.0, 6.0, (5, 7))
    actual = rng.poisson(rates)
    shop = PerishableInventory(shelf_life=3, pack=2, horizon=7, max_states=10**5)
    law = Poisson(rates.ravel())
    plan = shop.policy(law, n_series=5, first_weekday=2)
    once = shop.simulate(plan, actual)
    again = shop.simulate(shop.rolling(law, n_series=5, first_weekday=2), actual)
    told = shop.simulate(shop.rolling(lambda day: [Poisson(r) for r in rates.T[day:]], first_weekday=2), actual)
    assert plan.exact and once.ordered.sum() > 0
    for ledger in (again, told):
        np.testing.assert_array_equal(ledger.ordered, once.ordered)
        np.testing.assert_array_equal(ledger.profit, once.profit)
    assert not once.ordered[:, [1, 3, 4, 6]].any()  # from Wednesday on: Thursday, Saturday, Sunday, Tuesday


def test_honest_forecasts_earn_more_than_bold_ones(rng):
    mean = np.full((40, 28), 30.0)
    actual = np.maximum(np.round(rng.normal(mean, 15.0)), 0.0)
    shop = PerishableInventory(price=4.0, cost=1.0, shelf_life=2, pack=6, horizon=7)
    profit = {
        std: shop.simulate(shop.rolling(Normal(mean.ravel(), std), n_series=40), actual).profit.sum()
        for std in (1.0, 15.0)
    }
    assert profit[15.0] > 1.01 * profit[1.0]


def test_fifty_series_take_seconds(rng):
    mean = rng.uniform(5.0, 120.0, (50, 1)) * np.ones(30)
    actual = np.maximum(np.round(rng.normal(mean, 0.3 * mean)), 0.0)
    shop = PerishableInventory(max_states=500)
    begun = time.perf_counter()
    ledger = shop.simulate(shop.rolling(Normal(mean.ravel(), 0.3 * mean.ravel()), n_series=50), actual)
    assert time.perf_counter() - begun < 15.0 and ledger.fill_rate.min() > 0.5


def test_inputs_of_all_kinds():
    shop = PerishableInventory(shelf_life=2, pack=4)
    frame = pd.DataFrame({"mean": [6.0, 7.0, 8.0], "std": [2.0, 2.0, 2.0]})
    wanted = shop.policy(Normal([6.0, 7.0, 8.0], 2.0), stock=[1, 2])
    for demand in (frame, ([6, 7, 8], 2.0), [Normal([mean], 2.0) for mean in (6.0, 7.0, 8.0)]):
        for stock in ([1, 2], [[1, 2]], np.float32([1, 2]), pd.DataFrame([[1, 2]])):
            assert shop.policy(demand, stock=stock).value == wanted.value
    actual = pd.DataFrame([[5, 6, 7]])
    ledgers = [shop.simulate(wanted, each, stock=[1, 2]) for each in ([5, 6, 7], actual, np.float32([[5, 6, 7]]))]
    assert len({ledger.profit.sum() for ledger in ledgers}) == 1
    draws = np.random.default_rng(0).poisson(6.0, (3, 50))
    assert shop.policy(draws).value.shape == (1,)
    assert shop.policy(Ensemble(draws, kind="discrete")).exact


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="`shelf_life` must be a whole number of at least 1; got 0"):
        PerishableInventory(shelf_life=0)
    with pytest.raises(ValueError, match="`pack` must be a whole number"):
        PerishableInventory(pack=1.5)
    with pytest.raises(ValueError, match="`salvage` must be below price and cost; got 1.29"):
        PerishableInventory(salvage=1.29)
    with pytest.raises(ValueError, match="`order_days` must be weekdays from 0, Monday, to 6"):
        PerishableInventory(order_days=(1, 7))
    with pytest.raises(ValueError, match="`price` must be one number"):
        PerishableInventory(price=[1.0, 2.0])
    shop = PerishableInventory()
    with pytest.raises(ValueError, match="`demand` must have as many days for each of 2 series; got 3 rows"):
        shop.policy(Poisson([1.0, 2.0, 3.0]), n_series=2)
    with pytest.raises(ValueError, match=r"`demand` must have the same series on each day; got \[1, 2\]"):
        shop.policy([Poisson([1.0]), Poisson([1.0, 2.0])])
    with pytest.raises(ValueError, match="`actual` must be at least 0"):
        shop.simulate(Fixed(0), [-1])
    with pytest.raises(ValueError, match="`actual` must be finite"):
        shop.simulate(Fixed(0), [np.nan])
    with pytest.raises(ValueError, match="`actual` must be .series, days."):
        shop.simulate(Fixed(0), np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="`policy` must order for each of 2 series"):
        shop.simulate(Fixed([1, 2, 3]), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="`demand` must reach day 2"):
        shop.simulate(shop.rolling(Poisson([1.0, 2.0])), [1, 1, 1])
    with pytest.raises(ValueError, match="`first_weekday` must be a whole number"):
        shop.policy(Poisson([1.0]), first_weekday="Monday")


def test_one_series_may_be_one_line():
    shop = PerishableInventory(shelf_life=2, pack=4)
    rolling = shop.rolling(Normal([6.0, 7.0, 8.0], 2.0))
    assert rolling.order([1, 2], 0) == shop.policy(Normal([6.0, 7.0, 8.0], 2.0), stock=[1, 2]).order([1, 2])
    assert rolling.order([1, 2], 1).tolist() == [0.0]


def test_rolling_looks_as_far_as_its_horizon():
    """Demand that comes on the last day of three is worth an order, if it is seen."""
    laws = [Ensemble([[demand] * 3], kind="discrete") for demand in (0.0, 0.0, 24.0)]
    for horizon, order in ((2, 0), (3, 24)):
        rolling = PerishableInventory(order_days=(0,), horizon=horizon).rolling(laws)
        assert rolling.order(np.zeros((1, 5)), 0) == order


def test_many_series_are_planned_in_blocks(rng, monkeypatch):
    rates = rng.uniform(1.0, 5.0, (7, 4))
    shop = PerishableInventory(shelf_life=2, pack=2)
    actual = rng.poisson(rates)
    whole = shop.simulate(shop.rolling(Poisson(rates.ravel()), n_series=7), actual)
    monkeypatch.setattr("calibrant.decisions.inventory.shop.SERIES", 3)
    parts = shop.simulate(shop.rolling(Poisson(rates.ravel()), n_series=7), actual)
    np.testing.assert_array_equal(whole.ordered, parts.ordered)
