"""Plans are worth what a recursion over all states, orders and demands says they are worth."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from calibrant import Ensemble, Normal, Poisson
from calibrant.decisions import PerishableInventory, expected_profit, newsvendor


def by_brute_force(shop, chances, order_days, stock, most):
    """Best expected profit, and best first order, by the rules as the paper tells them."""
    life, days = shop.shelf_life, len(chances)

    def tomorrow(shelf, order, demand):
        """One day: money, and the shelf of the next morning; shelf[k] units have k + 1 days left."""
        shelf = [*shelf, order] if shop.lead_time == 0 else list(shelf)
        wanted = demand
        for k in range(min(life, len(shelf))):
            taken = min(shelf[k], wanted)
            shelf[k] -= taken
            wanted -= taken
        money = shop.price * (demand - wanted) + shop.salvage * shelf[0] - shop.cost * order
        return money, tuple(shelf[1:]) if shop.lead_time == 0 else (*shelf[1:], order)

    def worth(day, shelf, order):
        total = 0.0
        for demand, chance in enumerate(chances[day]):
            money, after = tomorrow(shelf, order, demand)
            total += chance * (money + best(day + 1, after)[0])
        return total

    @lru_cache(None)
    def best(day, shelf):
        if day == days:
            return shop.salvage * sum(shelf), 0
        orders = range(0, most + 1, shop.pack) if day in order_days else (0,)
        values = [worth(day, shelf, order) for order in orders]
        return max(values), orders[int(np.argmax(np.array(values) > max(values) - 1e-9))]

    return best(0, tuple(stock))


@pytest.mark.parametrize("life", [1, 2, 3])
@pytest.mark.parametrize("lead", [0, 1, 2])
@pytest.mark.parametrize(("pack", "cost", "salvage"), [(1, 1.29, 0.0), (2, 0.6, 0.3), (3, 0.6, -0.5), (2, 2.5, 0.0)])
def test_values_and_orders_are_those_of_brute_force(rng, life, lead, pack, cost, salvage):
    days, weekdays, first = 4, (0, 1, 3), 6
    members = rng.integers(0, 4, (days, 5))
    stock = rng.integers(0, 3, life + lead - 1)
    shop = PerishableInventory(
        cost=cost, salvage=salvage, shelf_life=life, lead_time=lead, pack=pack, order_days=weekdays
    )
    plan = shop.policy(Ensemble(members.astype(float), kind="discrete"), stock=stock, first_weekday=first)
    chances = [np.bincount(row, minlength=4) / 5 for row in members]
    order_days = [day for day in range(days) if (first + day) % 7 in weekdays]
    value, _ = by_brute_force(shop, chances, order_days, stock, most=12)
    assert plan.exact and plan.value[0] == pytest.approx(value, abs=1e-10)
    rest = [chances[day] for day in range(1, days)]
    left = np.zeros(life + lead - 1, dtype=int)
    value, order = by_brute_force(shop, rest, [day - 1 for day in order_days], left, most=12)
    assert plan.order(left, 1) == order


def test_a_week_of_the_papers_shop_by_brute_force():
    shop = PerishableInventory(shelf_life=3, pack=3, horizon=7, order_days=(0, 2, 4))
    chances = [[0.3, 0.3, 0.2, 0.1, 0.1], [0.0, 0.2, 0.4, 0.2, 0.2], [0.5, 0.5, 0.0, 0.0, 0.0]] * 2
    members = np.array([np.repeat(np.arange(5.0), np.round(10 * np.array(row)).astype(int)) for row in chances])
    plan = shop.policy(Ensemble(members, kind="discrete"), stock=[1, 0, 2])
    value, order = by_brute_force(shop, chances, [0, 2, 4], [1, 0, 2], most=12)
    assert plan.value[0] == pytest.approx(value, abs=1e-10) and plan.order([1, 0, 2]) == order > 0


def test_one_day_of_life_is_a_newsvendor_every_day():
    law = Poisson([7.0, 11.0, 4.0])
    terms = {"price": 3.0, "cost": 1.0, "salvage": 0.9}
    shop = PerishableInventory(**terms, shelf_life=1, lead_time=0, pack=4, order_days=range(7))
    plan = shop.policy(law)
    best = newsvendor(law, **terms, pack=4)
    assert plan.value[0] == pytest.approx(expected_profit(law, best, **terms).sum(), abs=1e-9)
    assert [plan.order(None, day)[0] for day in range(3)] == list(best)


def test_series_do_not_touch_each_other(rng):
    rates = rng.uniform(0.5, 4.0, (6, 7))
    shop = PerishableInventory(shelf_life=4, max_states=10**6)
    stock = rng.integers(0, 4, (6, 4)).astype(float)
    plan = shop.policy(Poisson(rates.ravel()), n_series=6, stock=stock)
    listed = shop.policy([Poisson(day) for day in rates.T], stock=stock)
    np.testing.assert_array_equal(plan.value, listed.value)
    for k in range(6):
        alone = shop.policy(Poisson(rates[k]), stock=stock[k])
        assert alone.exact and alone.value[0] == pytest.approx(plan.value[k], rel=1e-12)
        assert alone.order(stock[k])[0] == plan.order(stock)[k]


def test_coarse_plans_are_nearly_as_good(rng):
    rates, n = np.full(7, 6.0), 2000
    shop = PerishableInventory(shelf_life=3, pack=6, max_states=60)
    fine = PerishableInventory(shelf_life=3, pack=6, max_states=10**6).policy(Poisson(rates))
    coarse = shop.policy([Poisson(np.full(n, rate)) for rate in rates])
    assert fine.exact and not coarse.exact and coarse.unit[0] == 3
    assert coarse.value[0] == pytest.approx(fine.value[0], rel=0.02)
    earned = shop.simulate(coarse, rng.poisson(rates, (n, 7))).total_profit
    assert fine.value[0] * 0.98 - 4 * earned.std() / np.sqrt(n) < earned.mean()
    assert earned.mean() < fine.value[0] + 4 * earned.std() / np.sqrt(n)


@pytest.mark.parametrize(
    ("shop", "rate", "days"),
    [
        (PerishableInventory(shelf_life=4, pack=1, order_days=range(7), max_states=3000), 2.0, 8),
        (PerishableInventory(shelf_life=5, pack=1, order_days=range(7), lead_time=2, max_states=3000), 1.5, 8),
    ],
)
def test_deliveries_that_are_one_cost_little(rng, shop, rate, days):
    n, rates = 1500, np.full(days, rate)
    exact = replace(shop, max_states=10**6).policy(Poisson(rates))
    plan = shop.policy([Poisson(np.full(n, rate)) for rate in rates])
    earned = shop.simulate(plan, rng.poisson(rates, (n, days))).total_profit
    noise = 4 * earned.std() / np.sqrt(n)
    assert exact.exact and not plan.exact
    assert 0.93 * exact.value[0] - noise < earned.mean() < exact.value[0] + noise


def test_long_lives_and_daily_orders_are_planned(rng):
    """Of demand that is nearly sure, nearly all is sold and earns the margin."""
    for shop in (PerishableInventory(order_days=range(7)), PerishableInventory(shelf_life=30)):
        law = Normal(np.full(21, 50.0), 2.0)
        ledger = shop.simulate(shop.policy(law), np.full(21, 50.0))
        possible = 0.7 * 50 * 20
        assert 0.93 * possible < ledger.profit.sum() + 1.29 * ledger.left.sum() <= possible


def test_orders_of_large_shops_are_not_bound_to_the_grid():
    shop = PerishableInventory(pack=1, shelf_life=1, lead_time=0, order_days=range(7), max_states=20)
    law = Normal(np.linspace(1000.0, 1060.0, 7), 200.0)
    plan = shop.policy([law])
    assert (plan.unit > 30).all()
    np.testing.assert_allclose(plan.order(None), newsvendor(law, price=1.99, cost=1.29), atol=10)


def test_what_a_plan_refuses():
    shop = PerishableInventory(shelf_life=2)
    plan = shop.policy(Poisson([3.0, 3.0, 3.0]), stock=[0, 5])
    assert repr(plan) == "Plan(n_series=1, days=3)" and plan.order([0, 5], 1) == 0
    with pytest.raises(ValueError, match=r"`stock` must be what the plan can lead to.*\[0, 0\] = 4.*Plan again"):
        plan.order([[4, 5]])
    with pytest.raises(ValueError, match="`stock` must be what the plan can lead to"):
        plan.order([[0, 6]])
    with pytest.raises(ValueError, match=r"`stock` must be \(1, 2\)"):
        plan.order([[1, 2, 3]])
    with pytest.raises(ValueError, match="`stock` must be at least 0"):
        plan.order([[0, -1]])
    with pytest.raises(ValueError, match="`day` must be one of the 3 days of the plan"):
        plan.order([[0, 0]], 3)
