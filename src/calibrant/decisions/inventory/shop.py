"""A shop with stock that spoils."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..._checks import Array, complain, count, finite, to_array
from ..._types import Numbers
from ...adapters import as_distribution
from ...distributions.base import Distribution
from ...numerics.blocks import row_blocks
from .ledger import Ledger
from .planning import Plan, Terms, as_stock, make_plan
from .shelf import age, sell

SERIES = 256  # planned at a time by the rolling policy


class Policy(Protocol):
    """Whatever tells the orders of a morning."""

    def order(self, stock: Array, day: int) -> Any:
        """Units to order (n,), given units by series and days of life left."""


@dataclass(frozen=True, kw_only=True)
class PerishableInventory:
    r"""Orders for goods that spoil: planned by forecasts of demand, judged by real demand.

    The decision process of Kuleshov et al. (2018), §4.5, and its numbers: a state is the set of
    :math:`(q, \ell)`, q units that expire in :math:`\ell = 1, \dots, L` days; on each day demand takes the oldest units
    first, what is left loses a day, what has none left is thrown away; orders of packs come on the next day with L days
    of life, and the reward is revenue less the cost of orders. With :math:`A(x, d)` for what is left of x after demand
    d, a day older, and :math:`w(x, d)` for what has spoiled,

    .. math:: V_t(x) = \max_a\; -c\,a + E_{d \sim F_t}\big[p \min(d, |x|) + v\,w(x, d) + V_{t+1}(A(x, d) + a\,e_L)\big]

    by dynamic programming over the days of the forecasts; what is left after the last is worth its salvage.

    Parameters
    ----------
    price, cost : float, default 1.99 and 1.29
        What a sale brings and what an order costs, a unit.
    salvage : float, default 0
        What a spoiled unit is worth; negative where throwing it away costs. Below price and cost.
    shelf_life : int, default 5
        Days on which a unit can be sold, L.
    pack : int, default 12
        Orders are multiples of it.
    order_days : sequence of int, default (0, 2, 4)
        Weekdays on which orders can be made, 0 is Monday.
    lead_time : int, default 1
        Days from the morning of the order to the morning on which it can be sold.
    horizon : int, default 14
        Days that `rolling` looks ahead.
    max_states : int, default 10000
        Places of the grid of states, a series and day. Stock is told apart by unit where this is enough, and else in
        the smallest divisor or multiple of the pack for which it is, for each series its own. A plan keeps 8 bytes
        for each of them, times series and order days.

    Notes
    -----
    The plan is exact where ``Plan.exact`` says so: over all states that can come about, all orders and all demands, for
    demand in whole units that is independent from day to day. States are told apart by delivery, not by age, and orders
    are bounded by what sells with probability above (c - v)/(p - v) during the life of a delivery, which loses nothing:
    more never pays. Laws of other than whole units are rounded to them.

    Where that takes more than ``max_states``, three things are approximate. Stock, orders and demand are counted in
    ``Plan.unit`` units: what lies between two places of the grid goes to both, in such parts that the mean stays, which
    spreads a day's demand by half a unit at most; values are linear in between, and the best order is placed by a
    parabola and rounded to packs. If more than four deliveries are there at a time, those that expire within some days
    of each other are one, and leave on the last of these days. Then, too, no order is made for later than the third
    delivery after it. Three order days a week and five days of life need neither of the last two.

    Examples
    --------
    >>> from calibrant import Poisson
    >>> from calibrant.decisions import PerishableInventory
    >>> shop = PerishableInventory(shelf_life=3, pack=4)
    >>> demand = Poisson(np.full(7, 5.0))  # one series, a week from Monday on
    >>> plan = shop.policy(demand, stock=[0, 2, 0])
    >>> plan.order([[0, 2, 0]]), plan.value, plan.exact
    (array([12.]), array([20.48]), True)
    >>> shop.simulate(plan, [4, 6, 5, 5, 3, 7, 5], stock=[0, 2, 0])
    Ledger(n_series=1, days=7, ordered=28, sold=30, lost=5, wasted=0, profit=23.58)

    Differs from the paper in: nothing that it tells; it does not tell how the states, too many to be listed, were made
    fewer, which days are order days, or what stock is worth at the end. Salvage and longer lead times are added.
    """

    price: float = 1.99
    cost: float = 1.29
    salvage: float = 0.0
    shelf_life: int = 5
    pack: int = 12
    order_days: Sequence[int] = (0, 2, 4)
    lead_time: int = 1
    horizon: int = 14
    max_states: int = 10_000

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, least in (("shelf_life", 1), ("pack", 1), ("lead_time", 0), ("horizon", 1), ("max_states", 1)):
            count(getattr(self, name), name, least)
        for name in ("price", "cost", "salvage"):
            value = finite(to_array(getattr(self, name), name), name)
            if value.ndim:
                raise ValueError(f"`{name}` must be one number; got shape {value.shape}.")
        if not self.salvage < min(self.price, self.cost):
            raise ValueError(f"`salvage` must be below price and cost; got {self.salvage!r}.")
        days = to_array(self.order_days, "order_days")
        if days.ndim != 1 or not set(days.tolist()) <= set(range(7)):
            raise ValueError(f"`order_days` must be weekdays from 0, Monday, to 6; got {self.order_days!r}.")

    def policy(self, demand: Any, *, n_series: int = 1, stock: Any = None, first_weekday: int = 0) -> Plan:
        """The best orders for each day and state, by forecasts of demand.

        Parameters
        ----------
        demand : list of Distribution, or what `as_distribution` reads
            One law a series and day, for all days that are to be planned: a list has a batch of n_series rows a day; a
            single batch of n_series * days rows has all days of the first series, then all of the next.
        n_series : int, default 1
            Series in a single batch.
        stock : array-like (n, ages) or (ages,), optional
            Units in the first morning by days of life left, the oldest (1 day, today) first; ages is shelf_life where
            an order comes on the next day, and units past the shelf life are on their way. None is an empty shelf.
        first_weekday : int, default 0
            Weekday of the first day, 0 is Monday.
        """
        laws = days_of(demand, n_series)
        terms = self._terms()
        return make_plan(
            terms, laws, self._order_days(len(laws), first_weekday), as_stock(stock, len(laws[0]), terms.ages)
        )

    def rolling(self, demand: Any, *, n_series: int = 1, first_weekday: int = 0) -> RollingPlan:
        """A policy that plans anew on each order day, `horizon` days ahead, from the stock that is there.

        Parameters
        ----------
        demand : callable, list of Distribution, or what `as_distribution` reads
            Forecasts as in :meth:`policy` for all days on which it will be asked; or a function of the day, 0 first,
            that gives the newest forecasts, for that day and those after it.
        n_series, first_weekday
            As in :meth:`policy`.
        """
        if callable(demand):
            return RollingPlan(self, lambda day: days_of(demand(day), n_series), first_weekday)
        laws = days_of(demand, n_series)
        return RollingPlan(self, lambda day: laws[day:], first_weekday)

    def simulate(self, policy: Policy, actual: Numbers, *, stock: Any = None) -> Ledger:
        """Follow a policy through real demand.

        Parameters
        ----------
        policy : Plan, RollingPlan, or any object with a method ``order(stock, day)``
            It is asked every morning.
        actual : array-like (n, days), or (days,) for one series
            Units asked for.
        stock : array-like (n, ages) or (ages,), optional
            Units in the first morning, as in :meth:`policy`.

        Returns
        -------
        Ledger
        """
        wanted = finite(to_array(actual, "actual"), "actual")
        wanted = wanted[None, :] if wanted.ndim == 1 else wanted
        if wanted.ndim != 2:
            raise ValueError(f"`actual` must be (series, days), or (days,) for one series; got shape {wanted.shape}.")
        complain("actual", "at least 0", wanted, wanted < 0)
        state = as_stock(stock, len(wanted), self._terms().ages)
        days = []
        for day, demand in enumerate(wanted.T):
            ordered = self._ordered(policy, state, day)
            state, *amounts = self._one_day(state, ordered, demand)
            days.append((ordered, *amounts))
        ordered, sold, lost, wasted = np.array(days).reshape(-1, 4, len(wanted)).transpose(1, 2, 0)
        profit = self.price * sold - self.cost * ordered + self.salvage * wasted
        return Ledger(ordered, sold, lost, wasted, profit, state)

    def _ordered(self, policy: Policy, state: Array, day: int) -> Array:
        ordered = to_array(policy.order(state, day), "order")
        if ordered.shape != (len(state),):
            raise ValueError(f"`policy` must order for each of {len(state)} series; got shape {ordered.shape}.")
        return ordered

    def _one_day(self, state: Array, ordered: Array, demand: Array) -> tuple[Array, Array, Array, Array]:
        """The next morning's stock, and the units sold, lost and wasted."""
        if self.lead_time == 0:
            state, ordered = np.column_stack([state, ordered]), np.zeros(len(state))
        shelf, coming = state[:, : self.shelf_life], state[:, self.shelf_life :]
        left = sell(shelf, demand)
        sold = shelf.sum(axis=1) - left.sum(axis=1)
        state, wasted = age(np.column_stack([left, coming]))
        if self.lead_time == 0:
            return state[:, :-1], sold, demand - sold, wasted
        state[:, -1] += ordered
        return state, sold, demand - sold, wasted

    def _terms(self) -> Terms:
        """What a plan knows of the shop."""
        names = ("price", "cost", "salvage", "shelf_life", "lead_time", "pack", "max_states")
        return Terms(**{name: getattr(self, name) for name in names})

    def _order_days(self, days: int, first_weekday: int) -> list[int]:
        """Days of a plan on which orders can be made."""
        first = count(first_weekday, "first_weekday", 0)
        return [day for day in range(days) if (first + day) % 7 in set(self.order_days)]


@dataclass(frozen=True, eq=False)
class RollingPlan:
    """Orders by a new plan on each order day; made by `PerishableInventory.rolling`."""

    shop: PerishableInventory
    forecasts: Callable[[int], Sequence[Distribution]]
    first_weekday: int

    def order(self, stock: Any, day: int = 0) -> Array:
        """Units to order (n,) in the morning of a day, as `Plan.order` tells; 0 if it is no order day."""
        weekday, state = self.first_weekday + day, np.atleast_2d(to_array(stock, "stock"))
        if not self.shop._order_days(1, weekday):
            return np.zeros(len(state))
        laws = list(self.forecasts(day))[: self.shop.horizon]
        if not laws:
            raise ValueError(f"`demand` must reach day {day}; there is no forecast for it.")
        state = as_stock(state, len(laws[0]), self.shop._terms().ages)
        ordered = np.empty(len(state))
        for rows in row_blocks(len(state), block=SERIES):
            plan = self.shop.policy([law[rows] for law in laws], stock=state[rows], first_weekday=weekday)
            ordered[rows] = plan.order(state[rows])
        return ordered


def days_of(demand: Any, n_series: int = 1) -> list[Distribution]:
    """Laws of each day's demand, one row a series, from a list of days or from a batch with one series after the other.

    >>> from calibrant import Poisson
    >>> [day.rate for day in days_of(Poisson([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]), n_series=2)]
    [array([1., 7.]), array([2., 8.]), array([3., 9.])]
    """
    if isinstance(demand, list) and demand and all(isinstance(day, Distribution) for day in demand):
        lengths = {len(day) for day in demand}
        if len(lengths) > 1:
            raise ValueError(f"`demand` must have the same series on each day; got {sorted(lengths)} of them.")
        return demand
    law, n = as_distribution(demand), count(n_series, "n_series")
    if not len(law) or len(law) % n:
        raise ValueError(f"`demand` must have as many days for each of {n} series; got {len(law)} rows.")
    days = len(law) // n
    return [law[day::days] for day in range(days)]
