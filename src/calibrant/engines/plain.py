"""Results as JSON holds them."""

from __future__ import annotations

import json
import math
from typing import Any


def as_json(content: Any) -> str:
    """Text of JSON; numbers that are not finite are null."""
    return json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False)


def plain(content: Any) -> Any:
    """As JSON holds it: numbers that are not finite are null.

    >>> plain({"a": (1.0, float("inf"))})
    {'a': [1.0, None]}
    """
    if isinstance(content, dict):
        return {str(key): plain(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [plain(value) for value in content]
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if content is None or isinstance(content, (str, int)):
        return content
    return plain(content.item()) if hasattr(content, "item") else str(content)
