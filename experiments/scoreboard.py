"""python -m experiments.scoreboard: experiments/README.md, every headline result of the papers beside ours.

It is made of the headlines in ``results/*/*.json``, which the experiments write; nothing is computed here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calibrant._files import write_text

from .cells import RESULTS, ROOT

PAPERS = {
    "kuleshov2018": "Kuleshov, Fenner and Ermon (2018), Accurate uncertainties for deep learning",
    "song2018": "Song, Kull and Flach (2018), Non-parametric calibration of probabilistic regression",
    "song2019": "Song, Diethe, Kull and Flach (2019), Distribution calibration for regression",
    "bella": "Bella, Ferri, Hernández-Orallo and Ramírez-Quintana (2010), Calibration of machine learning models",
}
OTHERS = {
    "conformal": "intervals and sets hold what they promise, and beside crepes and MAPIE",
    "cost": "what each calibrator costs where nothing is wrong",
    "harmless": "the default map on forecasts that are right, and on counts",
    "real_data": "the default calibrator on all regression sets and three base models",
    "segments": "a hidden segment is found first, and none where nothing is wrong",
    "selection": "the choice of `AutoCalibrator` against the best single method",
    "stack": "the stack against its base on all regression sets",
    "vast_weights": "weights of a trillion rows each do not slow fits",
    "uci": "standard splits: calibrated models beside NGBoost and XGBDistribution",
    "classification": "class probabilities: the choice against the best single method",
    "mcgrad": "class probabilities put right with the features beside them, and MCGrad's",
    "song2019.adam": "GP-Beta by the paper's own optimiser, Adam: the same NLL as by ours, a step in closed form",
    "song2019.bases": "the net and the Gaussian process that the paper's uncalibrated numbers tell of",
    "swapped": "the joint calibration of three classes: what the test sees",
    "bella": "which measure sees which fault",
    "scipy_families": "every family of scipy: right, or refused in a line",
    "drift": "calm runs raise few alarms, changes are noticed soon and their dates named",
    "engines": "one Parquet file through every engine, beside reading it alone and beside the rows",
    "fuzz_loader": "files of calibrators, mutated: none is loaded that should not be",
    "kill_writes": "writers killed at random: nothing is lost",
    "kill_updates": "a daily job killed at random: no day is lost or learned twice",
}
HEAD = """# Experiments

What the papers report and what calibrant reaches, made of the results in `results/` by
`python -m experiments.scoreboard`. "Faithful" does what the paper did, "best" is what we recommend; where a number of
ours is better than the paper's before anything is calibrated, there is less to gain. Data come from a folder given by
`--data` or `CALIBRANT_DATA`; a run that was stopped goes on where it was."""


def main() -> int:
    """Write the page."""
    write_text(ROOT / "README.md", "\n".join(page(RESULTS)) + "\n")
    return 0


def page(results: Path) -> Iterator[str]:
    """The scoreboard, a table a paper, and a list of the other experiments."""
    yield HEAD
    for key, title in PAPERS.items():
        found = [json.loads(path.read_text(encoding="utf8")) for path in sorted((results / key).glob("*.json"))]
        found = [result for result in found if "headlines" in result]
        if not found:
            continue
        yield f"\n## {title}\n"
        yield "| what | paper | ours, faithful | ours, best | reached? |"
        yield "|---|---|---|---|---|"
        for result in found:
            yield from map(_line, result["headlines"])
        yield ""
        for result in found:
            yield f"- `{result['made']['command']}` at {result['made']['commit']}"
    yield "\n## Others\n"
    yield from (f"- `python -m experiments.{name}`: {what}" for name, what in sorted(OTHERS.items()))


def headline(what: str, paper: str, faithful: str, best: str, reached: bool | str) -> dict[str, str]:
    """One line of the scoreboard."""
    told = reached if isinstance(reached, str) else "yes" if reached else "**no**"
    return {"what": what, "paper": paper, "faithful": faithful, "best": best, "reached": told}


def _line(one: dict[str, Any]) -> str:
    return f"| {' | '.join(one[key] for key in ('what', 'paper', 'faithful', 'best', 'reached'))} |"


if __name__ == "__main__":
    sys.exit(main())
