"""Columns that are worked out on the way: what is used several times is worked out once."""

from __future__ import annotations

from typing import Any

import narwhals as nw


class Steps:
    """Columns that are worked out on the way, and are gone at the end."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, frame.collect_schema().names()
        self.made = 0

    def keep(self, values: list[Any]) -> list[Any]:
        """Work these out, and give what stands for them."""
        names = [f"calibrant {self.made + place}" for place in range(len(values))]
        self.made += len(names)
        self.frame = self.frame.with_columns(**dict(zip(names, values, strict=True)))
        return [nw.col(name) for name in names]

    def ended(self, new: dict[str, Any]) -> Any:
        """The frame as it was, with new columns at its end."""
        return self.frame.with_columns(**new).drop(*(f"calibrant {place}" for place in range(self.made)))
