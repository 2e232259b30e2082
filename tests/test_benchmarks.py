"""The page of results is what was measured, jobs are fair to all, and who is ahead is counted as written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.kept import PAGE, kept
from benchmarks.page import page
from benchmarks.peers.catalogue import JOBS, LIBRARIES, NAMED
from benchmarks.peers.job import FLOORS, OURS
from benchmarks.peers.race import hopeless, verdict
from benchmarks.peers.tables import shared
from benchmarks.peers.worker import measured
from benchmarks.scaling import TASKS, exponents


def test_the_page_is_made_of_what_was_kept():
    content = kept()
    assert page(content) == PAGE.read_text(encoding="utf-8")
    measured_in = {(each["job"], each["rows"], each["who"]) for each in content["peers"]["records"]}
    assert measured_in == {(job.name, rows, who) for job in JOBS for rows in job.sizes for who in job.entries}
    assert {each["task"] for each in content["scaling"]["records"]} == set(TASKS)


def test_jobs_are_sound():
    assert len(NAMED) == len(JOBS) > 50
    for job in JOBS:
        assert OURS in job.entries and job.peers and set(job.entries) <= set(LIBRARIES)
        assert job.quality.name and job.floor in FLOORS and list(job.sizes) == sorted(set(job.sizes))
    assert {who for job in JOBS for who in job.entries} == set(LIBRARIES)


class Pipe:
    def __init__(self) -> None:
        self.said: list[Any] = []

    def send(self, word: Any) -> None:
        self.said.append(word)


def test_an_entry_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.timing.gc.collect", lambda: 0)  # slow where much is loaded
    pipe = Pipe()
    found = measured(OURS, "measures brier", 200, str(tmp_path / "each.npy"), pipe)  # type: ignore[arg-type]
    assert pipe.said == ["start", "stop"]
    assert found["quality"] < 1e-12 and found["seconds"] > 0 and found["floor_seconds"] > 0


def entry(seconds: float, *losses: float) -> dict[str, Any]:
    return {"seconds": seconds, "quality": float(np.mean(losses)), "each": np.array(losses)}


@pytest.mark.parametrize(
    ("ours", "theirs", "exact", "behind"),
    [
        (entry(1, 1.0, 2.0, 3.0), entry(1, 1.0, 2.0, 3.0), False, None),
        (entry(2, 1.0, 2.0, 3.0), entry(1, 1.0, 2.0, 3.0), False, "slower"),
        (entry(1, 1.1, 2.1, 3.1), entry(1, 1.0, 2.0, 3.0), False, "worse"),
        (entry(1, 1.0001, 2.0001, 3.0001), entry(1, 1.0, 2.0, 3.0), False, None),  # half a ten-thousandth
        (entry(1, 1.5, 1.9, 3.0), entry(1, 1.0, 2.0, 3.0), False, None),  # noise
        (entry(1, 1.0, 2.0, 3.0), entry(1, 1.0, 2.0, np.inf), False, None),
        (entry(1, 1.0, 2.0, np.inf), entry(1, 1.0, 2.0, 3.0), False, "worse"),
        (entry(1, 1e-7), entry(1, 0.0), True, None),
        (entry(1, 1e-5), entry(1, 0.0), True, "worse"),
        (entry(2, np.nan), entry(1, 0.0), True, "slower and worse"),
    ],
)
def test_ahead_is_no_slower_and_no_worse(ours, theirs, exact, behind):
    assert verdict(ours, theirs, exact=exact) == (
        {"ahead": True} if behind is None else {"ahead": False, "behind_in": behind}
    )


def test_who_is_not_compared_is_not_counted():
    ours = entry(1.0, 0.0)
    assert verdict(ours, {"failed": "ValueError"}, exact=True) == {"ahead": None}
    assert verdict(ours, {"stopped": "over 60 s"}, exact=True) == {"ahead": True}
    assert verdict({"failed": "ValueError"}, entry(1.0, 0.0), exact=True)["ahead"] is False
    assert hopeless({"seconds": 3.0, "rows": 10_000}, 1_000_000) and hopeless({"stopped": "over 60 s"}, 1)
    assert hopeless(None, 1) is hopeless({"failed": "?"}, 1) is hopeless({"seconds": 2.9, "rows": 100}, 10_000) is None
    rows = [("a", True), ("a", False), ("b", True), ("b", None), ("c", None)]
    records = [{"job": job, "rows": 1, "who": "peer", "ahead": ahead} for job, ahead in rows]
    assert shared(records) == {("a", 1): False, ("b", 1): True}


def test_exponents_are_slopes_in_logarithms():
    records = [{"task": task, "rows": n, "seconds": 3e-9 * n**1.5} for task in TASKS for n in (10**5, 10**6, 10**7)]
    assert exponents(records) == pytest.approx(dict.fromkeys(TASKS, 1.5))
