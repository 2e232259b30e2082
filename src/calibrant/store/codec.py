"""Calibrators as trees of plain values with the arrays apart, and back."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from functools import cache
from types import CodeType, NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .registry import is_tuple_class, known_classes, names_by_class

Tree = Any  # what JSON can hold
DEEPEST = 40
_KINDS = "biufU"  # of arrays that are stored


class Encoder:
    """Takes objects apart; ``arrays`` collects what does not belong in a text."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []

    def __call__(self, item: Any) -> Tree:
        """The tree of an object."""
        if item is None or isinstance(item, (bool, str)):
            return item
        if isinstance(item, np.generic) and item.dtype.kind in _KINDS:
            return {"scalar": self._array(np.asarray(item))}
        if isinstance(item, int):
            return item
        if isinstance(item, float):
            return item if np.isfinite(item) else {"float": repr(item)}
        if isinstance(item, datetime.date):
            return _of_date(item)
        if isinstance(item, np.ndarray):
            return self._of_array(item)
        if isinstance(item, dict):
            return {"dict": [[self(key), self(value)] for key, value in item.items()]}
        if isinstance(item, (list, tuple)) and type(item) in (list, tuple):
            return {type(item).__name__: [self(value) for value in item]}
        return self._of_class(item)

    def _of_array(self, array: NDArray[Any]) -> Tree:
        if array.dtype.kind in _KINDS:
            return {"array": self._array(array)}
        if array.dtype.kind == "O" and array.ndim == 1:
            return {"objects": [self(value) for value in array.tolist()]}
        raise TypeError(f"an array of {array.dtype} cannot be saved.")

    def _array(self, array: NDArray[Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _of_class(self, item: Any) -> Tree:
        kind: Any = type(item)
        name = names_by_class().get(kind)
        if name is None:
            raise TypeError(
                f"a {kind.__module__}.{kind.__qualname__} cannot be saved: only calibrators of this library and their "
                "parts can. Functions and models of your own? Save what they compute."
            )
        if is_tuple_class(kind):
            state = item._asdict()
        elif dataclasses.is_dataclass(item):
            state = {field.name: getattr(item, field.name) for field in dataclasses.fields(item) if field.init}
        else:
            state = item._kept() if hasattr(item, "_kept") and not _is_plain(item) else vars(item)
        return {"class": name, "state": {field: self._field(kind, field, value) for field, value in state.items()}}

    def _field(self, kind: type, name: str, value: Any) -> Tree:
        try:
            return self(value)
        except TypeError as reason:
            raise TypeError(f"{kind.__name__}.{name}: {reason}") from None


def _is_plain(item: Any) -> bool:
    """Whether all parameters of an estimator are texts and numbers, which keep themselves."""
    return all(isinstance(value, (str, int, float, NoneType)) for value in item.get_params(deep=False).values())


class Decoder:
    """Puts objects together from trees and arrays that may come from anywhere; every array is used once at most.

    Files of earlier versions lack parameters that were added since: a class names these in ``_later``, with what their
    absence means.
    """

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self._used: set[int] = set()

    def __call__(self, tree: Tree, depth: int = 0) -> Any:
        """The object of a tree."""
        if depth > DEEPEST:
            raise ValueError(f"parts lie deeper than {DEEPEST} in one another.")
        if tree is None or isinstance(tree, (bool, str, int, float)):
            return tree
        if not isinstance(tree, dict):
            raise ValueError(f"a part must be a number, a text or an object; got {type(tree).__name__}.")
        if "class" in tree:
            return self._of_class(tree, depth)
        if len(tree) != 1:
            raise ValueError(f"a part must have one key; got {sorted(tree)[:5]!r}.")
        [(kind, content)] = tree.items()
        return self._of_kind(kind, content, depth)

    def _of_kind(self, kind: str, content: Any, depth: int) -> Any:
        if kind in ("array", "scalar"):
            return self._array(content)[()] if kind == "scalar" else self._array(content)
        if kind == "float":
            return {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}[content]
        if kind in ("date", "datetime"):
            return getattr(datetime, kind).fromisoformat(content)
        if kind == "dict":
            return {self(key, depth + 1): self(value, depth + 1) for key, value in content}
        values = [self(value, depth + 1) for value in content]
        if kind == "objects":
            out = np.empty(len(values), dtype=object)
            out[:] = values
            return out
        return {"list": list, "tuple": tuple}[kind](values)

    def _array(self, place: Any) -> NDArray[Any]:
        if type(place) is not int or not 0 <= place < len(self.arrays):
            raise ValueError(f"array {place!r:.60} is not there.")
        if place in self._used:
            raise ValueError(f"array {place} is used twice.")
        self._used.add(place)
        return self.arrays[place]

    def _of_class(self, tree: dict[str, Any], depth: int) -> Any:
        kind: Any = known_classes().get(tree["class"]) if isinstance(tree["class"], str) else None
        state = tree.get("state")
        if kind is None or not isinstance(state, dict):
            raise ValueError(f"{str(tree['class'])[:60]!r} is no part of a calibrator in this version of the library.")
        if tree.keys() != {"class", "state"}:
            raise ValueError(f"a part must have a class and a state; got {sorted(tree)[:5]!r}.")
        renamed: dict[str, str] = getattr(kind, "_renamed", {})
        values = {renamed.get(str(name), str(name)): self(value, depth + 1) for name, value in state.items()}
        if dataclasses.is_dataclass(kind) or is_tuple_class(kind):
            return kind(**values)
        made: Any = object.__new__(kind)
        values = {**getattr(kind, "_later", {}), **values}
        _check_names(kind, list(values))
        vars(made).update(values)
        return made


def _check_names(kind: Any, names: list[str]) -> None:
    """A calibrator has all its parameters, and else what it learns: nothing that its class has, such as a method."""
    parameters = kind._get_param_names()
    lacking = [name for name in parameters if name not in names]
    if lacking:
        raise ValueError(f"{kind.__name__} needs {', '.join(lacking)}.")
    for name in names:
        if name not in parameters and (name not in _learned_names(kind) or hasattr(kind, name)):
            raise ValueError(f"{kind.__name__} has no {name[:60]!r}.")


@cache
def _learned_names(kind: type) -> frozenset[str]:
    """Names with an underscore at one end that the methods of a class, or of one that it extends, speak of."""
    codes = [code for base in kind.__mro__ for item in vars(base).values() for code in _codes_of(item)]
    names = {name for code in codes for name in code.co_names}
    return frozenset(name for name in names if name.startswith("_") != name.endswith("_"))


def _codes_of(item: Any) -> Iterator[CodeType]:
    """The code of a function, of a method or property around one, and of functions inside."""
    for inner in (item, *(getattr(item, name, None) for name in ("__func__", "fget", "func"))):
        yield from _with_inner(getattr(inner, "__code__", None))


def _with_inner(code: Any) -> Iterator[CodeType]:
    if isinstance(code, CodeType):
        yield code
        for constant in code.co_consts:
            yield from _with_inner(constant)


def _of_date(item: datetime.date) -> Tree:
    kind = "datetime" if isinstance(item, datetime.datetime) else "date"
    text = item.isoformat()
    if getattr(datetime, kind).fromisoformat(text) != item:
        raise TypeError(f"the time {text} is too fine to be saved.")
    return {kind: text}
