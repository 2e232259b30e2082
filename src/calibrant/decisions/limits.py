"""Ship, hold or rework: actions by the probability that an outcome is within limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .._checks import Array, by_row, complain, finite, probability, to_array
from .._types import Numbers
from ..adapters import as_distribution


def limit_probabilities(dist: Any, low: Numbers | None = None, high: Numbers | None = None) -> Array:
    r"""Probabilities that an outcome is too low, within its limits, and too high.

    .. math:: P(Y < l), \quad P(l \le Y \le u), \quad P(Y > u)

    Parameters
    ----------
    dist : Distribution, or what `as_distribution` reads
    low, high : float or array-like (n,), optional
        Limits, both allowed values themselves; None where there is none.

    Returns
    -------
    array (n, 3)

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.decisions import limit_probabilities
    >>> limit_probabilities(Normal([10.0, 12.0], 1.0), 9.0, 11.0).round(3)
    array([[0.159, 0.683, 0.159],
           [0.001, 0.157, 0.841]])
    """
    law = as_distribution(dist)
    if low is None and high is None:
        raise ValueError("`low` or `high` must be given: there is no limit to keep.")
    lower = by_row(-np.inf if low is None else low, "low", len(law))
    upper = by_row(np.inf if high is None else high, "high", len(law))
    complain("low", "at most `high`", lower, lower > upper, "Arguments in the wrong order?")
    below = np.zeros(len(law)) if low is None else ndtr(law.to_normal(lower, "left"))
    above = np.zeros(len(law)) if high is None else law.sf(upper)
    return np.column_stack([below, np.maximum(1.0 - below - above, 0.0), above])


def ship_or_hold(
    dist: Any,
    low: Numbers | None = None,
    high: Numbers | None = None,
    *,
    confidence: float = 0.9,
    below: str = "rework",
    inside: str = "ship",
    above: str = "rework",
    unsure: str = "hold",
) -> NDArray[Any]:
    r"""An action a row: the one that is right with enough probability, else to hold and look closer.

    An action is right with the sum of the probabilities of the places that call for it. Where forecasts
    are right, of all that is shipped a share of at least ``confidence`` is within its limits, in the long run.

    Parameters
    ----------
    dist : Distribution, or what `as_distribution` reads
        What will be measured: thickness, strength, days until delivery.
    low, high : float or array-like (n,), optional
        Limits, both allowed values themselves; None where there is none.
    confidence : float, default 0.9
        Least probability to act upon.
    below, inside, above : str
        The right action for an outcome that is too low, within the limits, too high; two may be the same.
    unsure : str, default "hold"
        What to do where no action is right with that probability.

    Returns
    -------
    array of str (n,)

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.decisions import ship_or_hold
    >>> thickness = Normal([10.0, 10.8, 13.0, 10.0], [0.4, 0.4, 0.4, 5.0])
    >>> ship_or_hold(thickness, 9.0, 11.0)
    array(['ship', 'hold', 'rework', 'hold'], dtype='<U6')
    >>> ship_or_hold(thickness, 9.0, 11.0, below="scrap", confidence=0.6)
    array(['ship', 'ship', 'rework', 'hold'], dtype='<U6')
    """
    least = probability(confidence, "confidence")
    chances = limit_probabilities(dist, low, high)
    called = (below, inside, above)
    actions = list(dict.fromkeys(called))
    right = np.column_stack([chances[:, [act == each for each in called]].sum(axis=1) for act in actions])
    return np.asarray(np.where(right.max(axis=1) >= least, np.array(actions)[right.argmax(axis=1)], unsure))


def cheapest_action(
    dist: Any, low: Numbers | None = None, high: Numbers | None = None, *, costs: Mapping[str, Any]
) -> NDArray[Any]:
    r"""The action of least expected cost, of any number of actions.

    .. math:: \arg\min_a\; P(Y < l)\,C_{a1} + P(l \le Y \le u)\,C_{a2} + P(Y > u)\,C_{a3}

    `bayes_decisions` is the same for classes.

    Parameters
    ----------
    dist, low, high
        As in :func:`ship_or_hold`.
    costs : dict of action to three numbers
        Its cost where the outcome is too low, within the limits, too high; gains are negative.

    Returns
    -------
    array of str (n,)
        The first of equally cheap ones.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.decisions import cheapest_action
    >>> costs = {"ship": (90, 0, 40), "measure": (5, 5, 5), "rework": (60, 10, 8)}
    >>> cheapest_action(Normal([10.0, 10.8, 13.0], 0.4), 9.0, 11.0, costs=costs)
    array(['ship', 'measure', 'measure'], dtype='<U7')
    """
    if not hasattr(costs, "values"):
        raise TypeError("`costs` must be a dict of actions, each with its cost below, within and above the limits.")
    table = finite(to_array(list(costs.values()), "costs"), "costs")
    if not len(costs) or table.shape != (len(costs), 3):
        raise ValueError("`costs` must have three numbers an action: below, within and above the limits.")
    expected = limit_probabilities(dist, low, high) @ table.T
    return np.asarray(np.array(list(costs))[np.argmin(expected, axis=1)])
