"""What the cells say: means and errors over the splits, a table a set, and the claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..cells import claim
from .cell import BASES, BOTH, NONE, PEERS, WAYS

TITLES = {**BASES, **PEERS}
TREES = ("extra", "booster")  # bases that are to beat the peers
SEEING = ("features", BOTH)  # ways that see the features
AHEAD, MOST_HARM, WANTED_BEST = 0.05, 0.01, 4
KEYS = {"nll": "NLL", "log mass": "log mass", "crps": "CRPS", "covered": "in 90 %"}
# documentation of xgboost-distribution 0.4: test NLL of NGBoost and XGBDistribution
PUBLISHED = {"boston": (2.55, 2.62), "concrete": (3.09, 3.14), "energy": (0.62, 0.58), "wine_red": (0.93, 0.98)}


def summary(name: str, model: str, cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each way of calibrating: means of its measures and their standard errors."""
    rows = []
    for way in cells[0]:
        columns = {key: np.array([cell[way][key] for cell in cells]) for key in cells[0][way]}
        errors = {key: _error(column) for key, column in columns.items()}
        means = {key: float(column.mean()) for key, column in columns.items()}
        rows.append({"set": name, "model": model, "way": way, "splits": len(cells), "mean": means, "error": errors})
    return rows


def score(row: dict[str, Any]) -> float:
    """NLL, or of whole numbers the log mass."""
    mean: dict[str, float] = row["mean"]
    return mean.get("log mass", mean["nll"])


def verdict(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The claims, each with PASS or FAIL."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    peers = [row for row in rows if row["model"] in PEERS]
    if peers:
        yield from _beside_peers(rows, sets)
    ridge = [(_found(rows, name, "ridge", NONE), _found(rows, name, "ridge", "features")) for name in sets]
    known = [(before, after) for before, after in ridge if before and after]
    if known:
        better = sum(score(after) < score(before) for before, after in known)
        yield claim(better == len(known), f"ridge is improved by features on {better} of {len(known)} sets")
    for way in SEEING:
        harms = sorted(_harms(rows, sets, way), reverse=True)
        if harms:
            worst = ", ".join(f"{where} {harm:+.3f}" for harm, where in harms if harm > MOST_HARM) or "none"
            text = f"{way} worse than the stack by more than {MOST_HARM} on: {worst}; largest change {harms[0][0]:+.3f}"
            yield claim(harms[0][0] <= MOST_HARM, text)


def _beside_peers(rows: Sequence[dict[str, Any]], sets: Sequence[str]) -> Iterator[str]:
    """A line for each set and base: nothing is picked by its test rows but in the last line."""
    best = []
    for name in sets:
        peers = [row for row in rows if row["set"] == name and row["model"] in PEERS]
        ours = [row for row in (_found(rows, name, model, "features") for model in TREES) if row]
        if not peers or not ours:
            continue
        for mine in ours:
            ahead = min(map(score, peers)) - score(mine)
            sharper = min(row["mean"]["crps"] for row in peers) - mine["mean"]["crps"]
            what = f"{name}: {TITLES[mine['model']]}, features: {ahead:+.3f} nats ahead of the better peer"
            yield claim(ahead >= AHEAD and sharper > 0, f"{what}, CRPS by {sharper:+.4f}")
        first = min((row for row in rows if row["set"] == name), key=score)
        best.append(first["way"] in SEEING)
    wanted = min(WANTED_BEST, len(best))
    yield claim(
        sum(best) >= wanted, f"the least of all rows is of a way that sees features on {sum(best)} of {len(best)}"
    )


def _harms(rows: Sequence[dict[str, Any]], sets: Sequence[str], way: str) -> Iterator[tuple[float, str]]:
    for name in sets:
        for model in BASES:
            stack, mine = _found(rows, name, model, "stack"), _found(rows, name, model, way)
            if stack and mine:
                yield score(mine) - score(stack), f"{name} x {model}"


def _found(rows: Sequence[dict[str, Any]], name: str, model: str, way: str) -> dict[str, Any] | None:
    return next((row for row in rows if (row["set"], row["model"], row["way"]) == (name, model, way)), None)


def _error(column: np.ndarray) -> float:
    return float(column.std(ddof=1) / np.sqrt(len(column))) if len(column) > 1 else 0.0


def page(rows: Sequence[dict[str, Any]], splits: int, missing: Sequence[str]) -> Iterator[str]:
    """Markdown: a table a set, a measure after the other."""
    yield f"# Standard splits for probabilistic regression: means ± standard errors of {splits} splits"
    yield f"\nWays of calibrating: {', '.join(WAYS)}; both is the stack, then features. Least is best but in the last."
    yield "Peers are set as in their paper and documentation; held-out rows say how many rounds, then all are used."
    for name in missing:
        yield f"\n{TITLES.get(name, name)} is left out: its package is missing, or its splits are not all done."
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        keys = [key for key in KEYS if key in mine[0]["mean"]]
        told = PUBLISHED.get(name)
        beside = f" (published NLL: NGBoost {told[0]:.2f}, XGBDistribution {told[1]:.2f})" if told else ""
        yield f"\n## {name}{beside}\n"
        yield f"| model | calibrated by | {' | '.join(KEYS[key] for key in keys)} |"
        yield f"|---|---|{'---:|' * len(keys)}"
        least = {key: min(row["mean"][key] for row in mine) for key in keys if key != "covered"}
        yield from (_line(row, keys, least) for row in mine)


def _line(row: dict[str, Any], keys: Sequence[str], least: dict[str, float]) -> str:
    cells = []
    for key in keys:
        mean, error = row["mean"][key], row["error"][key]
        text = f"{mean:.3f} ± {error:.3f}" if abs(mean) < 100 else f"{mean:.1f} ± {error:.1f}"
        cells.append(f"**{text}**" if mean == least.get(key) else text)
    return f"| {TITLES[row['model']]} | {row['way']} | {' | '.join(cells)} |"
