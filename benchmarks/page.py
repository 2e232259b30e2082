"""The page of results, made of what was kept and of nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any

from .forked import Found
from .peers.catalogue import JOBS, NAMED
from .peers.job import OURS
from .peers.tables import PROMISED, shared
from .scaling import TASKS, exponents

GROUPS = {
    "binary": "Probabilities of an event",
    "classes": "Probabilities of ten classes",
    "sets": "Sets of labels",
    "measures": "Measures of class probabilities",
    "laws": "Recalibrated distributions",
    "conformal": "Conformal intervals",
    "scores": "Scores of distributions",
    "forecasts": "Measures of normal forecasts",
    "boosting": "Boosters",
}
HEAD = """# Results beside other libraries

Made by `make bench`; not to be edited. What a job is, how it is measured and who is ahead is written in
`benchmarks/peers/__init__.py`. CPU seconds of one thread.
"""


def page(kept: dict[str, Any]) -> str:
    """Markdown."""
    parts = [HEAD]
    if "peers" in kept:
        parts += _peers(kept["peers"])
    if "scaling" in kept:
        parts += _scaling(kept["scaling"])
    return "\n".join(parts).rstrip() + "\n"


# ---- peers ----
def _peers(content: dict[str, Any]) -> Iterator[str]:
    records = content["records"]
    counted = shared(records)
    first = sum(counted.values())
    verdict = "kept" if first >= PROMISED * len(counted) else "missed"
    yield _measured_on(content["machine"])
    share = f"{first / len(counted):.1%}; {PROMISED:.0%} promised: {verdict}"
    yield f"**First in {first} of {len(counted)} shared rows ({share}).**\n"
    yield "![CPU seconds of peers over ours](results/peers.svg)\n"
    yield "## By library\n"
    yield _table(
        ("library", "rows compared", "ahead", "median of its CPU seconds over ours", "of its memory over ours")
    )
    yield _rows(_by_library(records))
    yield "\n## Where calibrant is not first\n"
    yield from _not_first(records)
    yield "\n## Stopped or failed\n"
    yield from _ended(records)
    for group, words in GROUPS.items():
        yield f"\n## {words}\n"
        yield entries([each for each in records if each["job"].split()[0] == group])


def entries(records: list[Found]) -> str:
    """A table of all entries of some jobs."""
    head = _table(("job", "rows", "library", "CPU ms", "× ours", "× floor", "MiB", "quality", ""))
    return "\n".join([head, _rows(_entries(records))])


def _measured_on(machine: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"{machine['cpus']} CPUs, shared with other work (load {machine['load']} at the end); "
        f"Python {machine['python']}, commit {machine['commit']}. {versions}.\n"
    )


def _by_library(records: list[Found]) -> Iterator[tuple[str, ...]]:
    ours = {(each["job"], each["rows"]): each for each in records if each["who"] == OURS}
    for who in dict.fromkeys(each["who"] for each in records if each["who"] != OURS):
        compared = [each for each in records if each["who"] == who and each["ahead"] is not None]
        timed = [(each, ours[each["job"], each["rows"]]) for each in compared if "seconds" in each]
        if timed:
            seconds = median(each["seconds"] / our["seconds"] for each, our in timed)
            memory = median((each["peak_mib"] + 1) / (our["peak_mib"] + 1) for each, our in timed)
            ahead = sum(each["ahead"] for each in compared)
            yield who, str(len(compared)), str(ahead), f"{seconds:.2g}", f"{memory:.2g}"


def _not_first(records: list[Found]) -> Iterator[str]:
    ours = {(each["job"], each["rows"]): each for each in records if each["who"] == OURS}
    behind = [each for each in records if each["who"] != OURS and each["ahead"] is False]
    if not behind:
        yield "Nowhere."
        return
    yield _table(("job", "rows", "library", "calibrant is", "CPU ms, ours", "theirs", "quality, ours", "theirs"))
    rows = []
    for each in behind:
        our = ours[each["job"], each["rows"]]
        times = [_ms(one) for one in (our, each)]
        values = [f"{one['quality']:.6g}" if "quality" in one else "" for one in (our, each)]
        rows.append((NAMED[each["job"]].words, _count(each["rows"]), each["who"], each["behind_in"], *times, *values))
    yield _rows(rows)


def _ended(records: list[Found]) -> Iterator[str]:
    ended = [each for each in records if "seconds" not in each]
    if not ended:
        yield "None."
        return
    yield _table(("job", "rows", "library", "how it ended"))
    yield _rows((NAMED[e["job"]].words, _count(e["rows"]), e["who"], _end(e)) for e in ended)


def _entries(records: list[Found]) -> Iterator[tuple[str, ...]]:
    our: Found = {}
    for each in records:
        if each["who"] == OURS:
            our = each
        job = NAMED[each["job"]]
        head = (job.words, _count(each["rows"])) if each is our else ("", "")
        if "seconds" not in each:
            yield *head, each["who"], "", "", "", "", _end(each), ""
            continue
        ratio = "" if each is our or "seconds" not in our else f"{each['seconds'] / our['seconds']:.2g}"
        floor = f"{each['seconds'] / each['floor_seconds']:.2g} {job.floor}" if each is our else ""
        quality = (
            f"{job.quality.name} {each['quality']:.5g}" if not job.quality.exact else f"error {each['quality']:.1e}"
        )
        beside = ", ".join(f"{name} {value:.4g}" for name, value in each["beside"].items())
        yield *head, each["who"], _ms(each), ratio, floor, f"{each['peak_mib']:.1f}", quality, beside


def _end(found: Found) -> str:
    return str(found.get("stopped") or found["failed"]).replace("|", "/")


def _ms(found: Found) -> str:
    if "seconds" not in found:
        return _end(found)
    return f"{found['seconds'] * 1e3:.{3 if found['seconds'] < 1 else 0}{'g' if found['seconds'] < 1 else 'f'}}"


# ---- scaling ----
def _scaling(content: dict[str, Any]) -> Iterator[str]:
    records = content["records"]
    sizes = list(dict.fromkeys(each["rows"] for each in records))
    slopes = exponents(records)
    yield "\n## From a thousand rows to a hundred million\n"
    yield _measured_on(content["machine"])
    yield "CPU ms; the exponent is that of rows, from 1e5 rows on.\n"
    yield "![CPU seconds over rows](results/scaling.svg)\n"
    yield _table(("task", *(f"{n:.0e}".replace("+0", "") for n in sizes), "exponent"))
    found = {(each["task"], each["rows"]): each for each in records}
    for task, (words, _) in TASKS.items():
        cells = [_ms(found[task, n]) for n in sizes]
        yield _rows([(words, *cells, f"{slopes[task]:.2f}")])


# ---- Markdown ----
def _count(n: int) -> str:
    return f"{n:,d}".replace(",", " ")


def _table(names: Iterable[str]) -> str:
    names = list(names)
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


def _rows(rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if {job.name.split()[0] for job in JOBS} != set(GROUPS):
    raise RuntimeError("Every group of jobs has a heading.")
