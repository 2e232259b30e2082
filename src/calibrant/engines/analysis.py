"""Look at forecasts and outcomes from every side: stages, measures, groups, worst rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..adapters.class_scores import ClassScores
from ..calibration.labels import labels_of, rows_by_label
from ..distributions import Distribution
from ..regression import ResidualCalibrator
from ..select.candidates import named
from ..select.comparison import NONE, Comparison
from .folds import Cases
from .measures import CALIBRATION, common_loss, losses, measured, of_class, reaches, values
from .result import BEFORE, Group, Result, WorstRow
from .verdict import verdict

FEWEST_IN_GROUP = 10
N_WORST = 10
N_CLASSES = 3  # named in a forecast
Progress = Callable[[str], Any]


def analyse(
    forecasts: Distribution | ClassScores | Array,
    y: Any,
    *,
    candidates: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    axis: Any = None,
    cv: int = 5,
    progress: Progress | None = None,
) -> Result:
    """All that a report shows about forecasts and what calibrators, cross-validated, make of them.

    Parameters
    ----------
    forecasts : Distribution, ClassScores or point predictions (n,)
    y : array-like (n,)
    candidates : calibrators by name, optional
        Which to try; every sensible one if None.
    sample_weight : array-like (n,), optional
    groups : array-like (n,), or dict of such columns, optional
        Labels to break the measures down by, each column on its own.
    axis : array-like (n,), optional
        Time, say. Splits then follow its order: each fold is calibrated by the rows before it.
    cv : int, default 5
    progress : callable, optional
        Called with a word before each step of the work.

    Examples
    --------
    >>> from calibrant import Normal, QuantileCalibrator
    >>> mu, noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> analyse(Normal(mu, 0.5), mu + noise, candidates={"quantile": QuantileCalibrator()}).verdict
    'Your 90 % intervals contain 57 % of outcomes; after calibration 90 %. The NLL falls by 0.876 nats, to 1.442.'
    """
    cases = Cases.of(forecasts, y, sample_weight)
    labels = {name: column[cases.rows] for name, column in _columns(groups, len(forecasts)).items()}
    cases = replace(cases, groups=together(*labels.values()) if labels else None)
    along = None if axis is None else np.asarray(axis)[cases.rows]
    splits = cases.splits(cv, along)
    tested = np.concatenate([test for _, test in splits])
    outcomes, weights = cases.y[tested], cases.weights_of(tested)
    competitors = _competitors(candidates, cases.forecasts)
    stages, notes = _stages(cases, competitors, splits, progress)
    measures = {stage: measured(cases.task, outcomes, laws, weights) for stage, laws in stages.items()}
    loss = common_loss(cases.task, measures)
    each = np.array([losses(cases.task, outcomes, stage, loss) for stage in stages.values()])
    rows = np.ones(len(outcomes)) if weights is None else weights
    names = [NONE if stage == BEFORE else stage for stage in stages]
    comparison = Comparison.of(names, each, rows, rows.sum())
    chosen = BEFORE if comparison.chosen == NONE else comparison.chosen
    sides = (cases.task, outcomes, stages.get(BEFORE, stages[chosen]), stages[chosen])
    return Result(
        task=cases.task,
        y=outcomes,
        stages=stages,
        chosen=chosen,
        measures=measures,
        verdict=verdict(cases.task, measures, chosen),
        weights=weights,
        axis=None if along is None else along[tested],
        classes=cases.classes,
        groups=_groups({name: column[tested] for name, column in labels.items()}, *sides, weights, cases.classes),
        by_class=[] if cases.classes is None else _by_class(cases.classes, *sides[1:], weights),
        worst=_worst(cases.rows[tested], *sides, cases.classes, loss),
        comparison=comparison,
        notes=notes,
        calibrator=None if chosen == BEFORE else cases.fitted(competitors[chosen]),
        rows=len(forecasts),
    )


def _stages(
    cases: Cases, competitors: dict[str, Any], splits: Any, progress: Progress | None
) -> tuple[dict[str, Any], list[str]]:
    """Cross-validated forecasts by stage, and notes about candidates that could not be fitted to these rows."""
    stages: dict[str, Any] = {}
    notes: list[str] = []
    for name, candidate in competitors.items():
        stage = BEFORE if name == NONE else name
        if progress is not None:
            progress(stage)
        try:
            stages[stage] = cases.out_of_fold(candidate, splits)
        except ValueError as reason:
            if len(competitors) <= 2:  # nothing else was asked for
                raise
            notes.append(f"{name} was left out: {reason}")
    if not stages:
        raise ValueError(notes[-1])
    return stages, notes


def _competitors(candidates: Any, forecasts: Any) -> dict[str, Any]:
    """Candidates by name, and "none" where forecasts are usable as they are: point predictions have no spread."""
    if not isinstance(forecasts, np.ndarray):
        return named(candidates, forecasts)
    chosen = named({"residual": ResidualCalibrator()} if candidates is None else candidates, forecasts)
    return {name: candidate for name, candidate in chosen.items() if name != NONE}


def _columns(groups: Any, rows: int) -> dict[str, Any]:
    """Checked labels by the beginning of the groups' names."""
    if groups is None:
        return {}
    if isinstance(groups, Mapping):
        return {f"{name} = ": labels_of(column, rows) for name, column in groups.items()}
    return {"": labels_of(groups, rows)}


def together(*columns: Any) -> Any:
    """Groups by several columns of labels at once.

    >>> together(np.array(["a", "b"], dtype=object), np.array(["x", "x"], dtype=object))
    array(['a / x', 'b / x'], dtype=object)
    """
    return (
        columns[0]
        if len(columns) == 1
        else np.array([" / ".join(map(str, row)) for row in zip(*columns, strict=True)], dtype=object)
    )


def _groups(
    columns: dict[str, Any],
    task: str,
    y: NDArray[Any],
    before: Any,
    after: Any,
    weights: Array | None,
    classes: NDArray[Any] | None,
) -> list[Group]:
    """Measures by group, worst calibrated first; groups of a few rows say nothing."""
    found = []
    for start, labels in columns.items():
        for name, rows in rows_by_label(labels).items():
            if len(rows) < FEWEST_IN_GROUP:
                continue
            w = None if weights is None else weights[rows]
            first, second = ((task, y[rows], forecasts[rows], w, classes) for forecasts in (before, after))
            size = float(len(rows) if w is None else w.sum())
            found.append(
                Group(f"{start}{name}", size, values(*first), values(*second), reaches(*first), reaches(*second))
            )
    return sorted(found, key=lambda group: -group.before.get(CALIBRATION[task], 0.0))


def _by_class(
    classes: NDArray[Any], y: NDArray[Any], before: Array, after: Array, weights: Array | None
) -> list[Group]:
    """Each class against the rest, worst calibrated first."""
    w = np.ones(len(y)) if weights is None else weights
    found = []
    for k, label in enumerate(classes):
        first, second = (of_class(y, label, forecasts[:, k], weights) for forecasts in (before, after))
        found.append(Group(str(label), float(w[y == label].sum()), first, second))
    return sorted(found, key=lambda group: -group.before["ECE"])


def _worst(
    numbers: NDArray[np.intp],
    task: str,
    y: NDArray[Any],
    before: Any,
    after: Any,
    classes: NDArray[Any] | None,
    loss: str,
) -> list[WorstRow]:
    """The rows that the forecasts, as they came, found most improbable."""
    first, second = (losses(task, y, side, loss) for side in (before, after))
    rows = np.argsort(-first, kind="stable")[:N_WORST]
    texts = _shown(before[rows], classes)
    return [
        WorstRow(int(numbers[i]), y[i].item(), text, float(first[i]), float(second[i]))
        for i, text in zip(rows, texts, strict=True)
    ]


def _shown(forecasts: Any, classes: NDArray[Any] | None) -> list[str]:
    """Median and 90 % interval, or the most probable classes."""
    if classes is None:
        low, high = forecasts.interval(0.9).T
        middle = forecasts.median()
        return [f"{m:.4g} (90 %: {a:.4g} to {b:.4g})" for m, a, b in zip(middle, low, high, strict=True)]
    first = np.argsort(-forecasts, axis=1, kind="stable")[:, :N_CLASSES]
    return [", ".join(f"{classes[k]} {row[k]:.3g}" for k in ks) for row, ks in zip(forecasts, first, strict=True)]
