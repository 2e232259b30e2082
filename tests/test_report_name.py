"""`calibrant.report` is a function to those who call it, and a room to those who import from it."""

from __future__ import annotations

import inspect

import calibrant


def test_the_room_can_be_called_whoever_loaded_it_first() -> None:
    from calibrant import report
    from calibrant.report import render, write

    assert callable(report) and report is calibrant.report and callable(render) and callable(write)
    assert list(inspect.signature(calibrant.report).parameters)[:3] == ["forecasts", "y", "path"]
    assert "report" in calibrant.__all__
