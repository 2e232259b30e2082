"""Errors that name arguments: as Python writes them, or as whoever tells of the error writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from string import Formatter
from typing import Any

Spelling = Callable[[str, str], str]  # of an argument's name and an example of its value, which may be empty
_LISTS = ("quantile", "probability", "group", "feature")


@dataclass(frozen=True)
class Role:
    """An argument, and an example of its value."""

    name: str
    example: str = ""


class SpelledError(Exception):
    """An error whose text has fields: ``{table}`` is a value, a name that has none is an argument.

    What follows the colon is an example: ``{target}``, ``{quantile:0.1=q10}``, ``{overwrite:True}``.

    Examples
    --------
    >>> error = RoleError("`{name}` is of no level. Say {quantile:0.1={name}} or {target}.", name="low")
    >>> str(error)
    "`low` is of no level. Say quantile=['0.1=low'] or target=."
    >>> error.spelled(lambda name, example: f"/{name} {example}".strip())
    '`low` is of no level. Say /quantile 0.1=low or /target.'
    """

    def __init__(self, text: str, **values: Any) -> None:
        super().__init__(text)
        self.values = values

    def spelled(self, spelling: Spelling) -> str:
        """The text with arguments spelled so."""
        return _Speller(spelling).vformat(str(self.args[0]), (), self.values)

    def __str__(self) -> str:
        return self.spelled(in_python)


class RoleError(SpelledError, ValueError):
    """What was said of columns is wrong, or not enough."""


class InputError(SpelledError, FileExistsError):
    """An output would be written over an input, or over what is no output."""


def in_python(name: str, example: str) -> str:
    """An argument as Python writes it.

    >>> in_python("mean", ""), in_python("point", "yhat"), in_python("overwrite", "True"), in_python("group", "'shop'")
    ('mean=', "point='yhat'", 'overwrite=True', "group=['shop']")
    """
    value = example if example in ("", "True") or example[0] in "'\"" else repr(example)
    return f"{name}=[{value}]" if name in _LISTS and value else f"{name}={value}"


class _Speller(Formatter):
    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling

    def get_value(self, key: Any, args: Any, kwargs: Any) -> Any:
        return kwargs.get(key, Role(str(key)))

    def format_field(self, value: Any, format_spec: str) -> Any:
        if isinstance(value, Role):
            return self.spelling(value.name, format_spec or value.example)
        return super().format_field(value, format_spec)
