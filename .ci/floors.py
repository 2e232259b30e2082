"""Print the oldest versions that pyproject.toml declares, pinned, for pip: `python .ci/floors.py app numpy pytest`.

Arguments are extras, all of whose packages are printed with the core's, and packages of the extra `test`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

_FLOOR = re.compile(r"([A-Za-z0-9._-]+)(?:\[.*\])?>=([0-9.]+)")


def floors(asked: list[str]) -> list[str]:
    """Packages pinned to their oldest declared version."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in asked if name in extras for line in extras[name])]
    found = {name: version for line in lines for name, version in _FLOOR.findall(line)}
    found |= {name: version for line in extras["test"] for name, version in _FLOOR.findall(line) if name in asked}
    return [f"{name}=={version}" for name, version in found.items()]


if __name__ == "__main__":
    print("\n".join(floors(sys.argv[1:])))
