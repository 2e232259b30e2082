"""What the cells of table 1 say: means and errors, the paper's numbers beside them, and the claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..cells import claim
from ..scoreboard import headline

# Kuleshov et al. (2018), table 1: MAPE, calibration error, recalibrated error (where there is one)
SETS = {
    "auto_mpg": "mpg", "auto_imports": "auto", "communities_crime": "crime", "kin8nm": "kinematics",
    "stock": "stocks", "machine_cpu": "cpu", "bank8fm": "bank", "wine_quality_red": "wine",
}  # fmt: skip
_PAPER: dict[str, list[tuple[float, ...]]] = {
    "ridge": [
        (0.107, 0.053, 0.057), (0.002, 0.175, 0.029), (0.086, 0.030, 0.016), (0.267, 0.024, 0.006),
        (0.005, 0.163, 0.052), (0.395, 0.074, 0.025), (0.572, 0.073, 0.083), (0.101, 0.024, 0.022),
    ],
    "dropout": [
        (0.091, 0.102, 0.021), (0.027, 0.205, 0.017), (0.086, 0.070, 0.015), (0.110, 0.043, 0.016),
        (0.020, 0.183, 0.024), (0.351, 0.163, 0.065), (0.395, 0.134, 0.057), (0.097, 0.096, 0.028),
    ],
    "concrete": [
        (0.081, 0.068), (0.009, 0.103), (0.084, 0.182), (0.097, 0.228), (0.011, 0.039), (0.294, 0.166), (0.410, 0.177),
        (0.099, 0.207),
    ],
    "ensemble": [
        (0.079, 0.087), (0.014, 0.242), (0.082, 0.050), (0.107, 0.027), (0.013, 0.229), (0.319, 0.147), (0.390, 0.126),
        (0.099, 0.096),
    ],
}  # fmt: skip
PAPER = {model: dict(zip(SETS, rows, strict=True)) for model, rows in _PAPER.items()}
MODELS = {
    "ridge": "Bayesian ridge", "dropout": "dropout net", "concrete": "concrete dropout", "ensemble": "deep ensemble",
}  # fmt: skip
WAYS = ("none", "paper", "isotonic", "ours")
OF_THE_PAPER = ("ridge", "dropout")
LEVELS_ERROR = 1.65  # sum over ten levels of p (1 - p): the error of perfect forecasts, times the rows
WANTED_LOWER, WANTED_REACHED = 7, 14


def summary(name: str, model: str, cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Means over the splits and their standard errors, by way of recalibrating."""
    out: dict[str, Any] = {"set": name, "model": model}
    for way in WAYS:
        columns = {key: np.array([cell[way][key] for cell in cells]) for key in cells[0][way]}
        out[way] = {key: float(column.mean()) for key, column in columns.items()}
        spread = columns["calibration"].std(ddof=1) if len(cells) > 1 else 0.0
        out[way]["error"] = float(spread / np.sqrt(len(cells)))
    out["floor"] = float(np.mean([LEVELS_ERROR * (1 / cell["n_test"] + 1 / cell["n_cal"]) for cell in cells]))
    return out


def limit(row: dict[str, Any]) -> float:
    """The paper's recalibrated error or twice the floor of noise, whichever is higher."""
    paper = PAPER[row["model"]].get(row["set"], (np.nan,) * 3)
    return float(np.nanmax([paper[2] if len(paper) > 2 else np.nan, 2 * row["floor"]]))


def verdict(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The claims, each with PASS or FAIL; of the default map on cross-fitted forecasts."""
    for model in MODELS:
        mine = [row for row in rows if row["model"] == model]
        if not mine:
            continue
        lower = [row for row in mine if row["ours"]["calibration"] < row["none"]["calibration"]]
        text = f"{MODELS[model]}: recalibrated error below uncalibrated on {len(lower)} of {len(mine)} sets"
        wanted = min(WANTED_LOWER, len(mine))
        yield claim(len(lower) >= wanted, text) if model in OF_THE_PAPER else f"      {text}"
    mine = [row for row in rows if row["model"] in OF_THE_PAPER]
    reached = [row for row in mine if row["ours"]["calibration"] <= limit(row)]
    missed = ", ".join(f"{row['set']} x {row['model']}" for row in mine if row not in reached)
    text = f"at or below the paper's recalibrated error or twice the floor on {len(reached)} of {len(mine)} cells"
    yield claim(len(reached) >= min(WANTED_REACHED, len(mine)), text + (f"; not {missed}" if missed else ""))


def headlines(rows: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Mean errors over the sets, of each model."""
    found = []
    for model, title in MODELS.items():
        mine = [row for row in rows if row["model"] == model]
        if not mine:
            continue
        paper = np.mean([PAPER[model][row["set"]][1:] for row in mine], axis=0)
        means = {way: np.mean([row[way]["calibration"] for row in mine]) for way in WAYS}
        lower = sum(row["ours"]["calibration"] < row["none"]["calibration"] for row in mine)
        reached = sum(row["ours"]["calibration"] <= limit(row) for row in mine)
        told = f"lower on {lower} of {len(mine)} sets" + (f", reached on {reached}" if model in OF_THE_PAPER else "")
        found.append(
            headline(
                f"table 1, {title}: calibration error, mean of {len(mine)} sets",
                " → ".join(f"{value:.3f}" for value in paper),
                f"{means['none']:.3f} → {means['paper']:.3f}",
                f"{means['none']:.3f} → {means['ours']:.3f}",
                told,
            )
        )
    return found


def page(rows: Sequence[dict[str, Any]], splits: int) -> Iterator[str]:
    """Markdown: one table a model."""
    yield f"# Kuleshov et al. (2018), table 1: calibration error, mean ± standard error of {splits} splits"
    for model, title in MODELS.items():
        mine = [row for row in rows if row["model"] == model]
        if not mine:
            continue
        yield f"\n## {title}\n"
        yield (
            "| set | MAPE (paper) | paper: before | after | ours: before | as the paper did "
            "| cross-fitted isotonic | cross-fitted default | floor | coverage of 90 % before | after |"
        )
        yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        yield from map(_line, mine)


def _line(row: dict[str, Any]) -> str:
    paper = PAPER[row["model"]].get(row["set"], ())
    mape, before, after = (f"{value:.3f}" for value in (*paper, *(np.nan,) * (3 - len(paper))))
    errors = [f"{row[way]['calibration']:.4f} ± {row[way]['error']:.4f}" for way in WAYS]
    cells = [
        SETS.get(row["set"], row["set"]), f"{row['none']['mape']:.3f} ({mape})", before, after, *errors,
        f"{row['floor']:.4f}", f"{row['none']['covered']:.3f}", f"{row['ours']['covered']:.3f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |".replace("nan", "–")
