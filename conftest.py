"""Which doctests can run, and what each need not do."""

from __future__ import annotations

import linecache
from importlib.util import find_spec

import pytest

_OPTIONAL = {
    "torch": ["src/calibrant/forecasters/*.py", "src/calibrant/store/torch_*.py", "src/calibrant/engines/tensors.py"],
    "skpro": ["src/calibrant/adapters/skpro_objects.py", "src/calibrant/adapters/to_skpro.py"],
    "lightgbm": [
        "src/calibrant/regression/boosted/calibrator.py",
        "src/calibrant/classification/boosted/calibrator.py",
    ],
}
collect_ignore_glob = [path for package, files in _OPTIONAL.items() if not find_spec(package) for path in files]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A doctest asks of every file of which lines were ever shown whether it has changed: there are none then."""
    if isinstance(item, pytest.DoctestItem):
        linecache.clearcache()
