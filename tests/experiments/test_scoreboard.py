"""The scoreboard is what the results say."""

from __future__ import annotations

import importlib.util
import json

from experiments.cells import RESULTS, ROOT
from experiments.scoreboard import OTHERS, headline, page


def test_the_page_is_that_of_the_results():
    assert (ROOT / "README.md").read_text(encoding="utf8") == "\n".join(page(RESULTS)) + "\n"


def test_every_experiment_is_there():
    assert all(importlib.util.find_spec(f"experiments.{name}") for name in OTHERS)


def test_headlines_become_lines(tmp_path):
    made = {"command": "python -m experiments.song2019.table1", "commit": "abc"}
    lines = [headline("fig. 1", "1", "2", "3", True), headline("fig. 2", "1", "2", "3", False)]
    (tmp_path / "song2019").mkdir()
    (tmp_path / "song2019" / "some.json").write_text(json.dumps({"made": made, "headlines": lines}))
    (tmp_path / "song2019" / "other.json").write_text(json.dumps({"made": made}))
    told = list(page(tmp_path))
    assert "| fig. 1 | 1 | 2 | 3 | yes |" in told and "| fig. 2 | 1 | 2 | 3 | **no** |" in told
    assert "- `python -m experiments.song2019.table1` at abc" in told
