"""A map, a law and a calibrator by the recipes of CONTRIBUTING: three files each and a line of the changelog."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import calibrant
from calibrant import distributions as d
from calibrant.maps import AffineMap
from tests.common.examples import ROWS, example_of, unlisted_calibrators

ROOT = Path(__file__).parents[2]
IMPORTS = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from calibrant._checks import Array
"""
NEW = {  # class: room, file below it, further imports
    "ShiftMap": ("maps", "shift", "from calibrant.maps.base import Map, Side"),
    "JohnsonSU": (
        "distributions",
        "families/johnson",
        "from calibrant.distributions.location_scale import LocationScale",
    ),
    "ShiftCalibrator": (
        "regression",
        "shift",
        "from calibrant.calibration import RegressionCalibrator, normal_scores\n"
        "from calibrant.distributions import Distribution, Recalibrated\n"
        "from calibrant.maps import ShiftMap",
    ),
}
OWN_TEST = """
import numpy as np
from calibrant import JohnsonSU, Normal, ShiftCalibrator, load, save

def test_is_saved_and_loaded(tmp_path):
    law, y = JohnsonSU([0.0, 1.0, 5.0], 2.0), np.array([3.0, 2.0, 9.0])
    calibrator = ShiftCalibrator().fit(law, y)
    assert calibrator.map_.shift < 0
    save(calibrator, tmp_path / "shift.calibrant")
    again = load(tmp_path / "shift.calibrant").transform(law)
    assert type(again.map).__name__ == "ShiftMap"
    np.testing.assert_array_equal(again.crps(y), calibrator.transform(law).crps(y))
"""
COMMON = "(JohnsonSU and ShiftMap) or (test_maps and ShiftMap) or ShiftCalibrator or example or is_here or saved"


def recipes() -> dict[str, str]:
    """The classes that CONTRIBUTING shows, by name."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    return {re.search(r"^class (\w+)", block, re.MULTILINE)[1]: block for block in blocks}


def add(room: Path, name: str, file: str, text: str) -> None:
    """A class in a file of its own, shown by its room."""
    (room / f"{file}.py").write_text(text, encoding="utf-8")
    lines = (room / "__init__.py").read_text(encoding="utf-8")
    shown = f"from .{file.replace('/', '.')} import {name}\n"
    lines = lines.replace("\n\n__all__ = [", f"\n{shown}\n__all__ = [\n    {name!r},", 1)
    (room / "__init__.py").write_text(lines, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The repository with the new classes, in a temporary folder."""
    folder = tmp_path_factory.mktemp("extended")
    bare = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=bare)
    shutil.copytree(ROOT / "tests" / "common", folder / "tests" / "common", ignore=bare)
    for name in ("pyproject.toml", "tests/conftest.py"):
        shutil.copy(ROOT / name, folder / name)
    for name, (room, file, imports) in NEW.items():
        add(folder / "src" / "calibrant" / room, name, file, f"{IMPORTS}{imports}\n\n{recipes()[name]}")
    (folder / "tests" / "regression").mkdir()
    (folder / "tests" / "regression" / "test_shift.py").write_text(OWN_TEST, encoding="utf-8")
    return folder


def test_the_common_tests_find_what_is_new_and_it_passes(copy):
    files = ["regression/test_shift.py", *(f"common/test_{name}.py" for name in ("maps", "laws", "calibrators"))]
    options = ["-n0", "-p", "no:cacheprovider", "--basetemp", "tmp", "-rA", "-k", COMMON]
    command = [sys.executable, "-m", "pytest", *options, *(f"tests/{file}" for file in files)]
    run = subprocess.run(
        command, cwd=copy, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": f"{copy}/src:{copy}"}
    )
    assert run.returncode == 0, run.stdout[-4000:]
    passed = re.findall(r"^PASSED (\S+.*)$", run.stdout, re.MULTILINE)
    for new, fewest in {"[JohnsonSU x ShiftMap]": 6, "test_maps.py": 3, "ShiftCalibrator]": 15, "saved": 1}.items():
        assert sum(new in line for line in passed) >= fewest, new


@dataclass(frozen=True, eq=False, repr=False)
class Odd(d.Normal):
    """A law with a field that tells nothing."""

    kind: str = "odd"


@dataclass(frozen=True, eq=False)
class Showing(AffineMap):
    """A map that shows its own example."""

    kind: Any = "odd"

    @classmethod
    def _example(cls, rng: np.random.Generator, rows: int) -> Showing:
        return cls(rng.normal(size=rows), 1.0)


class Needing:
    """A calibrator that cannot be made without arguments."""

    inner: ClassVar[None] = None

    def __init__(self, inner: Any) -> None:
        self.inner = inner


def test_a_class_without_an_example_fails_clearly(rng, monkeypatch):
    with pytest.raises(AssertionError, match=r"Odd shows no example.*'kind' \(str\).*`_example\(rng, rows\)`"):
        example_of(Odd, rng)
    assert example_of(Showing, rng).rows == ROWS
    monkeypatch.setattr(calibrant, "Needing", Needing, raising=False)
    monkeypatch.setattr(calibrant, "__all__", [*calibrant.__all__, "Needing"])
    with pytest.raises(AssertionError, match=r"Needing shows no example.*'inner'.*`_example\(\)`"):
        unlisted_calibrators(Needing, {})
