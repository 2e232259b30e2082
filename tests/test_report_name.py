"""`calibrant.report` is a function to those who call it, and a room to those who import from it."""

from __future__ import annotations

import inspect
import subprocess
import sys

import calibrant


def test_the_room_can_be_called_whoever_loaded_it_first() -> None:
    from calibrant import report
    from calibrant.report import render, write

    assert callable(report) and report is calibrant.report and callable(render) and callable(write)
    assert list(inspect.signature(calibrant.report).parameters)[:3] == ["forecasts", "y", "path"]
    assert "report" in calibrant.__all__


def test_nothing_is_drawn_where_no_page_is_written() -> None:
    code = (
        "import sys, numpy as np, calibrant; assert 'calibrant.report' not in sys.modules\n"
        "mu, e = np.random.default_rng(0).normal(size=(2, 60))\n"
        "found = calibrant.report(calibrant.Normal(mu, 1.0), mu + e, candidates='quick')\n"
        "print(found.chosen, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["none", "False"]
