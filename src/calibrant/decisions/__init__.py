"""From forecasts to actions: how much to order, what to ship, which class costs least.

:func:`newsvendor` and :func:`expected_profit` of what sells once; :class:`PerishableInventory` of what spoils after
some days. :func:`ship_or_hold`, :func:`cheapest_action` and :func:`limit_probabilities` of what must be within limits.
:func:`bayes_decisions` of classes. All take what `as_distribution` reads, calibrated or not.
"""

from ..classification import bayes_decisions
from .inventory.ledger import Ledger
from .inventory.planning import Plan
from .inventory.shop import PerishableInventory, RollingPlan
from .limits import cheapest_action, limit_probabilities, ship_or_hold
from .newsvendor import expected_profit, newsvendor

__all__ = [
    "Ledger",
    "PerishableInventory",
    "Plan",
    "RollingPlan",
    "bayes_decisions",
    "cheapest_action",
    "expected_profit",
    "limit_probabilities",
    "newsvendor",
    "ship_or_hold",
]
