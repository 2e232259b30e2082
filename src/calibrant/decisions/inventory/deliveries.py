"""Which deliveries a plan has to tell apart: one for each order, and one for each age of the first stock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ..._checks import Array

BEFORE = -1  # the day of orders that were made before the plan


@dataclass(frozen=True)
class Delivery:
    """When units are ordered, the first and the last day on which they are sold, and the last one in the plan."""

    ordered: int
    arrives: int
    expires: int
    leaves: int

    @property
    def joins(self) -> int:
        """The morning from which on it is one with others that leave on the same day."""
        return max(self.arrives, self.ordered + 1)


Pool = tuple[Delivery, ...]
"""Deliveries that are not told apart; of exact plans a single one."""


def deliveries(stock: Array, order_days: Iterable[int], days: int, lead_time: int, shelf_life: int) -> list[Delivery]:
    """All deliveries of a plan over so many days, the oldest first.

    Parameters
    ----------
    stock : ndarray (n, shelf_life + lead_time - 1)
        Units by days of life left, 1 first; those with more than ``shelf_life`` days are on their way. Ages that no
        series has are left out.
    order_days : iterable of int
        Days of the plan, from 0, on which orders can be made; what would come too late to be sold is left out.

    >>> import numpy as np
    >>> for each in deliveries(np.array([[0.0, 7.0]]), [0, 2], days=3, lead_time=1, shelf_life=2):
    ...     print(each)
    Delivery(ordered=-1, arrives=0, expires=1, leaves=1)
    Delivery(ordered=0, arrives=1, expires=2, leaves=2)
    """
    ages = [k + 1 for k in range(stock.shape[1]) if stock[:, k].any()]
    first = [(BEFORE, age - shelf_life, age - 1) for age in ages]
    orders = [(day, day + lead_time, day + lead_time + shelf_life - 1) for day in order_days]
    return [Delivery(*each, each[-1]) for each in (*first, *orders) if each[1] < days]


def pooled(all_: Sequence[Delivery], width: int) -> list[Delivery]:
    """The same deliveries, those that expire within ``width`` days of each other leaving together, on the last day.

    What expires on the first day of the plan stays apart.
    """
    return [replace(each, leaves=-(-each.expires // width) * width) for each in all_]


def held(all_: Sequence[Delivery], day: int) -> list[Pool]:
    """What a morning's state tells apart, on the shelf or on its way, the oldest first."""
    known = [each for each in all_ if each.ordered < day <= each.leaves]
    parts = groupby(known, lambda each: (each.leaves, max(each.joins, day)))
    return [tuple(part) for _, part in parts]


def there(all_: Sequence[Delivery], day: int) -> list[Pool]:
    """What there is once that day's order is made."""
    return [*held(all_, day), *((each,) for each in all_ if each.ordered == day)]
