"""Which doctests can run."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/calibrant/forecasters/*.py"]  # torch is optional
