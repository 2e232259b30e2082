"""The tasks of the documentation: short, and they do what their page says."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from calibrant.cli import main
from docs.tasks import data

FOLDER = Path(data.__file__).parent
TASKS = [
    path
    for path in sorted(FOLDER.iterdir())
    if path.suffix in (".py", ".sh") and path.name not in ("__init__.py", "data.py")
]


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_a_task_is_fifteen_lines_at_most(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) <= 15


def test_counts_are_covered_as_stated_by_sets_as_narrow_as_the_true_law(capsys):
    runpy.run_path(str(FOLDER / "counts.py"))
    found = re.findall(r"(\d+)% (calibrated|true law): holds ([\d.]+), width ([\d.]+)", capsys.readouterr().out)
    numbers = {(int(coverage), law): (float(held), float(width)) for coverage, law, held, width in found}
    for coverage in (80, 95):
        (held, width), (true_held, true_width) = numbers[coverage, "calibrated"], numbers[coverage, "true law"]
        assert held == pytest.approx(coverage / 100, abs=0.02) and true_held == pytest.approx(coverage / 100, abs=0.02)
        assert width == pytest.approx(true_width, rel=0.05)


def test_a_weekly_frame_gets_wider_the_further_ahead(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data.weekly_frames()
    width = runpy.run_path(str(FOLDER / "weekly_frame.py"))["width"].to_numpy().reshape(-1, 4).mean(axis=0)
    assert width == pytest.approx([16.45, 23.3, 28.5, 32.9], rel=0.15)  # 2 × 1.645 × 5 √h


def test_a_nightly_job_learns_once_and_raises_the_alarm(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data.nights(days=60, drift=30)
    commands = (FOLDER / "nightly.sh").read_text(encoding="utf-8").splitlines()
    codes = [main(shlex.split(line)[2:]) for line in commands if " -o monitor.html" not in line]
    codes += [main(shlex.split(line.replace(" -o monitor.html", ""))[2:]) for line in commands[-1:]]
    assert codes == [0, 0, 0, 1]
    assert "too narrow since 2025-" in capsys.readouterr().out
