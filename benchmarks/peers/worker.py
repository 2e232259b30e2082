"""``python -m benchmarks.peers.worker LIBRARY``: imports it once, then runs one entry a line of input, each in a fork.

A line is a job's name, a number of rows and a path, parted by tabs. The answer is a line of JSON; what the quality
is made of, row by row, is saved at the path.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..timing import cpu_seconds
from .catalogue import LIBRARIES, NAMED
from .job import FLOORS, OURS

SECONDS, MEMORY = 60, 8 * 2**30
MOST, LEAST, ENOUGH, LONG = 6, 2, 2.0, 10.0  # runs after the first; seconds for them; a first run that is the only one


def measure(who: str, name: str, rows: int, path: str) -> None:
    """Run an entry, and write what was found beside the path."""
    job = NAMED[name]
    data = job.make(rows)
    entry = job.entries[who]
    _limit(SECONDS)
    before = _peak(reset=True)
    start = time.process_time()
    result = entry(data)
    first = time.process_time() - start
    peak = max(_peak() - before, 0)
    _limit(None)
    runs = 0 if first > LONG else int(np.clip(ENOUGH / max(first, 1e-9), LEAST, MOST))
    best = min(first, cpu_seconds(lambda: entry(data), runs))
    each = np.asarray(job.quality.of(data, result), dtype=np.float64)
    found: dict[str, Any] = {"seconds": best, "peak_mib": peak / 2**20, "quality": job.quality.value(each)}
    found["beside"] = {label: of(data, result) for label, of in job.beside.items()}
    if who == OURS:
        found["floor_seconds"] = cpu_seconds(lambda: FLOORS[job.floor](data))
    np.save(path, each)
    Path(f"{path}.json").write_text(json.dumps(found), encoding="utf-8")


def _limit(seconds: int | None) -> None:
    """Stop this process after so many more seconds of its time."""
    soft = resource.RLIM_INFINITY if seconds is None else int(time.process_time()) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def _peak(*, reset: bool = False) -> float:
    """Highest resident set of this process in bytes, counted from now on where Linux allows it."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(float(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _guarded(who: str, name: str, rows: int, path: str) -> None:
    """The same in a fork: silent, with bounded memory, and with the error in words."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    resource.setrlimit(resource.RLIMIT_AS, (_mapped() + MEMORY, resource.RLIM_INFINITY))
    warnings.simplefilter("ignore")
    try:
        measure(who, name, rows, path)
    except MemoryError:
        Path(f"{path}.json").write_text(json.dumps({"failed": "more than 8 GiB"}), encoding="utf-8")
    except Exception as error:  # whatever a peer may raise
        words = f"{type(error).__name__}: {error}".splitlines()[0][:160]
        Path(f"{path}.json").write_text(json.dumps({"failed": words}), encoding="utf-8")


def _mapped() -> int:
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    return 0


def answer(who: str, name: str, rows: int, path: str) -> dict[str, Any]:
    """What a fork found, or how it ended."""
    fork = multiprocessing.get_context("fork").Process(target=_guarded, args=(who, name, rows, path))
    fork.start()
    fork.join()
    if fork.exitcode == -signal.SIGXCPU:
        return {"stopped": f"over {SECONDS} s"}
    written = Path(f"{path}.json")
    if not written.exists():
        return {"failed": f"ended with {fork.exitcode}"}
    found: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
    return found


def main(who: str) -> None:
    warnings.simplefilter("ignore")
    for module in LIBRARIES[who]:
        import_module(module)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    for line in sys.stdin:
        name, rows, path = line.rstrip("\n").split("\t")
        print(json.dumps(answer(who, name, int(rows), path)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
