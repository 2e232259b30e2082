"""Which classes a file may speak of: calibrators and their parts, by name; nothing else is ever made."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from functools import cache
from typing import Any

from sklearn.base import BaseEstimator, MetaEstimatorMixin

ROOMS = (
    "numerics", "maps", "links", "distributions.families", "summaries", "calibration", "regression", "classification",
    "select", "forecasters", "series", "monitor",
)  # fmt: skip
_PACKAGE = __name__.split(".")[0]


@cache
def known_classes() -> dict[str, type]:
    """Calibrators, dataclasses and named tuples of the rooms, by room and name."""
    found: dict[str, type] = {}
    for room in ROOMS:
        package = importlib.import_module(f"{_PACKAGE}.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            holder = importlib.import_module(module.name)
            mine = [item for item in vars(holder).values() if isinstance(item, type) and _is_part(item)]
            found |= {f"{room}.{item.__name__}": item for item in mine if item.__module__ == holder.__name__}
    return found


@cache
def names_by_class() -> dict[type, str]:
    """The same the other way round."""
    return {item: name for name, item in known_classes().items()}


def is_tuple_class(item: type) -> bool:
    """Whether a class is a named tuple."""
    return issubclass(item, tuple) and hasattr(item, "_fields")


def _is_part(item: Any) -> bool:
    if issubclass(item, MetaEstimatorMixin):  # has a foreign model inside
        return False
    return issubclass(item, BaseEstimator) or dataclasses.is_dataclass(item) or is_tuple_class(item)
