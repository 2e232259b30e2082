"""The way of one row through `calibrant fit`."""

from __future__ import annotations

from benchmarks.walk import walk


def test_few_rooms_are_entered() -> None:
    found = walk()
    assert len(found) <= 41, "\n".join(map(str, found))
