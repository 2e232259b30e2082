"""A piece of work in a process of its own: bounded in time and memory, silent, and with the error in words."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

SECONDS, MEMORY = 60, 8 * 2**30
START, STOP = "start", "stop"

Found = dict[str, Any]


def in_fork(work: Callable[[Connection], Found], memory: int = MEMORY) -> Found:
    """What the work found, or ``failed`` or ``stopped`` with the reason.

    The work is given a pipe, for `first_run` to tell when the clock starts and stops. A limit of the system's own would
    make the clock of the process tick in steps of milliseconds.
    """
    context = multiprocessing.get_context("fork")
    mine, its = context.Pipe(duplex=False)
    fork = context.Process(target=_guarded, args=(work, its, memory))
    fork.start()
    its.close()
    found = _listened(mine, fork.pid or 0)
    if "stopped" in found:
        fork.kill()
    fork.join()
    return found or {"failed": f"ended with {fork.exitcode}"}


def _listened(pipe: Connection, pid: int) -> Found:
    """The last message, unless the time between the first two is more than a minute of the process."""
    until = float("inf")
    try:
        while True:
            while not pipe.poll(0.1):
                if _used(pid) > until:
                    return {"stopped": f"over {SECONDS} s"}
            said = pipe.recv()
            if isinstance(said, dict):
                return said
            until = _used(pid) + SECONDS if said == START else float("inf")
    except EOFError:
        return {}


def _used(pid: int) -> float:
    """CPU seconds of a process so far, to a tick."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _guarded(work: Callable[[Connection], Found], to: Connection, memory: int) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    resource.setrlimit(resource.RLIMIT_AS, (_mapped() + memory, resource.RLIM_INFINITY))
    warnings.simplefilter("ignore")
    try:
        to.send(work(to))
    except MemoryError:
        to.send({"failed": f"more than {memory / 2**30:g} GiB"})
    except Exception as error:  # whatever others may raise
        to.send({"failed": f"{type(error).__name__}: {error}".splitlines()[0][:160]})


def first_run(work: Callable[[], Any], to: Connection) -> tuple[Any, float, float]:
    """The result, CPU seconds, and by how many bytes memory rose at most."""
    before = _peak(reset=True)
    to.send(START)
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    to.send(STOP)
    return result, seconds, max(_peak() - before, 0)


def _peak(*, reset: bool = False) -> float:
    """Highest resident set of this process in bytes, counted from now on where Linux allows it."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(float(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _mapped() -> int:
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    return 0
