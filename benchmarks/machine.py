"""On what was measured, in neutral words."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]


def machine(packages: Iterable[str]) -> dict[str, object]:
    """Cores, load, Python, versions and the commit, with a plus where files differ from it."""
    found = {name: _version(name) for name in ("numpy", "scipy", "numba", "torch", "lightgbm", *packages)}
    return {
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "commit": commit(),
        "versions": {name: number for name, number in found.items() if number is not None},
    }


def commit() -> str:
    """Short, with a plus where tracked files of the package or the benchmarks differ from it."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        changed = _git(
            "status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks/*.py", "benchmarks/peers"
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")


def _git(*arguments: str) -> str:
    run = subprocess.run(["git", *arguments], cwd=HERE, check=True, capture_output=True, text=True)
    return run.stdout.strip()


def _version(name: str) -> str | None:
    if name == "calibrant":
        from calibrant import __version__

        return __version__
    try:
        return version(name)
    except PackageNotFoundError:
        return None
