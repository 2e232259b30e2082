"""``import calibrant`` stays light; looked at in one fresh process, step by step."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import calibrant

ROOMS = ("classification", "metrics", "select", "forecasters", "store", "adapters", "displays")
PROGRAM = f"""
import json, sys
def loaded():
    return sorted({{name.partition('.')[0] for name in sys.modules}})
told = {{}}
import calibrant
told["calibrant"] = loaded()
import sklearn
told["and sklearn"] = loaded()
assert {{*calibrant.__all__}} <= {{*dir(calibrant)}}
told["asked for"] = [str(calibrant.Normal), str(calibrant.metrics.crps)]
import {", ".join(f"calibrant.{room}" for room in ROOMS)}
told["and rooms"] = loaded()
assert 'calibrant.report' not in sys.modules
import numpy as np
mu, e = np.random.default_rng(0).normal(size=(2, 60))
found = calibrant.report(calibrant.Normal(mu, 1.0), mu + e, candidates='quick')
told["report"] = [found.chosen, 'matplotlib' in sys.modules]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told() -> Any:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_import_loads_nothing_heavy(told):
    ours = set(told["and rooms"])
    assert not ours & {"matplotlib", "torch", "polars", "typer", "ngboost", "lightgbm"}
    assert not ours & {"skpro", "arviz", "xarray", "catboost"}
    assert ours & {"pandas", "pyarrow"} <= set(told["and sklearn"])


def test_a_room_is_loaded_when_it_is_asked_for(told):
    assert not set(told["calibrant"]) & {"numpy", "scipy", "sklearn", "pandas", "pyarrow"}
    normal, crps = told["asked for"]
    assert normal.startswith("<class 'calibrant.distributions.") and "<function crps" in crps
    with pytest.raises(AttributeError, match="module 'calibrant' has no attribute 'Norm'"):
        calibrant.Norm  # noqa: B018


def test_nothing_is_drawn_where_no_page_is_written(told):
    assert told["report"] == ["none", False]
