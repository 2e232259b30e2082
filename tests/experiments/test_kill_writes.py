"""A few runs killed; ``python -m experiments.kill_writes`` kills two hundred."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_outputs_are_whole_and_nothing_is_left():
    command = [sys.executable, "-m", "experiments.kill_writes", "--kills", "3", "--seed", "1"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("3 kills, 0 misses: passed")
