"""Run the jobs, print them and write them down."""

from __future__ import annotations

from collections.abc import Iterator

from ..forked import Found
from ..timing import Note
from .catalogue import JOBS, LIBRARIES
from .job import OURS
from .race import Stable, race

PROMISED = 0.9


def lines(only: str = "") -> Iterator[Note]:
    """A line for each entry, then the count; of all jobs, results are written."""
    from ..kept import keep

    records: list[Found] = []
    with Stable() as stable:
        for job in JOBS:
            if not job.name.startswith(only):
                continue
            for found in race(stable, job):
                records.append(found)
                yield Note(entry_line(found))
    counted = shared(records)
    first = sum(counted.values())
    missed = first < PROMISED * len(counted)
    yield Note(f"first in {first} of {len(counted)} shared rows, {PROMISED:.0%} promised", missed=missed)
    if not only:
        keep("peers", records, LIBRARIES)


def shared(records: list[Found]) -> dict[tuple[str, int], bool]:
    """Rows in which a peer could be compared, and whether calibrant is first there."""
    rows: dict[tuple[str, int], bool] = {}
    for found in records:
        if found["who"] != OURS and found["ahead"] is not None:
            key = (found["job"], found["rows"])
            rows[key] = rows.get(key, True) and found["ahead"]
    return rows


def entry_line(found: Found) -> str:
    """One entry in words."""
    head = f"{found['job']:28s} {found['rows']:>9,d}  {found['who']:20s}"
    if "seconds" not in found:
        return f"{head} {found.get('stopped') or 'failed: ' + found['failed']}"
    beside = "  ".join(f"{name} {value:.4g}" for name, value in found["beside"].items())
    ahead = "" if found["who"] == OURS or found["ahead"] else f"  NOT FIRST: {found['behind_in']}"
    numbers = f"{found['seconds'] * 1e3:11.2f} ms {found['peak_mib']:9.1f} MiB  {found['quality']:.6g}"
    return f"{head} {numbers}  {beside}{ahead}"
