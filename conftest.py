"""Which doctests can run."""

from __future__ import annotations

from importlib.util import find_spec

_OPTIONAL = {
    "torch": ["src/calibrant/forecasters/*.py", "src/calibrant/store/torch_*.py", "src/calibrant/engines/tensors.py"],
    "skpro": ["src/calibrant/adapters/skpro_objects.py", "src/calibrant/adapters/to_skpro.py"],
    "lightgbm": [
        "src/calibrant/regression/boosted/calibrator.py",
        "src/calibrant/classification/boosted/calibrator.py",
    ],
}
collect_ignore_glob = [path for package, files in _OPTIONAL.items() if not find_spec(package) for path in files]
