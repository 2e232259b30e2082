"""Which deliveries a plan has to tell apart: one for each order, and one for each age of the first stock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..._checks import Array

BEFORE = -1  # the day of orders that were made before the plan


@dataclass(frozen=True)
class Delivery:
    """When units are ordered, and the first and the last day on which they are sold."""

    ordered: int
    arrives: int
    expires: int

    def known(self, day: int) -> bool:
        """Whether it is in the state of that morning, on the shelf or on its way."""
        return self.ordered < day <= self.expires

    def there(self, day: int) -> bool:
        """Whether it exists once that day's order is made."""
        return self.ordered <= day <= self.expires


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
    Delivery(ordered=-1, arrives=0, expires=1)
    Delivery(ordered=0, arrives=1, expires=2)
    """
    ages = [k + 1 for k in range(stock.shape[1]) if stock[:, k].any()]
    first = [Delivery(BEFORE, age - shelf_life, age - 1) for age in ages]
    orders = [Delivery(day, day + lead_time, day + lead_time + shelf_life - 1) for day in order_days]
    return [*first, *(each for each in orders if each.arrives < days)]
