"""What the commands about table 1 are asked: sets, bases, splits, and where things lie."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ...cells import RESULTS
from ...data import BUNDLED, data_folder
from .paper import BASES, PAIRS, SETS

SPLITS = 10


def parser(name: str, about: str | None, quick: dict[str, Any]) -> argparse.ArgumentParser:
    """The options that they share."""
    made = argparse.ArgumentParser(prog=f"python -m experiments.song2019.{name}", description=about)
    made.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    made.add_argument("--quick", action="store_true", help=f"half a minute at most: {quick}; needs no data folder")
    made.add_argument("--sets", default=",".join(SETS), help="names, comma separated; default: the paper's six")
    made.add_argument("--bases", default=",".join(BASES), help="comma separated; default: all four")
    made.add_argument("--splits", type=int, default=SPLITS, help="random splits of each set")
    made.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    made.add_argument("--cache", type=Path, help="folder that remembers the base models' predictions")
    made.add_argument("--out", type=Path, default=RESULTS / "song2019", help="folder for cells and table")
    made.add_argument("--done", action="store_true", help="run nothing: the table of the finished cells")
    return made


def folder_of(options: argparse.Namespace) -> Path | None:
    """The data folder, where one is needed; FileNotFoundError where it is missing."""
    return None if options.sets == BUNDLED or options.done else data_folder(options.data)


def chosen_pairs(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Pairs of set and base that are asked for."""
    sets, bases = options.sets.split(","), options.bases.split(",")
    return [(name, base) for name, base in PAIRS if name in sets and base in bases]
