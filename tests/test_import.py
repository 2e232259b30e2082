"""``import calibrant`` stays light."""

from __future__ import annotations

import subprocess
import sys

LIST = "import {}, sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"


def loaded(module: str) -> set[str]:
    command = [sys.executable, "-c", LIST.format(module)]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_nothing_heavy():
    ours = loaded("calibrant")
    assert not ours & {"matplotlib", "torch", "polars", "typer", "ngboost"}
    assert ours & {"pandas", "pyarrow"} <= loaded("sklearn") & {"pandas", "pyarrow"}
