"""``python -m benchmarks.peers.worker LIBRARY``: imports it once, then runs one entry a line of input, each in a fork.

A line is a job's name, a number of rows and a path, parted by tabs. The answer is a line of JSON; what the quality
is made of, row by row, is saved at the path.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection

import numpy as np

from ..forked import Found, first_run, in_fork
from ..timing import cpu_seconds
from .catalogue import LIBRARIES, NAMED
from .job import FLOORS, OURS

MOST, ENOUGH, LONG = (
    6,
    2.0,
    10.0,
)  # runs after the first; seconds after which no other begins; a run that is the only one


def measured(who: str, name: str, rows: int, path: str, to: Connection) -> Found:
    """Run an entry in this process."""
    job = NAMED[name]
    data = job.make(rows)
    entry = job.entries[who]
    result, first, rise = first_run(lambda: entry(data), to)
    times = [first]
    while first <= LONG and len(times) <= MOST and sum(times[1:]) < ENOUGH:
        times.append(cpu_seconds(lambda: entry(data), 1))
    each = np.asarray(job.quality.of(data, result), dtype=np.float64)
    np.save(path, each)
    found: Found = {"seconds": min(times), "peak_mib": rise / 2**20, "quality": job.quality.value(each)}
    found["beside"] = {label: of(data, result) for label, of in job.beside.items()}
    if who == OURS:
        found["floor_seconds"] = cpu_seconds(lambda: FLOORS[job.floor](data))
    return found


def main(who: str) -> None:
    warnings.simplefilter("ignore")
    for module in LIBRARIES[who]:
        import_module(module)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    for line in sys.stdin:
        name, rows, path = line.rstrip("\n").split("\t")
        print(json.dumps(in_fork(partial(measured, who, name, int(rows), path))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
