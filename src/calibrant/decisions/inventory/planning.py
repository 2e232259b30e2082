"""Plans of orders by dynamic programming over the days, backwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._checks import Array, complain, finite, to_array
from ...distributions.base import Distribution
from .deliveries import BEFORE, Delivery, Pool, deliveries, held, pooled, there
from .demand import grid_masses, most_sold
from .expectation import after_sales
from .grid import at, between, peak, units

MOST_POOLS = 4  # told apart at a time where not all can be
REACH = 3  # deliveries on, for which orders are made then


@dataclass(frozen=True)
class Terms:
    """What a plan knows of the shop."""

    price: float
    cost: float
    salvage: float
    shelf_life: int
    lead_time: int
    pack: int
    max_states: int

    @property
    def ages(self) -> int:
        """Columns of a state: days of life left in the morning, units on their way included."""
        return self.shelf_life + self.lead_time - 1


@dataclass(frozen=True, eq=False)
class Choice:
    """What the orders of one morning are worth: (n, N_1, ..., N_m, A), by units of each delivery and steps ordered."""

    held: tuple[Pool, ...]
    worth: Array


@dataclass(frozen=True, eq=False)
class Plan:
    """The best orders for each state that can come about, in each of n series; made by `PerishableInventory.policy`.

    Attributes
    ----------
    value : ndarray (n,)
        Expected profit over the days of the plan, from the stock that it began with.
    unit : ndarray (n,)
        Units of stock that the plan tells apart.
    exact : bool
        Whether every series was planned unit by unit, and delivery by delivery.
    """

    value: Array
    unit: Array
    exact: bool
    pack: int
    ages: int
    days: int
    choices: dict[int, Choice]

    def __len__(self) -> int:
        """Return the number of series."""
        return len(self.unit)

    def __repr__(self) -> str:
        """Series and days."""
        return f"Plan(n_series={len(self)}, days={self.days})"

    def order(self, stock: Any, day: int = 0) -> Array:
        """Units to order (n,), multiples of the pack, in the morning of a day of the plan; 0 if it is no order day.

        Parameters
        ----------
        stock : array-like (n, ages)
            Units by days of life left, the oldest (1 day, today) first; past the shelf life they are on their way.
            A plan that is exact refuses what it cannot lead to; others take the most that they know.
        day : int, default 0
            Days since the first of the plan.
        """
        state = as_stock(stock, len(self), self.ages)
        if not 0 <= day < self.days:
            raise ValueError(f"`day` must be one of the {self.days} days of the plan, from 0; got {day!r}.")
        choice = self.choices.get(day)
        if choice is None:
            return np.zeros(len(self))
        amounts = units_of(state, choice.held, day)
        self._refuse_unplanned(state, amounts, choice)
        worth = at(choice.worth, amounts / self.unit[:, None])
        step = np.maximum(self.pack, self.unit)
        steps = np.where(step > self.pack, peak(worth), worth.argmax(axis=1))
        return self.pack * np.round(steps * step / self.pack)

    def _refuse_unplanned(self, state: Array, amounts: Array, choice: Choice) -> None:
        most = self.unit[:, None] * (np.array(choice.worth.shape[1:-1]) - 1)
        known = np.minimum(amounts, most).sum(axis=1) if self.exact else amounts.sum(axis=1)
        wrong = state.sum(axis=1) > (1 + 1e-9) * known + 1e-9
        hint = "Plan again, with `stock` as it is."
        complain("stock", "what the plan can lead to", state, wrong[:, None] & (state > 0), hint)


def make_plan(terms: Terms, laws: Sequence[Distribution], order_days: Sequence[int], stock: Array) -> Plan:
    """Plan the orders of n series from their stock (n, ages), by the laws of each day's demand, n rows each."""
    days = len(laws)
    all_ = deliveries(stock, order_days, days, terms.lead_time, terms.shelf_life)
    for reach in (len(all_), REACH):
        most = _most_units(terms, laws, stock, all_, reach)
        all_, pools, unit = _told_apart(all_, most, days, terms)
        if all(len(pool) == 1 for pool in pools):
            break
    sizes = {pool: int(np.ceil(_of(most, all_, pool) / unit).max(initial=0)) + 1 for pool in pools}
    choices, value = _Backwards(terms, laws, all_, unit, sizes).run()
    begun = at(value, units_of(stock, held(all_, 0), 0) / unit[:, None])
    exact = bool((unit == 1).all()) and reach == len(all_)
    return Plan(begun, unit, exact, terms.pack, terms.ages, days, choices)


def _most_units(terms: Terms, laws: Sequence[Distribution], stock: Array, all_: list[Delivery], reach: int) -> Array:
    """Most units of each delivery, (n, deliveries).

    The last unit of an order is sold only if demand while it is on sale is as large as the order, and earns at most
    the price then: more than the bound never pays. Nor is it sensible to order for later than so many deliveries on.
    """
    chance = (terms.cost - terms.salvage) / (terms.price - terms.salvage)
    orders = [each for each in all_ if each.ordered != BEFORE]
    later = [*(each.arrives for each in orders[reach:]), *[len(laws)] * reach]
    spans = [slice(each.arrives, min(each.expires + 1, end)) for each, end in zip(orders, later, strict=False)]
    sold = most_sold(laws, spans, chance)
    first = stock[:, [each.expires for each in all_ if each.ordered == BEFORE]]
    return np.column_stack([first, terms.pack * np.ceil(sold / terms.pack)])


def _told_apart(all_: list[Delivery], most: Array, days: int, terms: Terms) -> tuple[list[Delivery], list[Pool], Array]:
    """Deliveries, pools of them and units (n,): one by one where there is room, else not more pools than there may be.

    A pool holds at most what its largest delivery may.
    """
    for width in range(1, terms.ages + days + 1):
        part = pooled(all_, width)
        daily = [there(part, day) for day in range(days)]
        pools = list(dict.fromkeys(pool for day in (*daily, held(part, days)) for pool in day))
        amounts = np.column_stack([np.zeros((len(most), 0)), *(_of(most, part, pool) for pool in pools)])
        unit = units(amounts, [[pools.index(pool) for pool in day] for day in daily], terms.max_states, terms.pack)
        if max(len(day) for day in daily) <= MOST_POOLS or (width == 1 and (unit == 1).all()):
            break
    return part, pools, unit


def _of(most: Array, all_: list[Delivery], pool: Pool) -> Array:
    """Most units of a pool, (n,)."""
    return np.asarray(most[:, [all_.index(each) for each in pool]].max(axis=1))


@dataclass(frozen=True, eq=False)
class _Backwards:
    """The recursion: what stock is worth in the morning, from the last day to the first."""

    terms: Terms
    laws: Sequence[Distribution]
    all_: list[Delivery]
    unit: Array
    sizes: dict[Pool, int]

    def run(self) -> tuple[dict[int, Choice], Array]:
        """The choices of all order days, and what each first stock is worth."""
        after = held(self.all_, len(self.laws))
        value = self._plus_units(np.zeros((len(self.unit), *self._shape(after))), after, self.terms.salvage)
        choices = {}
        for day in range(len(self.laws) - 1, -1, -1):
            before, now = held(self.all_, day), there(self.all_, day)
            value = self._before_sales(self._apart(value, after, now), now, day)
            if len(now) > len(before):
                value = self._with_orders(value, self.sizes[now[-1]])
                choices[day] = Choice(tuple(before), value)
                value = value.max(axis=-1)
            after = before
        return choices, value

    def _shape(self, pools: list[Pool]) -> tuple[int, ...]:
        return tuple(self.sizes[pool] for pool in pools)

    def _apart(self, value: Array, after: list[Pool], now: list[Pool]) -> Array:
        """Value by what there is in the evening, from that by the pools of the next morning: their sums."""
        for pool in reversed(after):
            parts = [part for part in now if set(part) <= set(pool)]
            if len(parts) > 1:
                total = sum(np.ix_(*(np.arange(size) for size in self._shape(parts))))
                value = value.take(np.minimum(total, self.sizes[pool] - 1), axis=1 + after.index(pool))
        return value

    def _before_sales(self, value: Array, now: list[Pool], day: int) -> Array:
        """Value of the stock of a day, its order included, from that of what is left in the evening."""
        gone = [pool for pool in now if pool[0].leaves == day]
        value = value.reshape(len(value), *(1 for _ in gone), *self._shape(now[len(gone) :]))
        value = np.broadcast_to(value, (len(value), *self._shape(now)))
        value = self._plus_units(value, gone, self.terms.salvage)
        shelf = [pool for pool in now if pool[0].arrives <= day]
        most = sum(self.sizes[pool] - 1 for pool in shelf)
        masses = grid_masses(self.laws[day], self.unit, most + 1)
        left = self._plus_units(value, shelf, -self.terms.price)
        return self._plus_units(after_sales(left, masses, len(shelf)), shelf, self.terms.price)

    def _plus_units(self, value: Array, which: list[Pool], each_unit: float) -> Array:
        """Add an amount of money for each unit of the first pools."""
        for k, pool in enumerate(which):
            money = each_unit * self.unit[:, None] * np.arange(self.sizes[pool])
            value = value + money.reshape(len(value), *[1] * k, -1, *[1] * (value.ndim - k - 2))
        return value

    def _with_orders(self, value: Array, size: int) -> Array:
        """Value by steps ordered, packs or units of the grid if these are larger, for units of the newest delivery."""
        step = np.maximum(self.terms.pack, self.unit)[:, None]
        ordered = step * np.arange(int(((size - 1) * self.unit / step[:, 0]).max(initial=0.0)) + 1)
        weights = between(ordered / self.unit[:, None], size)
        worth = value.reshape(len(value), -1, size) @ np.swapaxes(weights, 1, 2)
        return (worth - self.terms.cost * ordered[:, None]).reshape(*value.shape[:-1], -1)


def units_of(stock: Array, pools: Sequence[Pool], day: int) -> Array:
    """Units of each pool, (n, pools), from those by days of life left."""
    ages = [[each.expires - day for each in pool if each.expires >= day] for pool in pools]
    return np.column_stack([np.zeros((len(stock), 0)), *(stock[:, columns].sum(axis=1) for columns in ages)])


def as_stock(values: Any, rows: int, ages: int) -> Array:
    """Units by series and days of life left, (n, ages); None is an empty shelf, one line serves all series."""
    if values is None:
        return np.zeros((rows, ages))
    stock = finite(to_array(values, "stock"), "stock")
    if stock.ndim == 1 and stock.shape == (ages,):
        stock = np.broadcast_to(stock, (rows, ages))
    if stock.shape != (rows, ages):
        raise ValueError(f"`stock` must be ({rows}, {ages}): units of each series by days left; got {stock.shape}.")
    complain("stock", "at least 0", stock, stock < 0)
    return stock
