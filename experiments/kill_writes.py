"""Is an output whole after kill -9, and is nothing left behind?

``python -m experiments.kill_writes --kills 200`` runs apply, fit and report on a table again and again, each over its
older output, and kills each run at a random moment, half of them while they write. After every kill the output must be
the older one or the new one, to the last byte, and the inputs as they were; after the next run that comes to its end
there must be no temporary file. The exit code is 1 if any is not so.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import calibrant as c
import calibrant.report  # else every process would load it by itself
from calibrant.cli.app import run as command_line

ROWS = 60_000
Rng = np.random.Generator


@dataclass(frozen=True)
class Job:
    """A command with its output, in two variants that take turns.

    Where a variant gives the same bytes every time, these tell whether an output is whole, else ``looks_whole`` does.
    """

    name: str
    output: Path
    variants: tuple[list[str], list[str]]
    looks_whole: Callable[[Path], bool] | None = None


# ---- what is run ----
def made_inputs(folder: Path) -> None:
    """A table of forecasts, a smaller one to report on, and a calibrator."""
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(size=ROWS), rng.uniform(0.5, 2, ROWS)
    frame = pd.DataFrame({"mu": mu, "sigma": sigma, "y": mu + 2 * sigma * rng.standard_normal(ROWS)})
    frame.to_parquet(folder / "table.parquet")
    frame[:300].to_csv(folder / "few.csv", index=False)
    c.save(c.QuantileCalibrator().fit(c.Normal(mu, sigma), frame["y"]), folder / "known.calibrant")


def jobs(folder: Path) -> list[Job]:
    """Commands that write; those that apply give the same bytes every time."""
    table, few, known = (str(folder / name) for name in ("table.parquet", "few.csv", "known.calibrant"))
    outputs = folder / "outputs"
    outputs.mkdir()
    found = []
    for name in ("out.parquet", "out.csv", "out.arrow"):
        call = ["apply", known, table, "--mean", "mu", "--std", "sigma", "-o", str(outputs / name)]
        variants = ([*call, "--levels", "0.1,0.5,0.9"], [*call, "--levels", "0.05,0.95"])
        found.append(Job(f"apply {name}", outputs / name, variants))
    fit = ["fit", table, "-o", str(outputs / "a.calibrant"), "--method"]
    found.append(Job("fit", outputs / "a.calibrant", ([*fit, "scale"], [*fit, "quantile"]), _is_calibrator))
    report = ["report", few, "-o", str(outputs / "page.html"), "--method"]
    found.append(Job("report", outputs / "page.html", ([*report, "scale"], [*report, "quantile"]), _is_page))
    return found


def _is_calibrator(path: Path) -> bool:
    try:
        c.load(path)
    except ValueError:
        return False
    return True


def _is_page(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return text.startswith("<!doctype html>") and text.rstrip().endswith("</html>")


# ---- running and killing ----
def started(call: list[str]) -> int:
    """A process of its own that runs a command and tells nothing."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
            code = command_line(call)
    finally:
        os._exit(code)


def to_its_end(call: list[str]) -> float:
    """Run a command; the seconds it took."""
    began = time.monotonic()
    _, status = os.waitpid(started(call), 0)
    if status:
        raise RuntimeError(f"{' '.join(call)} failed with status {status}")
    return time.monotonic() - began


def killed(call: list[str], output: Path, seconds: float, rng: Rng) -> bool:
    """Run a command and kill it; whether it was still at work. Half of them when they have begun to write."""
    process, began, before = started(call), time.monotonic(), parts(output.parent)
    wait = rng.uniform(0, seconds)
    if rng.random() < 0.5:
        while parts(output.parent) <= before and time.monotonic() - began < 2 * seconds:
            time.sleep(0.0005)
        wait = rng.uniform(0, 0.3 * seconds)
    time.sleep(wait)
    os.kill(process, signal.SIGKILL)  # ours until it is waited for, even if it has ended
    return os.WIFSIGNALED(os.waitpid(process, 0)[1])


def parts(folder: Path) -> set[Path]:
    """Temporary files."""
    return {path for path in folder.iterdir() if path.name.startswith(".")}


def run(kills: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """What was seen, and what should not have been."""
    made_inputs(folder)
    tried, rng = jobs(folder)[:kills], np.random.default_rng(seed)
    inputs = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    known = {job.name: [(to_its_end(call), job.output.read_bytes()) for call in job.variants] for job in tried}
    seen: Counter[str] = Counter()
    misses: list[str] = []
    for number in range(kills):
        job = tried[number % len(tried)]
        (seconds, first), (_, second) = known[job.name]
        old = job.output.read_bytes()
        seen["killed at work"] += killed(job.variants[number // len(tried) % 2], job.output, seconds, rng)
        seen["new output in place"] += job.output.read_bytes() != old
        whole = job.looks_whole(job.output) if job.looks_whole else job.output.read_bytes() in (first, second)
        misses += [] if whole else [f"kill {number}: {job.name} left an output that is not whole"]
        lost = [path.name for path, content in inputs.items() if path.read_bytes() != content]
        misses += [f"kill {number}: {job.name} changed {name}" for name in lost]
        misses += _left(job, seen) if number % 3 == 0 else []
    return seen, misses + _left(tried[0], seen)


def _left(job: Job, seen: Counter[str]) -> list[str]:
    """What is left by killed runs, and what of it after a run that comes to its end."""
    left = parts(job.output.parent)
    seen["temporary files left by kills"] += len(left)
    seen["KiB in them"] += sum(path.stat().st_size for path in left) >> 10
    to_its_end(job.variants[0])
    seen["runs to the end after that"] += 1
    return [f"{path.name} is still there" for path in parts(job.output.parent)]


def arguments(about: str, count: str, default: int) -> argparse.Namespace:
    """How often, by an option of this name, and the seed."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument(f"--{count}", dest="times", type=int, default=default)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def told(what: str, seen: Counter[str], misses: list[str]) -> int:
    """Print what was seen and a verdict; the exit code."""
    for name, count in seen.items():
        print(f"{count:8d}  {name}")
    for line in misses[:20]:
        print(line)
    print(f"{what}, {len(misses)} misses: {'FAILED' if misses else 'passed'}")
    return 1 if misses else 0


def main() -> int:
    """Run, print a verdict, return the exit code."""
    asked = arguments(__doc__, "kills", 200)
    with tempfile.TemporaryDirectory() as folder:
        return told(f"{asked.times} kills", *run(asked.times, asked.seed, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
