"""``python -m benchmarks [name …]``: print the tables; exit 1 if a promise is missed.

``floor`` is measured beside an older copy: ``python -m benchmarks floor --old DIR [--only TASK]``.
"""

from __future__ import annotations

import argparse
import os
import sys

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before NumPy is loaded

from benchmarks import (  # noqa: E402
    boosted,
    class_measures,
    classification,
    decisions,
    density,
    ensembles,
    floor,
    forecasters,
    gp_beta,
    gpc,
    large,
    laws,
    many_classes,
    recalibration,
    report,
    summaries,
    tables,
)

TABLES = {
    "recalibration": recalibration.lines,
    "ensembles": ensembles.lines,
    "laws": laws.lines,
    "density": density.lines,
    "gp_beta": gp_beta.lines,
    "gpc": gpc.lines,
    "large": large.lines,
    "classification": classification.lines,
    "many_classes": many_classes.lines,
    "decisions": decisions.lines,
    "class_measures": class_measures.lines,
    "tables": tables.lines,
    "report": report.lines,
    "summaries": summaries.lines,
    "forecasters": forecasters.lines,
    "boosted": boosted.lines,
    "floor": floor.lines,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(TABLES))
    parser.add_argument("--old", help="working tree of an older commit, for floor")
    parser.add_argument("--only", default="", help="tasks of floor whose name begins with this")
    told = parser.parse_args(arguments)
    missed = 0
    for name in told.names or list(TABLES):
        print(f"\n{name}: CPU seconds of one thread, best of 5")
        for line in floor.lines(told.old, told.only) if name == "floor" else TABLES[name]():
            print(line, flush=True)
            missed += line.missed
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
