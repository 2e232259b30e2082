"""Fields that are worked out when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)


class Pending:
    """A call that is made once, when its value is asked for; who shares it shares the value."""

    def __init__(self, make: Callable[..., Any], *given: Any, **options: Any) -> None:
        self._make = partial(make, *given, **options)

    @cached_property
    def value(self) -> Any:
        """What the call returns."""
        return self._make()

    def entry(self, place: int) -> Any:
        """One of several things that the call returns together."""
        return Pending(_entry, self, place)


def _entry(pending: Pending, place: int) -> Any:
    return pending.value[place]


def later(name: str) -> Callable[[Kind], Kind]:
    """A field of a dataclass may be given as `Pending`: asked for, it is the value of that.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @later("value")
    ... @dataclass(frozen=True)
    ... class Total:
    ...     value: int
    >>> total = Total(Pending(sum, [1, 2]))
    >>> total.value, vars(total)
    (3, {'value': 3})
    """

    def changed(kind: Kind) -> Kind:
        setattr(kind, name, _Later(name))
        return kind

    return changed


class _Later:
    """The field of a name, in the object's own dict."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            raise AttributeError(self.name)
        found = vars(owner)[self.name]
        if isinstance(found, Pending):
            found = vars(owner)[self.name] = found.value
        return found

    def __set__(self, owner: Any, value: Any) -> None:
        vars(owner)[self.name] = value
