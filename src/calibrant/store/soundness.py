"""Asking every part of a calibrator that came from a file whether it can be what was learned."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..numerics.soundness import check_numbers


def check_parts(item: Any) -> None:
    """Raise ValueError if a part, or a part of a part, is not sound by its own rule; plain data have no NaN."""
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, (list, tuple)):
        for part in item:
            check_parts(part)
        return
    for part in getattr(item, "__dict__", {}).values():
        check_parts(part)
    if hasattr(item, "__sklearn_is_fitted__") and not item.__sklearn_is_fitted__():
        return  # a parameter of another
    if hasattr(item, "_check_sound"):
        item._check_sound()
    elif dataclasses.is_dataclass(item):
        check_numbers(item)
