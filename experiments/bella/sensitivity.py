"""Which measure sees which miscalibration: table 2 of Bella et al. (2010) against simulation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from calibrant import metrics

from .distortions import TYPES, Type

SEES, PARTLY, BLIND = "sees", "partly", "blind"
_CLEAR = 4.0  # standard errors

# Columns of table 2: calibration measures, partially sensitive ones, insensitive ones.
CHAPTER: dict[str, dict[str, str]] = {
    "CD": {
        "macro-averaged accuracy": SEES,
        "proportion of classes": SEES,
        "accuracy": PARTLY,
        "mean F-measure": PARTLY,
        "AUC": BLIND,
        "MSEp": BLIND,
        "LogLoss": BLIND,
    },
    "CP": {
        "MSEp": SEES,
        "LogLoss": SEES,
        "CalBin": SEES,
        "CalLoss, hull": SEES,
        "CalLoss, distinct scores": SEES,
        "CalLoss as printed": SEES,
        "AUC": BLIND,
        "accuracy": BLIND,
        "mean F-measure": BLIND,
    },
    "RD": {
        "average error": SEES,
        "average error along the predictions": SEES,
        "relative error, mean ratio": SEES,
        "relative error, relative MSE": SEES,
        "MSEr": PARTLY,
        "MAE": PARTLY,
    },
    "RP": {
        "Anderson-Darling": SEES,
        "average error": BLIND,
        "relative error, mean ratio": BLIND,
        "relative error, relative MSE": BLIND,
        "MSEr": BLIND,
        "MAE": BLIND,
    },
}
WHY = {
    ("CD", "macro-averaged accuracy"): "it is largest where more of the rare class are predicted than there are, and "
    "rises on the way there",
    ("CP", "CalLoss as printed"): "without the square the sum collapses to mean p - share: blind to what leaves the "
    "mean where it is",
    (
        "RD",
        "average error",
    ): "as a whole it is 0 for predictions that are stretched or shrunk about the mean; along the predictions it sees",
    ("RD", "relative error, mean ratio"): "it is above 1 for the right predictions E(y | x) where y varies, and nearer "
    "to 1 for slightly low ones",
    (
        "RD",
        "MSEr",
    ): "it is the relative MSE times the variance of y, which no prediction changes: the two belong in one column",
}


@dataclass(frozen=True)
class Verdict:
    """What a measure made of each distortion, in standard errors; above 0 it got worse."""

    scores: dict[str, float]

    @property
    def word(self) -> str:
        """Worse for every distortion, unchanged by all, or neither."""
        values = np.array(list(self.scores.values()))
        if (values > _CLEAR).all():
            return SEES
        return BLIND if (np.abs(values) <= _CLEAR).all() else PARTLY


def verdicts(kind: Type, draws: int) -> dict[str, Verdict]:
    """Paired changes of every measure, over simulated sets."""
    changes: dict[str, dict[str, list[float]]] = {}
    for draw in range(draws):
        rows = kind.draw(np.random.default_rng([draw, 7]))
        found = {name: kind.measure(*distort(*rows)) for name, distort in kind.distortions.items()}  # type: ignore[misc]
        right = found.pop("right")
        for distortion, measures in found.items():
            for name, value in measures.items():
                changes.setdefault(name, {}).setdefault(distortion, []).append(value - right[name])
    return {name: Verdict({key: _in_errors(np.array(x)) for key, x in each.items()}) for name, each in changes.items()}


def _in_errors(changes: np.ndarray) -> float:
    """Mean over its standard error; 0 where nothing but rounding changed."""
    if np.abs(changes).max() <= 1e-9:
        return 0.0
    return float(changes.mean() / (changes.std(ddof=1) / np.sqrt(len(changes))))


def conditions(rows: int) -> Iterator[tuple[bool, str]]:
    """What the chapter says beside its table: pure measures, and when the blind ones stay blind."""
    rng = np.random.default_rng(11)
    p = expit(rng.normal(-2.0, 1.5, rows))
    y = (rng.random(rows) < p).astype(int)
    both = metrics.class_summary(y, {"sharp": p, "prior": np.full(rows, y.mean())})
    yield True, f"\nall calibrated: {'':22s}{'sharp':>9s}{'floor':>9s}{'prior':>9s}"
    for key in ("calbin", "calloss", "calloss_scores"):
        line = both[key]["sharp"], both[f"{key}_floor"]["sharp"], both[key]["prior"]
        yield True, f"{key:38s}" + "".join(f"{value:9.4f}" for value in line)
    pure = both["calbin"]["prior"] < 1e-9 and both["calloss"]["sharp"] < 3 * both["calloss_floor"]["sharp"]
    yield bool(pure), "CalBin and CalLoss by the hull are pure: at their floors for both, the useless prior included"
    same = abs(both["calloss_scores"]["sharp"] - both["mse_p"]["sharp"]) < 1e-12
    yield bool(same), "DIFFERS: CalLoss by the chapter's segments is no pure measure: all scores differ, and it is MSEp"
    moved = expit(logit(p) + 1)
    with_it, left = ((moved > u) == (y == 1) for u in (expit(1.0), 0.5))
    plain = np.mean((p > 0.5) == (y == 1))
    kept = np.mean(with_it) == plain != np.mean(left)
    text = f"accuracy {plain:.4f}, probabilities too high: {np.mean(with_it):.4f} if the threshold moves along, else "
    yield bool(kept), f"{text}{np.mean(left):.4f}: the condition that the chapter states is needed"


def table(draws: int) -> Iterator[tuple[bool, str]]:
    """Lines, and whether each is as the chapter has it or differs as we say and for our reason."""
    for code, kind in TYPES.items():
        wrong = [name for name in kind.distortions if name != "right"]
        yield True, f"\n{code}  {kind.name}"
        yield True, f"{'':38s}{'chapter':>9s}{'ours':>9s}  change in standard errors: {', '.join(wrong)}"
        found = verdicts(kind, draws)
        for name, chapter in CHAPTER[code].items():
            ours = found[name]
            why = WHY.get((code, name))
            agrees = ours.word == chapter
            tail = "" if agrees else f"  DIFFERS: {why or 'for no reason that is known'}"
            scores = " ".join(f"{value:+8.1f}" for value in ours.scores.values())
            yield agrees == (why is None), f"{name:38s}{chapter:>9s}{ours.word:>9s}  {scores}{tail}"
