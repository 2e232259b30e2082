"""python -m experiments.song2019.toy [--output FOLDER]: the table, modes, and figures 1 and 2 of the paper."""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

from . import figures, modes
from .table import lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.song2019.toy", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("."), help="folder for figure1.png and figure2.png")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn example")
    options = parser.parse_args()
    for line in chain(lines(), [""], modes.lines()):
        print(line, flush=True)
    print("Figures:", ", ".join(figures.write(options.output, options.seed, anew=True)))


if __name__ == "__main__":
    main()
