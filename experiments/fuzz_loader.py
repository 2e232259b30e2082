"""Does the loader survive files that are damaged, or forged?

``python -m experiments.fuzz_loader --files 100000`` mutates saved calibrators of many kinds: bit flips, truncations,
splices, headers of the zip and of its arrays, numbers and texts with a digest to match. Every file must give a
ValueError or OSError, or a calibrator with the right bits; a forged one, whose digest matches, a calibrator that makes
sound forecasts. Each load has 2 seconds and 300 MiB. The exit code is 1 if any has not.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import calibrant as c
from calibrant.store import describe
from calibrant.store.archive import TEXT, _digest

SECONDS, BYTES = 2.0, 300 * 2**20
NUMBERS = (0, -1, 1, 2**31, 2**53, -(2**63), 10**30, 1e-320, 1e308, -0.0, 0.5, True, None, "", "auto", [], {})
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 1e-320, -1.0])
Rng = np.random.Generator


class Example(NamedTuple):
    """A saved calibrator, and what it makes of its own forecasts."""

    content: bytes
    answer: Callable[[Any], Any]
    expected: Any


# ---- what is saved ----
def examples(folder: Path) -> dict[str, Example]:
    """Calibrators of all kinds, saved."""
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(0, 2, 120), np.exp(rng.normal(0, 0.5, 120))
    y = mu + 0.3 + 2 * sigma * rng.standard_normal(120)
    laws, p = c.Normal(mu, sigma), rng.dirichlet(np.ones(3), 120)
    labels = np.array(["a", "b", "c"])[(p.cumsum(axis=1) > rng.random((120, 1))).argmax(axis=1)]
    two, groups = p[:, 0], np.arange(120) % 3
    quick = [c.ScaleCalibrator(), c.QuantileCalibrator()]
    of_laws = {f"quantile, {name}": c.QuantileCalibrator(name) for name in ("spline", "ecdf", "isotonic", "step")}
    of_laws |= {"beta": c.QuantileCalibrator("beta"), "bins": c.ScaleCalibrator("bins", n_bins=3)}
    of_laws |= {"residual": c.ResidualCalibrator(), "points": c.PointCalibrator("local"), "chain": c.Chain(quick)}
    of_laws |= {"density": c.DensityCalibrator(n_thresholds=12), "gp-beta": c.GPBetaCalibrator()}
    of_laws |= {"flow": c.FlowCalibrator(), "gpc": c.GPCCalibrator(8, n_basis=10, n_grid=32)}
    of_laws |= {"stack": c.StackCalibrator(quick), "auto": c.AutoCalibrator(quick, cv=3)}
    of_scores = {
        "dirichlet": c.DirichletCalibrator(),
        "isotonic": c.IsotonicCalibrator(),
        "beta, p": c.BetaCalibrator(),
    }
    of_scores |= {"venn-abers": c.VennAbersCalibrator(), "binning": c.BinningCalibrator(5)}
    of_scores |= {"one": c.OneVsRestCalibrator(c.PlattCalibrator()), "smooth": c.SmoothIsotonicCalibrator()}
    made = {name: (cal.fit(laws, y), lambda cal: _levels(cal.transform(laws), y)) for name, cal in of_laws.items()}
    made |= {name: (cal.fit(p, labels), lambda cal: cal.transform(p)) for name, cal in of_scores.items()}
    grouped = c.GroupedCalibrator(c.QuantileCalibrator()).fit(laws, y, groups=groups)
    made["groups"] = grouped, lambda cal: _levels(cal.transform(laws, groups=groups), y)
    many = c.GroupedCalibrator(c.ScaleCalibrator()).partial_fit(*_copies(laws, y), groups=np.arange(480))
    made["many groups"] = many, lambda cal: _levels(cal.transform(laws, groups=groups), y)
    decisions = c.DecisionCalibrator().fit(p, labels)
    made["decisions"] = decisions, lambda cal: np.asarray(cal.predict(p) == "a", dtype=float)
    repair = c.ConcavityRepair(least=0.0).fit(two, labels == "a")
    made["repair"] = repair, lambda cal: cal.transform(two)
    return {name: _saved(cal, answer, folder / "file") for name, (cal, answer) in made.items()}


def _copies(laws: c.Normal, y: Any) -> tuple[c.Normal, Any]:
    """Four times the rows: a group for each has so many arrays that they are packed."""
    return laws[np.tile(np.arange(len(y)), 4)], np.tile(y, 4)


def _saved(calibrator: Any, answer: Callable[[Any], Any], path: Path) -> Example:
    c.save(calibrator, path, metadata={"target": "sales"})
    return Example(path.read_bytes(), answer, answer(calibrator))


def _levels(law: c.distributions.Distribution, y: Any) -> Any:
    """Distribution functions at the outcomes and on a grid."""
    return np.column_stack([law.cdf(y), law.cdf(np.linspace(-20, 20, 41)[None, :])])


# ---- what is done to it ----
def flipped(content: bytes, rng: Rng) -> bytes:
    """Some bits the other way round."""
    out = bytearray(content)
    for place in rng.integers(len(out), size=rng.integers(1, 9)):
        out[place] ^= 1 << int(rng.integers(8))
    return bytes(out)


def truncated(content: bytes, rng: Rng) -> bytes:
    """Without an end, or without a beginning."""
    at = int(rng.integers(len(content)))
    return content[:at] if rng.random() < 0.7 else content[at:]


def spliced(content: bytes, rng: Rng) -> bytes:
    """A piece replaced by noise, or by another piece of the file, or repeated."""
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 200))
    source = int(rng.integers(len(content)))
    piece = rng.bytes(int(rng.integers(0, 60))) if rng.random() < 0.5 else content[source : source + length]
    return content[:start] + piece + content[start + (length if rng.random() < 0.7 else 0) :]


def odd_zip(content: bytes, rng: Rng) -> bytes:
    """Another number in a header of the zip."""
    out = bytearray(content)
    mark = (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06")[int(rng.integers(3))]
    places = [found.start() for found in re.finditer(re.escape(mark), content)]
    for _ in range(int(rng.integers(1, 4))):
        at = places[int(rng.integers(len(places)))] + 4 + 2 * int(rng.integers(20))
        value = (0, 1, 8, 0x7FFF, 0xFFFF, int(rng.integers(65536)))[int(rng.integers(6))]
        out[at : at + 2] = struct.pack("<H", value)
    return bytes(out)


def odd_header(content: bytes, rng: Rng) -> bytes:
    """Another header of an array, the digest to match."""
    text, members = _apart(content)
    if not members:
        return odd_text(content, rng)
    at = int(rng.integers(len(members)))
    shape = ((10**12,), (2**31, 2**31), (-1,), (), (0, 10**9), (1, 1, 1), (10**5,))[int(rng.integers(7))]
    kind = ("<f8", "|O", "<U1000000", "<U0", "|V8", "<c16", ">f8", "<M8[ns]", "|S5", "<f2", "|b1")[
        int(rng.integers(11))
    ]
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": kind, "fortran_order": bool(rng.integers(2)), "shape": shape})
    header = head.getvalue() if rng.random() < 0.6 else flipped(members[at][:128], rng)
    members[at] = header + members[at][128:]
    return _together(text, members)


def odd_numbers(content: bytes, rng: Rng) -> bytes:
    """Other numbers in arrays, the digest to match."""
    text, members = _apart(content)
    for _ in range(int(rng.integers(1, 3)) if members else 0):
        at = int(rng.integers(len(members)))
        array = np.load(io.BytesIO(members[at]), allow_pickle=False).copy()
        with np.errstate(over="ignore"):
            members[at] = _npy(_other(array, rng))
    return _together(text, members)


def _other(array: Any, rng: Rng) -> Any:
    how = int(rng.integers(7))
    if not array.size or how == 0:
        return np.resize(array, rng.integers(0, 6, size=int(rng.integers(0, 4))))
    flat = array.reshape(-1)
    place = int(rng.integers(flat.size))
    if array.dtype.kind == "f" and how == 1:
        flat[place] = SPECIAL[int(rng.integers(len(SPECIAL)))]
    elif array.dtype.kind in "fiu" and how == 2:
        flat[place] = flat[place] * 3 - 1
    elif how == 4:
        return flat[:, None]
    elif how == 5:
        return np.repeat(flat[:1000], 500)
    elif how == 3:
        flat[:] = flat[rng.permutation(flat.size)]
    else:
        return flat[: int(rng.integers(flat.size))]
    return array


def odd_text(content: bytes, rng: Rng) -> bytes:
    """Other values, keys and classes in the text, the digest to match."""
    text, members = _apart(content)
    for _ in range(int(rng.integers(1, 4))):
        _change(text, rng)
    return _together(text, members)


def _change(text: dict[str, Any], rng: Rng) -> None:
    """One value of the tree becomes another, or another part of the tree, or is gone."""
    places = list(_places(text))
    holder, key = places[int(rng.integers(len(places)))]
    how = int(rng.integers(4))
    if how == 0:
        holder[key] = NUMBERS[int(rng.integers(len(NUMBERS)))]
    elif how == 1:
        other, name = places[int(rng.integers(len(places)))]
        holder[key] = json.loads(json.dumps(other[name]))
    elif how == 2 and isinstance(holder, dict):
        del holder[key]
    elif isinstance(holder[key], str):
        holder[key] = ("os.system", "maps.StepMap", "calibration.Chain", "links.IsotonicLink", "?")[
            int(rng.integers(5))
        ]
    elif isinstance(holder[key], (int, float)):
        holder[key] = holder[key] * -3 + 1 if abs(holder[key]) < 1e300 else 7
    else:
        holder[key] = {"tuple": [holder[key]]}


def _places(tree: Any) -> Any:
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in list(pairs):
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def raw_text(content: bytes, rng: Rng) -> bytes:
    """The text as bytes, spliced; deep, long and huge ones."""
    text, members = _apart(content)
    how = int(rng.integers(6)) if rng.random() < 0.95 else int(rng.integers(6, 8))
    deep = {0: b"[" * 100_000, 1: b'{"state":' * 100_000, 2: b"1" * 10_000, 3: b'"' + b"a" * 10**6 + b'"'}
    deep |= {6: b'{"state":[' + b"[]," * 900_000 + b"[]]}", 7: b"[" + b'{"class":0},' * 10**6 + b"0]"}
    return _zipped(deep.get(how, spliced(json.dumps(text).encode(), rng)), members)


MUTATIONS = (flipped, truncated, spliced, odd_zip, odd_header, odd_numbers, odd_text, raw_text)
FORGED = (odd_header, odd_numbers, odd_text, raw_text)


def _apart(content: bytes) -> tuple[dict[str, Any], list[bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [archive.read(f"{i}.npy") for i in range(len(archive.namelist()) - 1)]
        return json.loads(archive.read(TEXT)), members


def _together(text: dict[str, Any], members: list[bytes]) -> bytes:
    text["digest"] = _digest({**text, "digest": None}, members)
    return _zipped(json.dumps(text).encode(), members)


def _zipped(body: bytes, members: list[bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(TEXT), body)
        for place, member in enumerate(members):
            archive.writestr(zipfile.ZipInfo(f"{place}.npy"), member)
    return buffer.getvalue()


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


# ---- what came of it ----
def outcome(path: Path, example: Example, forged: bool) -> str:
    """ "refused", "right" or "sound"; anything else is a miss."""
    try:
        loaded = c.load(path)
    except (ValueError, OSError) as reason:
        return "too much memory" if _for_memory(reason) else "refused"
    if not forged:
        return "right" if np.array_equal(example.answer(loaded), example.expected) else "wrong bits"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _soundness(loaded, example)


def _for_memory(reason: BaseException | None) -> bool:
    """Whether it was refused only because there was not as much memory as it asked for."""
    return reason is not None and (isinstance(reason, MemoryError) or _for_memory(reason.__cause__))


def _soundness(loaded: Any, example: Example) -> str:
    """Forecasts of forged calibrators are forecasts, or an error that says what is wrong."""
    try:
        answer = np.asarray(example.answer(loaded), dtype=float)
    except (ValueError, TypeError, AttributeError):  # it is of another kind, or for other rows
        return "sound"
    if not np.isfinite(answer).all():
        return "forecasts that are no numbers"
    if answer.ndim == 2 and answer.shape[1] == 42 and np.any(np.diff(answer[:, 1:]) < -1e-9):
        return "distribution functions that decrease"
    return "sound"


def _too_long(*_: Any) -> None:
    raise TimeoutError


def tried(path: Path, example: Example, forged: bool) -> tuple[str, float]:
    """The outcome and the seconds of the processor that it took, which others at work on the machine do not change."""
    began = told = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 10 * SECONDS)
    try:
        with suppress(ValueError, OSError):
            describe(path)
        told = time.process_time()
        result = outcome(path, example, forged)
    except TimeoutError:
        result = "hang"
    except BaseException as reason:
        if isinstance(reason, KeyboardInterrupt):
            raise
        result = f"{type(reason).__name__}: {reason} at {traceback.extract_tb(reason.__traceback__)[-1]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return result, max(told - began, time.process_time() - told)


def _leave_memory(more: int) -> None:
    """Let this process have so many bytes more than now, and no more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, resource.RLIM_INFINITY))


def run(files: int, seed: int, seconds: float) -> tuple[Counter[str], list[str], float]:
    """Outcomes by kind of mutation, the misses, and the longest load."""
    outcomes: Counter[str] = Counter()
    misses: list[str] = []
    longest, began = 0.0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        known = list(examples(Path(folder)).items())
        path = Path(folder) / "mutated"
        _leave_memory(BYTES)
        for number in range(files):
            rng = np.random.default_rng([seed, number])
            name, example = known[int(rng.integers(len(known)))]
            mutation = MUTATIONS[number % len(MUTATIONS)]
            path.write_bytes(mutation(example.content, rng))
            result, took = tried(path, example, mutation in FORGED)
            longest = max(longest, took)
            kept = result in ("refused", "right", "sound")
            outcomes[f"{mutation.__name__}: {result if kept else 'MISS'}"] += 1
            if not kept or took > SECONDS:
                misses.append(f"file {number} ({name}, {mutation.__name__}), {took:.2f} s: {result}")
            if time.monotonic() - began > seconds:
                break
    return outcomes, misses, longest


def main() -> int:
    """Run, print a verdict, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    asked = parser.parse_args()
    signal.signal(signal.SIGPROF, _too_long)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    outcomes, misses, longest = run(asked.files, asked.seed, asked.seconds)
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    for line, count in sorted(outcomes.items()):
        print(f"{count:8d}  {line}")
    for line in misses[:20]:
        print(line)
    fine = not misses and growth < BYTES
    print(
        f"{sum(outcomes.values())} files, {len(misses)} misses, longest load {longest:.2f} s, memory grew by "
        f"{growth / 2**20:.0f} MiB: {'passed' if fine else 'FAILED'}"
    )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
