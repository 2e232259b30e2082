"""Work in forks of a process that has loaded the libraries, but neither the package nor the tests."""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIBRARIES = (
    "numpy", "scipy.stats", "scipy.optimize", "scipy.special", "scipy.interpolate", "scipy.integrate", "scipy.linalg",
    "sklearn.base", "sklearn.linear_model", "sklearn.ensemble", "sklearn.model_selection", "sklearn.svm",
    "sklearn.pipeline", "sklearn.preprocessing", "sklearn.utils.estimator_checks", "pandas", "pyarrow.parquet",
    "pyarrow.compute", "matplotlib.pyplot", "hypothesis", "hypothesis.extra.numpy", "pytest", "typer.testing", "mpmath",
    "scoringrules", "properscoring", "betacal",
)  # fmt: skip


@dataclass
class Task:
    """A function of a tree, to be called in a fork; what it returns must be JSON."""

    work: Callable[[Path], Any]
    seconds: float  # of processor time, after which the fork is ended; on the clock, after ten times as many
    about: Any = None
    tidy: Callable[[Path], None] = lambda tree: None  # called when the fork has ended, however it did
    ended: float = field(default=0.0, init=False)


def load_libraries() -> None:
    """Load what the tests need, so that the forks need not; what is not installed is not needed."""
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)


def in_forks(tasks: Iterable[Task], trees: list[Path]) -> Iterator[tuple[Task, Any]]:
    """Run tasks, one at a time in each tree; give each with its result, "timeout" or "crash"."""
    waiting, free, running = list(tasks)[::-1], list(trees), {}
    while waiting or running:
        while waiting and free:
            tree, task = free.pop(), waiting.pop()
            task.ended = time.monotonic() + 10 * task.seconds
            running[_started(task, tree)] = (task, tree)
        time.sleep(0.02)
        for pid, (task, tree) in list(running.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            late = bool(done) and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
            if not done and time.monotonic() > task.ended:
                os.killpg(pid, signal.SIGKILL)
                done, late = os.waitpid(pid, 0)[0], True
            if done:
                del running[pid]
                task.tidy(tree)
                free.append(tree)
                yield task, "timeout" if late else _result(tree)


def _started(task: Task, tree: Path) -> int:
    _answer(tree).unlink(missing_ok=True)
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        with suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    status = 1
    try:
        _settle(tree, task.seconds)
        _answer(tree).write_text(json.dumps(task.work(tree)), encoding="utf-8")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _settle(tree: Path, seconds: float) -> None:
    """Make the fork a process of its own that lives in the tree, for so long."""
    os.setpgid(0, 0)
    soon = int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soon, soon + 5))
    log = os.open(tree.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(tree)
    os.environ["PYTHONPATH"] = str(tree / "src")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    here = {"", str(Path(__file__).parents[2])}
    sys.path[:] = [str(tree / "src"), *(entry for entry in sys.path if entry not in here)]
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "calibrant")]:
        del sys.modules[name]


def _answer(tree: Path) -> Path:
    return tree.with_suffix(".json")


def _result(tree: Path) -> Any:
    return json.loads(_answer(tree).read_text(encoding="utf-8")) if _answer(tree).exists() else "crash"
