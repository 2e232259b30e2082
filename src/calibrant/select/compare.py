"""Calibrators side by side, by how probable they made what happened in rows they had not seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from ..calibration.contract import Beside
from .candidates import named, ranks_of, refuse_unseen, scores_kind, task_of
from .comparison import Comparison
from .reading import read_forecasts
from .trial import Progress, Trial


def compare(
    forecasts: Any,
    y: Any,
    candidates: Any = None,
    *,
    sample_weight: Any = None,
    cv: Any = 5,
    progress: Progress | None = None,
    **beside: Unpack[Beside],
) -> Comparison:
    r"""Compare calibrators by the cross-validated logarithmic score; "none" always competes.

    .. math:: \frac{1}{\sum_t w_t} \sum_t -w_t \ln \hat p^{(-k(t))}(y_t)

    where :math:`\hat p^{(-k)}` was fitted without the fold of row t. The rows are forecasts that a model already made.
    Minus the log density; of outcomes that have a probability under the forecasts as they are, the log of that, for all
    candidates alike. Beside it the other measures: CRPS, coverage, calibration error, A²; or Brier score and ECE.
    Several fits at a time: ``with joblib.parallel_config(n_jobs=2)``.

    Parameters
    ----------
    forecasts : class scores (n,) or (n, K), or what `as_distribution` takes
    y : array-like (n,)
        Labels, or outcomes.
    candidates : dict of calibrators by name, list of calibrators, or None
        None: every sensible one for such forecasts. Those of the command line may be named, as in
        ``["quantile", "stack"]``.
    sample_weight : array-like (n,), optional
        Frequencies; equal rows are never on both sides of a split.
    cv : int, tuple of ints or splitter, default 5
        Number of folds, at random and with equal shares of the classes; folds, repetitions and seed; or a splitter or
        an iterable of splits, for the rows that have an outcome and a weight.
    progress : callable, optional
        Called with the number of fits done and of all fits.
    groups : array-like (n,), optional
        Labels of groups: each candidate then competes with one a group, "... by group".
    time : array-like (n,), optional
        Each fold is then calibrated by the rows before it; an `OnlineCalibrator`, which then competes, goes on learning
        in it.
    X : array-like or frame (n, d), optional
        Features, for the candidates that take them, such as `BoostedCalibrator`, which then competes where LightGBM is
        installed. Columns of a frame go by their names, in any order. Rows of equal forecasts and outcomes are never on
        both sides of a split, whatever their features.
    classes : array-like (K,), optional
        Labels of the columns of class scores.

    Returns
    -------
    Comparison
        Prints as a table with a recommendation.

    Examples
    --------
    >>> from calibrant import TemperatureCalibrator
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(0, 1, 2000)
    >>> y = rng.random(2000) < 1 / (1 + np.exp(-odds))
    >>> overconfident = 1 / (1 + np.exp(-3 * odds))
    >>> compare(overconfident, y, [TemperatureCalibrator()]).chosen
    'TemperatureCalibrator'
    """
    if hasattr(y, "to_normal"):
        raise TypeError(f"`y` must be outcomes; got forecasts ({type(y).__name__}). Arguments in the wrong order?")
    table = read_forecasts(forecasts, y, task_of(candidates), scores_kind(candidates))
    trial = Trial.of(table, y, sample_weight=sample_weight, cv=cv, **beside)
    grouped, features = trial.groups is not None, trial.X is not None
    chosen = named(candidates, table, grouped=grouped, features=features, ordered=trial.time is not None)
    refuse_unseen(trial.X, chosen)
    return compared(trial, chosen, progress)


def compared(
    trial: Trial, candidates: dict[str, Any], progress: Progress | None = None, *, full: bool = True
) -> Comparison:
    """The comparison of named candidates in a trial, with all measures or only the loss."""
    found = trial.out_of_fold(candidates, progress)
    evaluated = {name: trial.evaluated(made) for name, made in found.made.items()}
    ranks = ranks_of(evaluated, candidates)
    return replace(trial.compared(evaluated, full=full), left_out=found.left_out, ranks=ranks)
