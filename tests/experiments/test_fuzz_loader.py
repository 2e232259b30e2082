"""A few hundred damaged and forged files; ``python -m experiments.fuzz_loader`` tries a hundred thousand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory and alarms are Linux's")
def test_no_file_gets_through():
    """In a process of its own, whose memory is limited."""
    command = [sys.executable, "-m", "experiments.fuzz_loader", "--files", "250", "--seed", "20180710"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "250 files, 0 misses" in done.stdout and done.stdout.rstrip().endswith("passed")
