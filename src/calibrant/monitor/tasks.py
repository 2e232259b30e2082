"""Which bets there are against which forecasts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .._checks import one_of
from .bets import Bets
from .event_bets import EventBets, TopBets
from .law_bets import LawBets

BETS: dict[str, type[Bets]] = {"laws": LawBets, "events": EventBets, "tops": TopBets}


@lru_cache(32)
def bets_for(task: str, kinds: tuple[str, ...], tolerance: float) -> Bets:
    """The bets of a task, of some kinds."""
    return BETS[task](kinds, tolerance)


def checked_kinds(kinds: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    """Those that were asked for, in the usual order.

    >>> checked_kinds(["width", "bias"], ("bias", "width", "tails"))
    ('bias', 'width')
    """
    if kinds is None:
        return known
    asked = [kinds] if isinstance(kinds, str) else list(kinds)
    for kind in asked:
        one_of(kind, "kinds", known)
    if not asked:
        raise ValueError("`kinds` must name at least one kind of fault; it is empty.")
    return tuple(kind for kind in known if kind in asked)
