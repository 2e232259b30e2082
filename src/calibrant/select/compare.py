"""Calibrators side by side, by how probable they made what happened in rows they had not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from .._checks import count
from .candidates import named, task_of
from .comparison import Comparison
from .measures import Rows, summarised
from .problem import Problem, read_forecasts

Numbers = NDArray[np.intp]
Split = tuple[Numbers, Numbers]
Progress = Callable[[int, int], Any]


def compare(
    candidates: Any,
    forecasts: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    time: Any = None,
    cv: Any = 5,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    r"""Compare calibrators by the cross-validated logarithmic score; "none" always competes.

    .. math:: \frac{1}{\sum_t w_t} \sum_t -w_t \ln \hat p^{(-k(t))}(y_t)

    where :math:`\hat p^{(-k)}` was fitted without the fold of row t. The rows are forecasts that a model already made.
    Beside it the other measures: CRPS, pinball loss, calibration error, A², sharpness; or Brier score and ECE.
    Several fits at a time: ``with joblib.parallel_config(n_jobs=2)``.

    Parameters
    ----------
    candidates : dict of calibrators by name, list of calibrators, or None
        None: every sensible one for such forecasts.
    forecasts : class scores (n,) or (n, K), or what `as_distribution` takes
    y : array-like (n,)
        Labels, or outcomes.
    sample_weight : array-like (n,), optional
        Frequencies; equal rows are never on both sides of a split.
    time : array-like (n,), optional
        Each fold is then calibrated by the rows before it.
    cv : int, pair of ints or splitter, default 5
        Number of folds, at random and with equal shares of the classes; folds and repetitions; or a splitter.
    random_state : int, optional
        Of the folds; None always takes the same.
    progress : callable, optional
        Called with the number of fits done and of all fits.

    Returns
    -------
    Comparison
        Prints as a table with a recommendation.

    Examples
    --------
    >>> from calibrant import TemperatureCalibrator
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(0, 1, 2000)
    >>> y = rng.random(2000) < 1 / (1 + np.exp(-odds))
    >>> overconfident = 1 / (1 + np.exp(-3 * odds))
    >>> compare([TemperatureCalibrator()], overconfident, y).chosen
    'TemperatureCalibrator'
    """
    table = read_forecasts(forecasts, y, task_of(candidates))
    problem = Problem.of(table, y, sample_weight, time=time)
    splits = time_splits(problem, cv) if time is not None else folds(problem, cv, random_state)
    return compared(named(candidates, table), problem, splits, progress)


def compared(
    candidates: dict[str, Any],
    problem: Problem,
    splits: Sequence[Split],
    progress: Progress | None = None,
    *,
    full: bool = True,
) -> Comparison:
    """The comparison of named candidates on a checked problem, with all measures or only the loss."""
    fits = [(candidate, problem, split, full) for candidate in candidates.values() for split in splits]
    work = [delayed(_held_out)(*fit) for fit in fits]
    parts: list[Rows] = []
    for part in Parallel(return_as="generator")(work):
        parts.append(part)
        if progress is not None:
            progress(len(parts), len(work))
    weights = [problem.weights[test] for _, test in splits]
    each = [parts[i : i + len(splits)] for i in range(0, len(parts), len(splits))]
    losses = np.array([np.concatenate([rows["loss"] for rows in folds]) for folds in each])
    together = np.concatenate(weights)
    found = Comparison.of(tuple(candidates), losses, together, together.sum() / _times(splits))
    pairs = [list(zip(folds, weights, strict=True)) for folds in each]
    return replace(found, measures=tuple(summarised(problem.task, pair) for pair in pairs) if full else ())


def _held_out(candidate: Any, problem: Problem, split: Split, full: bool) -> Rows:
    train, test = split
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of small folds
        return problem.measured(problem.fitted(clone(candidate), train), test, full=full)


def _times(splits: Sequence[Split]) -> float:
    """How often a row is tested, on average over those that are."""
    tested = np.concatenate([test for _, test in splits])
    return len(tested) / len(np.unique(tested))


# ---- splits ----
def folds(problem: Problem, cv: Any, random_state: int | None) -> list[Split]:
    """Splits of the rows: random ones with equal shares of the classes, once or repeated, or those of a splitter."""
    if hasattr(cv, "split"):
        return list(cv.split(np.zeros((len(problem), 1)), problem.y))
    number, repeats = cv if isinstance(cv, tuple) else (cv, 1)
    number = min(count(number, "cv", least=2), len(problem))
    rng = np.random.default_rng(0 if random_state is None else random_state)
    return [split for _ in range(count(repeats, "cv[1]")) for split in _random(problem, number, rng)]


def _random(problem: Problem, number: int, rng: np.random.Generator) -> list[Split]:
    order = rng.permutation(len(problem))
    if problem.classes is not None:  # the rows of a class one after another
        order = order[np.argsort(problem.y[order], kind="stable")]
    fold = np.empty(len(problem), dtype=np.intp)
    fold[order] = np.arange(len(problem)) % number
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(number)]


def time_splits(problem: Problem, cv: Any) -> list[Split]:
    """Blocks of rows in order of time, each after its training rows: all that come before."""
    if hasattr(cv, "split"):
        return list(cv.split(np.zeros((len(problem), 1)), problem.y))
    number = count(cv, "cv")
    if len(problem) <= number:
        raise ValueError(f"`cv` must be less than the number of rows; got {number} for {len(problem)} rows.")
    edges = np.linspace(len(problem) / (number + 1), len(problem), number + 1).round().astype(int)
    return [(np.arange(a), np.arange(a, b)) for a, b in pairwise(edges)]
