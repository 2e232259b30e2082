"""What is looked at in the forecasts as they came, each against two thresholds: to warn, and to fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, kolmogorov, ndtri

from .._checks import Array
from ..metrics._inputs import average, level_grid
from ..metrics.catalogue import CALIBRATION, LOSS, MEASURES, label
from ..metrics.classes.ece import binned_error
from ..metrics.evaluation import ClassEvaluation, LawEvaluation
from ..metrics.quantile_calibration import observed_levels
from .decision import Check, Status
from .law_causes import Intervals
from .result import Bin, Group, Table
from .sides import COVERAGE, Sides, mean_surplus, surplus
from .wording import percent, points

ROWS = (100, 20)  # fewer: warn, fail
GAP = (0.02, 0.05)  # of coverage, of calibration, of the share of a class
FAR_GAP = (0.01, 0.03)  # of the coverage of 99 % intervals
MEDIAN_GAP = (0.05, 0.10)
PART_GAP = (0.05, 0.10)  # of groups, of bins, and between blocks of time
GAIN = (0.05, 0.5)  # nats
SURE = 2.5  # standard errors beyond which a gap is no noise
_BRIDGE = 0.75  # mean distance of a Brownian bridge from 0 that is exceeded once in 100 times
_DRAWS = 100


@dataclass(frozen=True)
class Found:
    """A gap, what noise alone would make of it, and how to say it."""

    gap: float
    noise: float
    words: str

    def check(self, key: str, name: str, thresholds: tuple[float, float]) -> Check:
        """Warn, or fail, where the gap is beyond its noise and beyond the threshold."""
        warn, fail = thresholds
        status: Status = "pass"
        if self.gap > self.noise and self.gap > warn:
            status = "fail" if self.gap > fail else "warn"
        noisy = "" if self.gap <= warn or self.gap > self.noise else ", which is within its noise"
        limits = f"(warns beyond {100 * warn:g}, fails beyond {100 * fail:g} percentage points)"
        return Check(key, name, status, self.gap, warn, f"{self.words}{noisy} {limits}.")


def checks(sides: Sides, tables: tuple[Table, Table], parts: tuple[list[Group], list[Bin], list[Bin]]) -> list[Check]:
    """All checks of a task.

    Parameters
    ----------
    sides : Sides
    tables : pair of dict
        The measures before and after.
    parts : groups, bins by what was predicted, bins by time
    """
    groups, conditional, over_time = parts
    own = _of_laws(sides) if isinstance(sides.before, LawEvaluation) else _of_classes(sides)
    found = [_rows(sides), *own, _worst_part("groups", "every group", _of_groups(groups))]
    found += [_worst_part("conditional", "every level and width", _of_bins(sides, conditional))]
    found += [_drift(sides, over_time), _gain(sides, tables)]
    return [check for check in found if check is not None]


def _rows(sides: Sides) -> Check:
    n = sides.trial.n_tested
    status: Status = "pass" if n >= ROWS[0] else "warn" if n >= ROWS[1] else "fail"
    words = f"{n:,.10g} rows were looked at (warns below {ROWS[0]}, fails below {ROWS[1]})."
    return Check("rows", "enough rows", status, n, ROWS[0], words)


# ---- laws ----
def _of_laws(sides: Sides) -> list[Check]:
    evaluation, n = sides.before, sides.trial.n_tested
    found = []
    for share, key, thresholds in ((COVERAGE, "coverage_90", GAP), (0.99, "tails", FAR_GAP)):
        held = average(evaluation.inside(share), sides.weights)  # type: ignore[union-attr]
        noise = SURE * float(np.sqrt(share * (1 - share) / n))
        words = f"{percent(share)} intervals hold {percent(held, 1)} of outcomes"
        found.append(Found(abs(held - share), noise, words).check(key, f"{percent(share)} intervals", thresholds))
    return [found[0], _levels(sides), found[1], _median(sides)]


def _levels(sides: Sides) -> Check:
    grid = level_grid(10)
    scores = sides.before.scores  # type: ignore[union-attr]
    gaps = grid - observed_levels(scores, grid, sides.weights).frequency[0]
    mean, squared = float(np.abs(gaps[:-1]).mean()), float(np.square(gaps).sum())
    name = label(CALIBRATION["regression"])
    words = f"observed shares are {points(mean)} from promised ones on average ({name} {squared:.2g})"
    noise = _BRIDGE / float(np.sqrt(sides.trial.n_tested))
    return Found(mean, noise, words).check("calibration", "calibration at all levels", GAP)


def _median(sides: Sides) -> Check:
    below = average(Intervals.of(*sides.before.scores).below(0.0), sides.weights)  # type: ignore[union-attr]
    noise = SURE * 0.5 / float(np.sqrt(sides.trial.n_tested))
    words = f"{percent(below, 1)} of outcomes are below the predicted median"
    return Found(abs(below - 0.5), noise, words).check("bias", "neither too high nor too low", MEDIAN_GAP)


# ---- classes ----
def _of_classes(sides: Sides) -> list[Check]:
    evaluation: ClassEvaluation = sides.before  # type: ignore[assignment]
    error = MEASURES["ece"].of(evaluation, sides.weights)
    words = f"probabilities are off by {points(error)} on average"
    noise = _noise_of_ece(evaluation, sides.weights, sides.trial.n_tested)
    found = Found(error, noise, words).check("calibration", "calibration of probabilities", GAP)
    return [found, _shares(evaluation, sides.weights, sides.trial.n_tested)]


def _noise_of_ece(evaluation: ClassEvaluation, weights: Array, n: float) -> float:
    """The ECE that 1 of 100 perfect forecasters exceeds, from labels drawn with exactly these probabilities."""
    events, rng = evaluation.events, np.random.default_rng(0)
    draws = [
        binned_error(type(events)(events.p, rng.random(len(events.p)) < events.p, weights), "width", 15, 1, False)
        for _ in range(_DRAWS)
    ]
    total = weights.sum()
    copies = float(np.sqrt(total / np.square(weights).sum() * total / n))  # weight 2 is two rows with a label each
    return float(np.mean(draws) + ndtri(0.99) * np.std(draws)) * copies


def _shares(evaluation: ClassEvaluation, weights: Array, n: float) -> Check:
    total = weights.sum()
    came = np.bincount(evaluation.codes, weights, evaluation.p.shape[1]) / total
    said, spread = weights @ evaluation.p / total, weights @ (evaluation.p * (1 - evaluation.p)) / total
    noise = ndtri(1 - 0.005 / len(came)) * np.sqrt(spread / n)
    gaps = np.abs(said - came)
    k = int(np.argmax(np.where(gaps > noise, gaps, gaps * 1e-3)))
    words = f"class {evaluation.classes[k]} came in {percent(came[k], 1)} of rows, forecast were {percent(said[k], 1)}"
    return Found(float(gaps[k]), float(noise[k]), words).check("bias", "no class too often or too rarely", GAP)


# ---- parts of the rows ----
Part = tuple[str, float, float]  # in words, gap, its standard error if all is well


def _of_groups(groups: Sequence[Group]) -> list[Part]:
    return [(f"of {group.name}", *group.surplus) for group in groups]


def _of_bins(sides: Sides, bins: Sequence[Bin]) -> list[Part]:
    found = []
    for part in bins:
        error = float(np.sqrt(COVERAGE * (1 - COVERAGE) / part.rows))
        what = "predicted median" if part.by == "level" else "predicted width"
        found.append((f"with a {what} of {part.low:.3g} to {part.high:.3g}", part.before.value - COVERAGE, error))
    return found


def _worst_part(key: str, name: str, parts: Sequence[Part]) -> Check | None:
    """The part whose gap is largest among those beyond the noise of that many parts."""
    if not parts:
        return None
    far = float(ndtri(1 - 0.005 / len(parts)))
    sure = [part for part in parts if abs(part[1]) > far * part[2]]
    what, gap, error = max(sure or parts, key=lambda part: abs(part[1]))
    words = f"the worst of {len(parts)} parts, rows {what}, are {points(abs(gap))} off what was promised"
    return Found(abs(gap), far * error, words).check(key, name, PART_GAP)


def _drift(sides: Sides, bins: Sequence[Bin]) -> Check | None:
    """Whether what came true, less what was promised, is the same in all blocks of time."""
    if len(bins) < 2:
        return None
    values = np.array([part.before.value for part in bins])
    rows = np.array([part.rows for part in bins])
    mean = average(values, rows)
    _, error = mean_surplus(*surplus(sides.before), sides.weights)
    spread = error * np.sqrt(rows.sum())  # of one row
    if isinstance(sides.before, LawEvaluation):
        spread = max(np.sqrt(mean * (1 - mean)), np.sqrt(0.5 / rows.sum()))
    by_chance = _chance_of_drift(rows, (values - mean) / spread)
    gap = float(values.max() - values.min())
    words = f"between blocks of time coverage differs by up to {points(gap)}"
    if not isinstance(sides.before, LawEvaluation):
        words = f"between blocks of time the error of forecasts differs by up to {points(gap)}"
    noise = gap if by_chance > 0.01 else 0.0
    return Found(gap, noise, words).check("drift", "the same at all times", PART_GAP)


def _chance_of_drift(rows: Array, values: Array) -> float:
    """How often calm blocks differ as much by chance: in any way (chi square), or from one time on (a bridge)."""
    any_way = chdtrc(len(rows) - 1, np.dot(rows, np.square(values)))
    farthest = np.abs(np.cumsum(rows * values)).max() / np.sqrt(rows.sum())
    return float(2 * min(any_way, kolmogorov(farthest)))


def _gain(sides: Sides, tables: tuple[Table, Table]) -> Check | None:
    """What calibration gains of rows that it had not seen; nothing where it is not recommended."""
    if not sides.usable:
        return None
    key = LOSS[sides.trial.task]
    gain = tables[0][key].value - tables[1][key].value
    status: Status = "pass" if not gain > GAIN[0] else "fail" if gain > GAIN[1] else "warn"
    words = (
        f"calibration makes the {label(key)} {max(gain, 0):.3g} nats smaller (warns beyond {GAIN[0]:g}, fails beyond "
    )
    return Check("gain", "nothing left to gain", status, gain, GAIN[0], f"{words}{GAIN[1]:g}).")
