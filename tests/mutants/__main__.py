"""``python -m tests.mutants``: change the package in small ways and see whether the tests tell; exit 1 below 92 %."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from .choice import ROOMS, Mutant, choose
from .forks import in_forks, load_libraries
from .reach import Reach, measured, relevant, test_files
from .trees import copied, instrumented
from .trial import trial
from .verdicts import ALIVE, Verdicts

ROOT = Path(__file__).parents[2]
STORE = ROOT / ".mutants"
LEAST_KILLED = 0.92
_EQUIVALENT = Path(__file__).with_name("equivalent.toml")


def main(arguments: list[str] | None = None) -> int:
    """Choose mutants, try those without a verdict, and tell which are alive."""
    options = _options(arguments)
    rooms = options.only or ROOMS
    mutants = choose(ROOT, rooms, options.number, options.seed)[: options.limit]
    if options.list:
        for mutant in mutants:
            print(f"{mutant}\n{mutant.diff(ROOT)}")
        return 0
    equivalent = tomllib.loads(_EQUIVALENT.read_text(encoding="utf-8"))
    load_libraries()
    STORE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        reach = _reach(Path(folder), rooms, options.jobs)
        tried = [mutant for mutant in mutants if mutant.name not in equivalent]
        verdicts = _verdicts(Path(folder), reach, tried, options)
    return _told(mutants, verdicts, equivalent)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", action="append", choices=ROOMS, help="this room; may be given again")
    parser.add_argument("--number", type=int, default=240, help="mutants over all rooms (240)")
    parser.add_argument("--limit", type=int, help="stop after so many mutants")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another choice (0)")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (2)")
    parser.add_argument("--seconds", type=float, default=40.0, help="of tests a mutant, the nearest and quickest first")
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    return parser.parse_args(arguments)


def _reach(folder: Path, rooms: list[str], jobs: int) -> Reach:
    trees = [instrumented(copied(ROOT, folder / f"reach{slot}")) for slot in range(jobs)]
    return measured(ROOT, test_files(ROOT, rooms), trees, STORE / "reach.json")


def _verdicts(folder: Path, reach: Reach, mutants: list[Mutant], options: argparse.Namespace) -> dict[str, str]:
    kept, tasks, verdicts = Verdicts(ROOT, STORE / "verdicts.json"), [], {}
    tests = {mutant.name: relevant(reach, mutant, options.seconds) for mutant in mutants}
    names = {mutant: [test for test, _ in some] for mutant, some in tests.items()}
    for mutant in mutants:
        if (known := kept.get(mutant, names[mutant.name])) is not None:
            verdicts[mutant.name] = known
        elif not tests[mutant.name]:
            verdicts[mutant.name] = ALIVE
        else:
            tasks.append(trial(ROOT, mutant, tests[mutant.name]))
    print(f"{len(mutants)} mutants, {len(tasks)} to be tried", flush=True)
    trees = [copied(ROOT, folder / f"tree{slot}") for slot in range(options.jobs)] if tasks else []
    for count, (task, failed) in enumerate(in_forks(tasks, trees), 1):
        verdicts[task.about.name] = verdict = failed or ALIVE
        kept.put(task.about, names[task.about.name], verdict)
        print(f"  {count}/{len(tasks)} {time.strftime('%H:%M:%S')} {task.about}: {verdict}", flush=True)
    return verdicts


def _told(mutants: list[Mutant], verdicts: dict[str, str], equivalent: dict[str, str]) -> int:
    same = [mutant for mutant in mutants if mutant.name in equivalent]
    alive = [mutant for mutant in mutants if verdicts.get(mutant.name) == ALIVE]
    for mutant in same:
        print(f"\nequivalent: {mutant}\n{mutant.diff(ROOT)}\n    {equivalent[mutant.name]}")
    for mutant in alive:
        print(f"\nalive: {mutant}\n{mutant.diff(ROOT)}")
    tried = len(mutants) - len(same)
    print()
    for room in ROOMS:
        mine = [mutant for mutant in mutants if mutant.room == room and mutant not in same]
        if mine:
            print(f"{room:<12} {sum(mutant not in alive for mutant in mine)} of {len(mine)} killed")
    share = 1 - len(alive) / max(tried, 1)
    print(f"{tried - len(alive)} of {tried} killed ({share:.1%}; at least {LEAST_KILLED:.0%}), {len(same)} equivalent")
    return int(share < LEAST_KILLED)


if __name__ == "__main__":
    sys.exit(main())
