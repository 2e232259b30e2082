"""Look at forecasts and outcomes from every side: stages, measures, groups, worst rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..adapters.class_scores import ClassScores
from ..calibration.contract import Beside
from ..calibration.feature_table import features_of
from ..calibration.labels import labels_of, rows_by_label
from ..distributions import Distribution
from ..metrics.catalogue import CALIBRATION, MEASURES, Measured, measures_of
from ..metrics.evaluation import ClassEvaluation, Evaluation
from ..select.candidates import named, ranks_of, see_features
from ..select.comparison import NONE, Comparison
from ..select.trial import Trial
from .bins import conditional_bins, time_bins
from .deciding import decide
from .fingerprint import fingerprint
from .result import Group, Result, Table, WorstRow
from .segments import wrong_segments
from .sides import Sides, mean_surplus, surplus
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
    axis: Any = None,
    cv: int = 5,
    progress: Progress | None = None,
    **beside: Unpack[Beside],
) -> Result:
    """All that a report shows about forecasts and what calibrators, cross-validated, make of them.

    Parameters
    ----------
    forecasts : Distribution, ClassScores or point predictions (n,)
    y : array-like (n,)
    candidates : calibrators by name, "quick", optional
        Which to try; every sensible one if None, only those that are fitted at once if "quick".
    sample_weight : array-like (n,), optional
    axis : array-like (n,), optional
        Time, say. Splits then follow its order: each fold is calibrated by the rows before it.
    cv : int, default 5
    progress : callable, optional
        Called with a word before each step of the work.
    groups : array-like (n,), or dict of such columns, optional
        Labels to break the measures down by, each column on its own. One correction for all competes with one a group,
        by all columns together.
    X : array-like or frame (n, d), optional
        Features, for the candidates that take them and for the segments in which forecasts are wrong (see
        :func:`~calibrant.find_segments`); the result keeps those of its rows.

    Examples
    --------
    >>> from calibrant import Normal, QuantileCalibrator
    >>> mu, noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> analyse(Normal(mu, 0.5), mu + noise, candidates={"quantile": QuantileCalibrator()}).verdict
    'Your 90 % intervals contain 57 % of outcomes; after calibration 90 %. The NLL falls by 0.874 nats, to 1.443.'
    """
    columns = _columns(beside.pop("groups", None), len(forecasts))
    joined = joint_labels(*columns.values()) if columns else None
    options: Beside = {"time": axis, **beside, "groups": joined}
    trial = Trial.of(forecasts, y, sample_weight=sample_weight, cv=cv, **options)
    facts = {"grouped": bool(columns), "features": trial.X is not None, "ordered": trial.time is not None}
    competitors = named(candidates, trial.forecasts, **facts)
    found = trial.out_of_fold(competitors, _by_name(list(competitors), len(trial.splits), progress))
    evaluated = {name: trial.evaluated(made) for name, made in found.made.items()}
    ranks = ranks_of(evaluated, competitors)
    comparison = replace(trial.compared(evaluated), left_out=found.left_out, ranks=ranks)
    chosen = comparison.chosen
    sides = Sides(trial, evaluated.get(NONE, evaluated[chosen]), evaluated[chosen], NONE in evaluated)
    looked = _looked_at(sides, found.made, comparison, columns)
    return replace(
        looked,
        calibrator=None if chosen == NONE else trial.fitted(competitors[chosen]),
        notes=[*comparison.notes, *_unseen(trial, competitors), *_notes(trial, columns, isinstance(candidates, str))],
        rows=len(forecasts),
    )


def _looked_at(sides: Sides, made: dict[str, Any], comparison: Comparison, columns: dict[str, Any]) -> Result:
    """What there is to say of the two sides."""
    trial, chosen = sides.trial, comparison.chosen
    seen = trial.rows[trial.tested]
    features = features_of(trial.X, trial.tested)
    by_group = _groups({name: labels[seen] for name, labels in columns.items()}, sides)
    bins = conditional_bins(sides), time_bins(sides)
    measures = dict(zip(comparison.names, comparison.measures, strict=True))
    return Result(
        task=trial.task,
        y=trial.y[trial.tested],
        stages=made,
        comparison=comparison,
        verdict=verdict(trial.task, measures, chosen, by_group),
        decision=decide(sides, comparison, by_group, bins),
        weights=None if (sides.weights == 1).all() else sides.weights,
        axis=None if trial.time is None else trial.time[trial.tested],
        classes=trial.classes,
        groups=by_group,
        by_class=[] if trial.classes is None else _by_class(sides),
        conditional=bins[0],
        over_time=bins[1],
        worst=_worst(sides, made.get(NONE, made[chosen])),
        fingerprint=fingerprint(trial.forecasts, trial.y, trial.weights, trial.groups, trial.time),
        made=date.today().isoformat(),
        features=features,
        segments=wrong_segments(sides, features),
    )


def _unseen(trial: Trial, competitors: dict[str, Any]) -> list[str]:
    unused = trial.X is not None and not see_features(competitors)
    return ["none of the calibrators that were tried uses the features"] if unused else []


def _notes(trial: Trial, columns: dict[str, Any], quick: bool) -> list[str]:
    """What was not looked at."""
    said, tested = [], len(np.unique(trial.tested))
    if trial.time is not None and tested < len(trial):
        said.append(f"the first {len(trial) - tested} of {len(trial)} rows in time are learned from, not measured")
    small = sum(_too_small(labels, trial) for labels in columns.values())
    if small:
        said.append(f"{small} groups have fewer than {FEWEST_IN_GROUP} rows and are not looked at one by one")
    if quick:
        said.append(f"a quick look: only calibrators that are fitted at once, on {len(trial.splits)} folds")
    return said


def _too_small(labels: Any, trial: Trial) -> int:
    """Number of groups that have too few rows."""
    seen = trial.tested
    found = rows_by_label(labels[trial.rows[seen]])
    return sum(trial.weights[seen][rows].sum() < FEWEST_IN_GROUP for rows in found.values())


def _by_name(names: list[str], splits: int, progress: Progress | None) -> Any:
    """Progress by fits as progress by candidates."""
    if progress is None:
        return None
    progress(names[0])
    return lambda done, of: progress(names[min(done // splits, len(names) - 1)]) if done % splits == 0 else None


def _columns(groups: Any, rows: int) -> dict[str, Any]:
    """Checked labels by the beginning of the groups' names."""
    if groups is None:
        return {}
    if isinstance(groups, Mapping):
        return {f"{name} = ": labels_of(column, rows) for name, column in groups.items()}
    return {"": labels_of(groups, rows)}


def joint_labels(*columns: Any) -> Any:
    """Groups by several columns of labels at once.

    >>> joint_labels(np.array(["a", "b"], dtype=object), np.array(["x", "x"], dtype=object))
    array(['a / x', 'b / x'], dtype=object)
    """
    if len(columns) == 1:
        return columns[0]
    return np.array([" / ".join(map(str, row)) for row in zip(*columns, strict=True)], dtype=object)


def _groups(columns: dict[str, Any], sides: Sides) -> list[Group]:
    """Measures by group, worst calibrated first; groups of a few rows say nothing."""
    first, second = sides.losses
    found = []
    more, spread = surplus(sides.before)
    for start, labels in columns.items():
        for name, rows in rows_by_label(labels).items():
            w = sides.weights[rows]
            if w.sum() < FEWEST_IN_GROUP:
                continue
            before, after = (_values(sides.trial.task, side[rows], w) for side in (sides.before, sides.after))
            harm = _rise(second[rows] - first[rows], w)
            off = mean_surplus(more[rows], spread[rows], w)
            found.append(Group(f"{start}{name}", float(w.sum()), before, after, *harm, off))
    key = CALIBRATION[sides.trial.task]
    return sorted(found, key=lambda group: -group.before[key].value if key in group.before else 0.0)


def _values(task: str, evaluation: Evaluation, weights: Array) -> Table:
    """The measures of a group, with intervals where they are means over its rows."""
    found = {}
    for measure in measures_of(task):
        try:
            with np.errstate(invalid="ignore"):
                known = measure.is_mean
                found[measure.key] = (
                    measure.measured(evaluation, weights) if known else _alone(measure.of(evaluation, weights))
                )
        except (TypeError, ValueError):
            continue
    return found


def _alone(value: float) -> Measured:
    """A value without an interval."""
    return Measured(value, np.nan, np.nan, np.nan)


def _rise(differences: Array, weights: Array) -> tuple[float, float]:
    """Mean of the differences of losses, and its standard error."""
    with np.errstate(invalid="ignore"):
        mean = float(np.average(differences, weights=weights))
        spread = float(np.average(np.square(differences - mean), weights=weights))
    return mean, float(np.sqrt(spread / max(weights.sum() - 1, 1)))


def _by_class(sides: Sides) -> list[Group]:
    """Each class against the rest, worst calibrated first."""
    found, w = [], sides.weights
    for k, label in enumerate(np.asarray(sides.trial.classes)):
        before, after = (_of_class(side, k, w) for side in (sides.before, sides.after))
        came = sides.before.codes == k  # type: ignore[union-attr]
        found.append(Group(str(label), float(w[came].sum()), before, after))
    return sorted(found, key=lambda group: -group.before["ece"].value)


def _of_class(side: Any, k: int, weights: Array) -> Table:
    """How often a class came, how often it was forecast, and how far off its forecasts are."""
    one = ClassEvaluation(
        np.column_stack([1 - side.p[:, k], side.p[:, k]]), (side.codes == k).astype(int), np.arange(2)
    )
    values = {
        "share": np.average(side.codes == k, weights=weights),
        "mean_forecast": np.average(side.p[:, k], weights=weights),
        "ece": MEASURES["ece"].of(one, weights),
    }
    return {name: _alone(float(value)) for name, value in values.items()}


def _worst(sides: Sides, before: Any) -> list[WorstRow]:
    """The rows that the forecasts, as they came, found most improbable."""
    first, second = sides.losses
    trial = sides.trial
    seen = trial.rows[trial.tested]
    order = [int(i) for i in np.argsort(-first, kind="stable")]
    _, once = np.unique(seen[order], return_index=True)
    rows = [order[i] for i in sorted(once)[:N_WORST]]
    y = trial.y[trial.tested]
    found = []
    for i, text in zip(rows, _forecasts_in_words(before[rows], trial.classes), strict=True):
        group = "" if trial.groups is None else str(trial.groups[trial.tested[i]])
        when = None if trial.time is None else _moment(trial.time[trial.tested[i]])
        found.append(WorstRow(int(seen[i]), y[i].item(), text, float(first[i]), float(second[i]), group, when))
    return found


def _moment(time: Any) -> Any:
    """A time as people write it."""
    if time.dtype.kind != "M":
        return time.item()
    text = str(time.astype("datetime64[s]"))
    return text.removesuffix("T00:00:00").replace("T", " ")


def _forecasts_in_words(forecasts: Any, classes: NDArray[Any] | None) -> list[str]:
    """Median and 90 % interval, or the most probable classes."""
    if classes is None:
        low, high = forecasts.interval(0.9).T
        middle = forecasts.median()
        return [f"{m:.4g} (90 %: {a:.4g} to {b:.4g})" for m, a, b in zip(middle, low, high, strict=True)]
    p = forecasts.values
    first = np.argsort(-p, axis=1, kind="stable")[:, :N_CLASSES]
    return [", ".join(f"{classes[k]} {row[k]:.3g}" for k in ks) for row, ks in zip(p, first, strict=True)]
