"""Calibrators side by side, by how probable they made what happened in rows they had not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from .._checks import Array, count
from .candidates import named, task_of
from .problem import Problem, read_forecasts

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Cross-validated losses of calibrators, in nats; smaller is better.

    Attributes
    ----------
    names : tuple of str
        "none" first, then in the order given: the simplest first.
    loss : ndarray (C,)
        Mean log loss (classes) or negative log density (distributions) of held-out rows.
    error : ndarray (C,)
        Standard error of the difference from the best one's loss.
    """

    names: tuple[str, ...]
    loss: Array
    error: Array

    @property
    def best(self) -> str:
        """Name of the candidate of least loss."""
        return self.names[int(np.argmin(self.loss))]

    @property
    def chosen(self) -> str:
        """Name of the first candidate that is not worse than the best by more than one standard error.

        What is within the noise of each other is decided by simplicity (Breiman et al. 1984, §3.4.3).
        """
        return self.names[int(np.argmax(self.loss <= self.loss.min() + np.nan_to_num(self.error)))]

    def __str__(self) -> str:
        wide = max(len(name) for name in self.names)
        above = self.loss - self.loss.min()
        lines = [f"{'':{wide}s} {'loss':>9s} {'above best':>11s} {'± s.e.':>8s}"]
        for i in np.argsort(self.loss, kind="stable"):
            lines.append(f"{self.names[i]:{wide}s} {self.loss[i]:9.4f} {above[i]:11.4f} {self.error[i]:8.4f}")
        return "\n".join(lines)


def compare(
    candidates: Any,
    forecasts: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    cv: Any = 5,
    task: str = "auto",
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> Comparison:
    r"""Compare calibrators by the cross-validated logarithmic score; "none" always competes.

    .. math:: \frac{1}{\sum_t w_t} \sum_t -w_t \ln \hat p^{(-k(t))}(y_t)

    where :math:`\hat p^{(-k)}` was fitted without the fold of row t. The rows are forecasts that a model already made.

    Parameters
    ----------
    candidates : dict of calibrators by name, list of calibrators, or None
        None: every sensible one for such forecasts.
    forecasts : class scores (n,) or (n, K), or what `as_distribution` takes
    y : array-like (n,)
        Labels, or outcomes.
    sample_weight : array-like (n,), optional
        Frequencies; equal rows are never on both sides of a split.
    cv : int or splitter, default 5
        Number of folds, at random and with equal shares of the classes, or a splitter over the rows.
    task : {"auto", "classification", "regression"}
        What plain arrays mean.
    random_state : int, optional
        Of the folds; None always takes the same.
    n_jobs : int, optional
        Fits at a time.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from calibrant import PlattCalibrator, TemperatureCalibrator
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(0, 1, 2000)
    >>> y = rng.random(2000) < 1 / (1 + np.exp(-odds))
    >>> overconfident = 1 / (1 + np.exp(-3 * odds))
    >>> compare([TemperatureCalibrator(), PlattCalibrator()], overconfident, y).chosen
    'TemperatureCalibrator'
    """
    if task == "auto":
        task = task_of(candidates)
    table = read_forecasts(forecasts, y, task)
    problem = Problem.of(table, y, sample_weight)
    return compared(named(candidates, table), problem, cv, random_state, n_jobs)


def compared(
    candidates: dict[str, Any],
    problem: Problem,
    cv: Any = 5,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> Comparison:
    """The comparison of named candidates on a checked problem."""
    splits = folds(problem, cv, random_state)
    work = [delayed(_held_out)(candidate, problem, split) for candidate in candidates.values() for split in splits]
    parts = Parallel(n_jobs=n_jobs)(work)
    tested = np.concatenate([test for _, test in splits])
    weights = problem.weights[tested] / problem.weights[tested].sum()
    losses = np.array([np.concatenate(parts[i : i + len(splits)]) for i in range(0, len(parts), len(splits))])
    loss = losses @ weights
    with np.errstate(invalid="ignore"):  # where a probability of 0 came true the loss is infinite
        difference = losses - losses[np.argmin(loss)]
        spread = np.square(difference - (difference @ weights)[:, None]) @ weights
    return Comparison(tuple(candidates), loss, np.sqrt(spread / problem.weights[tested].sum()))


def _held_out(candidate: Any, problem: Problem, split: tuple[Rows, Rows]) -> Array:
    train, test = split
    return problem.losses(problem.fitted(clone(candidate), train), test)


def folds(problem: Problem, cv: Any, random_state: int | None) -> Sequence[tuple[Rows, Rows]]:
    """Splits of the distinct rows: random ones with equal shares of the classes, or those of a splitter."""
    if hasattr(cv, "split"):
        return [
            (np.asarray(train), np.asarray(test)) for train, test in cv.split(np.zeros((len(problem), 1)), problem.y)
        ]
    n_folds = min(count(cv, "cv", least=2), len(problem))
    order = np.random.default_rng(0 if random_state is None else random_state).permutation(len(problem))
    if problem.classes is not None:  # the rows of a class one after another
        order = order[np.argsort(problem.y[order], kind="stable")]
    fold = np.empty(len(problem), dtype=np.intp)
    fold[order] = np.arange(len(problem)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
