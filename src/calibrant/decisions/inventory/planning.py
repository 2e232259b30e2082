"""Plans of orders by dynamic programming over the days, backwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._checks import Array, complain, finite, to_array
from ...distributions.base import Distribution
from .deliveries import BEFORE, Delivery, deliveries
from .demand import grid_masses, most_sold
from .expectation import after_sales
from .grid import at, between, peak, units


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

    held: tuple[Delivery, ...]
    worth: Array


@dataclass(frozen=True, eq=False)
class Plan:
    """The best orders for each state that can come about, in each of n series; made by `PerishableInventory.policy`.

    Attributes
    ----------
    value : ndarray (n,)
        Expected profit over the days of the plan, from the stock that it began with.
    unit : ndarray (n,)
        Units of stock that the plan tells apart; 1 where it is exact.
    """

    value: Array
    unit: Array
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

    @property
    def exact(self) -> bool:
        """Whether every series was planned unit by unit."""
        return bool((self.unit == 1).all())

    def order(self, stock: Any, day: int = 0) -> Array:
        """Units to order (n,), multiples of the pack, in the morning of a day of the plan; 0 if it is no order day.

        Parameters
        ----------
        stock : array-like (n, ages)
            Units by days of life left, the oldest (1 day, today) first; past the shelf life they are on their way.
        day : int, default 0
            Days since the first of the plan.
        """
        state = as_stock(stock, len(self), self.ages)
        if not 0 <= day < self.days:
            raise ValueError(f"`day` must be one of the {self.days} days of the plan, from 0; got {day!r}.")
        choice = self.choices.get(day)
        if choice is None:
            return np.zeros(len(self))
        columns = [each.expires - day for each in choice.held]
        self._refuse_unplanned(state, columns, choice)
        worth = at(choice.worth, state[:, columns] / self.unit[:, None])
        step = np.maximum(self.pack, self.unit)
        steps = np.where(step > self.pack, peak(worth), worth.argmax(axis=1))
        return self.pack * np.round(steps * step / self.pack)

    def _refuse_unplanned(self, state: Array, columns: list[int], choice: Choice) -> None:
        most = np.zeros(state.shape)
        most[:, columns] = self.unit[:, None] * (np.array(choice.worth.shape[1:-1]) - 1)
        rule = "within what the plan can lead to"
        complain("stock", rule, state, state > most * (1 + 1e-9), "Plan again, with `stock` as it is.")


def make_plan(terms: Terms, laws: Sequence[Distribution], order_days: Sequence[int], stock: Array) -> Plan:
    """Plan the orders of n series from their stock (n, ages), by the laws of each day's demand, n rows each."""
    days = len(laws)
    all_ = deliveries(stock, order_days, days, terms.lead_time, terms.shelf_life)
    most = _most_units(terms, laws, stock, all_)
    together = [[k for k, each in enumerate(all_) if each.there(day)] for day in range(days)]
    unit = units(most, together, terms.max_states, terms.pack)
    sizes = {each: int(np.ceil(most[:, k] / unit).max(initial=0)) + 1 for k, each in enumerate(all_)}
    choices, value = _Backwards(terms, laws, all_, unit, sizes).run()
    columns = [each.expires for each in all_ if each.ordered == BEFORE]
    begun = at(value, stock[:, columns] / unit[:, None])
    return Plan(begun, unit, terms.pack, terms.ages, days, choices)


def _most_units(terms: Terms, laws: Sequence[Distribution], stock: Array, all_: list[Delivery]) -> Array:
    """Most units of each delivery, (n, deliveries).

    The last unit of an order is sold only if demand while it is on sale is as large as the order, and earns at most
    the price then: more than the bound never pays.
    """
    chance = (terms.cost - terms.salvage) / (terms.price - terms.salvage)
    orders = [each for each in all_ if each.ordered != BEFORE]
    sold = most_sold(laws, [slice(each.arrives, each.expires + 1) for each in orders], chance)
    first = stock[:, [each.expires for each in all_ if each.ordered == BEFORE]]
    return np.column_stack([first, terms.pack * np.ceil(sold / terms.pack)])


@dataclass(frozen=True, eq=False)
class _Backwards:
    """The recursion: what stock is worth in the morning, from the last day to the first."""

    terms: Terms
    laws: Sequence[Distribution]
    all_: list[Delivery]
    unit: Array
    sizes: dict[Delivery, int]

    def run(self) -> tuple[dict[int, Choice], Array]:
        """The choices of all order days, and what each first stock is worth."""
        last = [each for each in self.all_ if each.known(len(self.laws))]
        value = self._plus_units(np.zeros((len(self.unit), *(self.sizes[e] for e in last))), last, self.terms.salvage)
        choices = {}
        for day in range(len(self.laws) - 1, -1, -1):
            held = [each for each in self.all_ if each.known(day)]
            there = [each for each in self.all_ if each.there(day)]
            value = self._before_sales(value, there, day)
            if len(there) > len(held):
                value = self._with_orders(value, self.sizes[there[-1]])
                choices[day] = Choice(tuple(held), value)
                value = value.max(axis=-1)
        return choices, value

    def _before_sales(self, value: Array, there: list[Delivery], day: int) -> Array:
        """Value of the stock of a day, its order included, from that of the stock of the next morning."""
        value = value.reshape(len(value), *(1 if e.expires == day else self.sizes[e] for e in there))
        value = np.broadcast_to(value, (len(value), *(self.sizes[e] for e in there)))
        value = self._plus_units(value, [e for e in there if e.expires == day], self.terms.salvage)
        shelf = [each for each in there if each.arrives <= day]
        most = sum(self.sizes[each] - 1 for each in shelf)
        masses = grid_masses(self.laws[day], self.unit, most + 1)
        left = self._plus_units(value, shelf, -self.terms.price)
        return self._plus_units(after_sales(left, masses, len(shelf)), shelf, self.terms.price)

    def _plus_units(self, value: Array, which: list[Delivery], each_unit: float) -> Array:
        """Add an amount of money for each unit of the first deliveries."""
        for k, each in enumerate(which):
            money = each_unit * self.unit[:, None] * np.arange(self.sizes[each])
            value = value + money.reshape(len(value), *[1] * k, -1, *[1] * (value.ndim - k - 2))
        return value

    def _with_orders(self, value: Array, size: int) -> Array:
        """Value by steps ordered, packs or units of the grid if these are larger, for units of the newest delivery."""
        step = np.maximum(self.terms.pack, self.unit)[:, None]
        ordered = step * np.arange(int(((size - 1) * self.unit / step[:, 0]).max(initial=0.0)) + 1)
        weights = between(ordered / self.unit[:, None], size)
        worth = value.reshape(len(value), -1, size) @ np.swapaxes(weights, 1, 2)
        return (worth - self.terms.cost * ordered[:, None]).reshape(*value.shape[:-1], -1)


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
