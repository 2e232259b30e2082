"""``python -m benchmarks [name …] [--device cuda --rows 1e9]``: print the tables; exit 1 if a promise is missed.

``floor`` is measured beside an older copy: ``python -m benchmarks floor --old DIR [--only TASK]``;
``peers`` beside other libraries: ``python -m benchmarks peers [--only JOB]``.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

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
    peers,
    recalibration,
    report,
    scaling,
    summaries,
    tables,
    tensors,
)

TABLES = {
    "peers": peers.lines,
    "scaling": scaling.lines,
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
    "tensors": tensors.lines,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(TABLES))
    parser.add_argument("--device", default="cpu", help="of tensors: cpu, cuda")
    parser.add_argument("--rows", default=1e6, type=float, help="of tensors")
    parser.add_argument("--old", help="working tree of an older commit, for floor")
    parser.add_argument("--only", default="", help="tasks of floor and jobs of peers whose name begins with this")
    given = parser.parse_args(arguments)
    options: dict[str, dict[str, Any]] = {
        "tensors": {"device": given.device, "rows": given.rows},
        "peers": {"only": given.only},
        "floor": {"old": given.old, "only": given.only},
    }
    missed = 0
    for name in given.names or list(TABLES):
        print(f"\n{name}: CPU seconds of one thread, the best of several runs")
        for line in TABLES[name](**options.get(name, {})):
            print(line, flush=True)
            missed += line.missed
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
