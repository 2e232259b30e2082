"""``import calibrant`` stays light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import calibrant

LIST = "import {}, sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"


def loaded(module: str) -> set[str]:
    command = [sys.executable, "-c", LIST.format(module)]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_nothing_heavy():
    rooms = ("classification", "metrics", "select", "forecasters", "store", "adapters", "displays")
    ours = loaded(", ".join(f"calibrant.{room}" for room in rooms))
    assert not ours & {"matplotlib", "torch", "polars", "typer", "ngboost", "lightgbm"}
    assert not ours & {"skpro", "arviz", "xarray", "catboost"}
    tables = ours & {"pandas", "pyarrow"}
    assert not tables or tables <= loaded("sklearn")


def test_a_room_is_loaded_when_it_is_asked_for():
    assert not loaded("calibrant") & {"numpy", "scipy", "sklearn"}
    code = "import calibrant as c; assert {*c.__all__} <= {*dir(c)}; print(c.Normal, c.metrics.crps)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.startswith("<class 'calibrant.distributions.") and "<function crps" in told
    with pytest.raises(AttributeError, match="module 'calibrant' has no attribute 'Norm'"):
        calibrant.Norm  # noqa: B018
