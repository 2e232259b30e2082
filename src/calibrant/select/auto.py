"""The calibrator that tries the others."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from joblib import parallel_config
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..adapters.class_scores import ClassScores
from ..calibration.soundness import check_law_forecasts
from ..calibration.threads import one_thread
from ..classification.soundness import check_class_forecasts, example_scores
from .candidates import named, task_of
from .compare import compared, folds
from .comparison import Comparison
from .problem import Problem, read_forecasts

FEWEST = 20  # rows, with their weights, below which nothing can be told apart


class AutoCalibrator(BaseEstimator):
    """The calibrator whose cross-validated logarithmic score is best, "none" competing, fitted to all rows.

    "None" is taken if it is within one standard error of the best. No method wins everywhere. It takes what the others
    take, class scores or distributions, and is used like them.

    Parameters
    ----------
    candidates : dict of calibrators by name, list of calibrators, or None
        None: every sensible one for the forecasts that `fit` gets.
    cv : int or splitter, default 5
    task : {"auto", "classification", "regression"}
        What plain arrays are.
    scores_are : {"probabilities", "logits", "margins"}
        What plain class scores are.
    random_state : int, optional
        Of the folds; None always takes the same.
    n_jobs : int, optional
        Fits at a time.

    Attributes
    ----------
    comparison_ : Comparison
        The losses of all candidates; print it.
    best_ : str
        Name of the chosen one.
    calibrator_ : calibrator
        The chosen one, fitted.
    n_rows_ : int

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(0, 1, 1000)
    >>> y = rng.random(1000) < 1 / (1 + np.exp(-odds))
    >>> AutoCalibrator().fit(1 / (1 + np.exp(-odds)), y).best_
    'none'
    """

    def __init__(
        self,
        candidates: Any = None,
        *,
        cv: Any = 5,
        task: str = "auto",
        scores_are: str = "probabilities",
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.candidates = candidates
        self.cv = cv
        self.task = task
        self.scores_are = scores_are
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, forecasts: Any, y: Any, *, sample_weight: Any = None, classes: Any = None) -> Self:
        """Compare the candidates and fit the best.

        Parameters
        ----------
        forecasts : class scores (n,) or (n, K), or what `as_distribution` takes
        y : array-like (n,)
        sample_weight : array-like (n,), optional
        classes : array-like (K,), optional
            Labels of the columns of class scores.
        """
        task = task_of(self.candidates) if self.task == "auto" else self.task
        table = read_forecasts(forecasts, y, task, self.scores_are)
        problem = Problem.of(table, y, sample_weight, classes=classes)
        candidates = named(self.candidates, table)
        with one_thread(), parallel_config(n_jobs=self.n_jobs):
            self.comparison_ = self._compared(candidates, problem)
            self.best_ = self.comparison_.chosen
            self.calibrator_ = problem.fitted(clone(candidates[self.best_]))
        self._of_classes, self.n_rows_ = isinstance(table, ClassScores), len(y)
        if self._of_classes:
            self.classes_ = problem.classes
        return self

    def _compared(self, candidates: dict[str, Any], problem: Problem) -> Comparison:
        if problem.weights.sum() >= FEWEST and problem.rarest() > 1:
            return compared(candidates, problem, folds(problem, self.cv, self.random_state), full=False)
        first = next(iter(candidates))
        warnings.warn(
            f"only {problem.weights.sum():g} rows, {problem.rarest()} of the rarest outcome: too few to compare "
            f"calibrators on; {first!r} is taken.",
            stacklevel=3,
        )
        return Comparison((first,), np.full(1, np.nan), np.full(1, np.nan))

    def transform(self, forecasts: Any) -> Any:
        """What the chosen calibrator makes of the forecasts."""
        check_is_fitted(self)
        task = "classification" if self._of_classes else "regression"
        table = read_forecasts(forecasts, None, task, self.scores_are)
        return self.calibrator_.transform(table.in_order_of(self.classes_) if self._of_classes else table)

    def _check_forecasts(self) -> None:
        """Raise ValueError if the chosen one makes no forecasts; what it learned may come from anywhere."""
        if self._of_classes:
            examples = example_scores(len(np.asarray(self.classes_)), self.scores_are)
            check_class_forecasts(examples, self.transform(examples.values))
        else:
            check_law_forecasts(self.transform(self.calibrator_._examples()))

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "n_rows_")
