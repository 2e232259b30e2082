"""How much to order of what sells once: the newsvendor's quantity, and the profit that a quantity promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import Array, by_row, complain, finite, positive
from .._types import Numbers
from ..adapters import as_distribution
from ..distributions import Censored
from ..distributions.base import Distribution


def newsvendor(dist: Any, *, price: Numbers, cost: Numbers, salvage: Numbers = 0.0, pack: Numbers | None = 1) -> Array:
    r"""Order quantities of greatest expected profit, where what is not sold is worth its salvage only.

    .. math:: q^* = F^{-1}(\kappa), \quad \kappa = \frac{p - c}{p - v}

    is the best of all quantities: one unit more sells with probability :math:`1 - F(q)` and pays while
    :math:`(p - v)(1 - F(q)) > c - v`. Expected profit is concave in q, so that the best multiple of a pack is one of
    the two around :math:`q^*`: the upper one if its last pack pays,

    .. math:: (p - v) \int_q^{q+k} (1 - F(t))\,dt > (c - v)\,k

    Exact for laws with atoms too (counts, members of an ensemble). Of equally good quantities the smallest.

    Parameters
    ----------
    dist : Distribution, or what `as_distribution` reads
        Demand, one law a row; what lies below 0 counts as no demand.
    price, cost, salvage : float or array-like (n,)
        Of one unit: what a sale brings, what an order costs, and what is left of it if it is not sold; negative where
        throwing it away costs. The salvage must be below both others. Nothing is ordered where cost exceeds price.
    pack : float or array-like (n,), or None, default 1
        Only multiples of it can be ordered; None for any quantity, of milk or sand.

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> from calibrant import Normal, Poisson
    >>> from calibrant.decisions import newsvendor
    >>> newsvendor(Normal([100.0, 100.0], [10.0, 40.0]), price=5.0, cost=1.0)
    array([108., 134.])
    >>> newsvendor(Poisson([20.0]), price=[1.99], cost=1.29, pack=12)
    array([12.])
    """
    law = as_distribution(dist)
    terms = Terms.of(len(law), price, cost, salvage)
    ratio = (terms.price - terms.cost) / (terms.price - terms.salvage)
    best = np.where(ratio > 0, np.maximum(law.ppf(np.maximum(ratio, 0.0)), 0.0), 0.0)
    if pack is None:
        return best
    step = positive(by_row(pack, "pack", len(law)), "pack")
    low, high = step * np.floor(best / step), step * np.ceil(best / step)
    pays = terms.profit(high, expected_sales(law, high)) > terms.profit(low, expected_sales(law, low))
    return np.where(pays, high, low)


def expected_profit(dist: Any, quantity: Numbers, *, price: Numbers, cost: Numbers, salvage: Numbers = 0.0) -> Array:
    r"""Profit that an ordered quantity promises.

    .. math:: p\,E\min(q, D) - c\,q + v\,(q - E\min(q, D)), \quad E\min(q, D) = \int_0^q (1 - F(t))\,dt

    Closed forms for normal, logistic and t laws, sums for counts, quadrature to rounding for others.

    Parameters
    ----------
    dist, price, cost, salvage
        As in :func:`newsvendor`.
    quantity : float or array-like (n,)

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> from calibrant import Ensemble
    >>> from calibrant.decisions import expected_profit
    >>> demand = Ensemble([[1.0, 2.0, 6.0]], kind="discrete")
    >>> expected_profit(demand, 4.0, price=3.0, cost=1.0)  # sells 1, 2 or 4
    array([3.])
    """
    law = as_distribution(dist)
    ordered = finite(by_row(quantity, "quantity", len(law)), "quantity")
    complain("quantity", "at least 0", ordered, ordered < 0)
    return Terms.of(len(law), price, cost, salvage).profit(ordered, expected_sales(law, ordered))


def expected_sales(law: Distribution, quantity: Array) -> Array:
    """E min(q, D) of each row: the mean of demand that is never below 0 and ends with the stock."""
    return Censored(law, 0.0, quantity).mean()


@dataclass(frozen=True, eq=False)
class Terms:
    """Price, cost and salvage of one unit, (n,) each."""

    price: Array
    cost: Array
    salvage: Array

    @classmethod
    def of(cls, rows: int, price: Any, cost: Any, salvage: Any) -> Terms:
        """Check that salvage is below price and cost: else there is no end to ordering."""
        given = {"price": price, "cost": cost, "salvage": salvage}
        terms = cls(*(finite(by_row(value, name, rows), name) for name, value in given.items()))
        hint = "Else the more is ordered the better."
        complain("salvage", "below `cost`", terms.salvage, terms.salvage >= terms.cost, hint)
        complain("salvage", "below `price`", terms.salvage, terms.salvage >= terms.price)
        return terms

    def profit(self, ordered: Array, sold: Array) -> Array:
        """What is earned with so many units ordered and sold."""
        return (self.price - self.salvage) * sold - (self.cost - self.salvage) * ordered
