"""The one trial: forecasts and outcomes, split; what calibrators make of rows that they have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from .._checks import Array
from ..adapters.class_labels import encode
from ..adapters.class_scores import ClassScores
from ..adapters.feature_columns import check_rows
from ..adapters.places import positions
from ..calibration.contract import Beside, as_forecasts, fit_with, takes_of, transform_with
from ..calibration.feature_table import FeatureTable, by_name, features_of
from ..calibration.horizons import horizons_of
from ..calibration.labels import labels_of
from ..calibration.pit_watch import unwatched
from ..calibration.rows import learnable_rows
from ..distributions import Distribution, concatenate
from ..distributions.scores import score_intervals
from ..metrics.catalogue import LOSS, MEASURES, Measured, drawn_again, measures_of
from ..metrics.evaluation import ClassEvaluation, Evaluation, LawEvaluation
from .comparison import Comparison
from .distinct import Places
from .splits import Split, split_rows

Progress = Callable[[int, int], Any]
MOST_KEPT = 20_000  # rows whose draws are kept
MOST_STEPS = 10  # of one that goes on learning, in each block of time
FEWEST = 20  # rows, with their weights, below which nothing can be told apart


@dataclass(frozen=True, eq=False)
class Trial:
    """Rows of forecasts and outcomes, and the splits on which calibrators are tried.

    Equal rows are one row with their weights, so they are never on both sides of a split, and neither the order of rows
    nor writing a row twice instead of giving it weight 2 makes a difference. Where a forecast came with several
    outcomes, as scores with few values do, equal rows are not taken for copies: where they are as many as folds, or
    more, they are dealt to the folds at random.

    Attributes
    ----------
    forecasts : Distribution, ClassScores or ndarray (n,)
        The last are point predictions.
    y : ndarray (n,)
        Outcomes or labels.
    weights : ndarray (n,)
    rows : ndarray (n,)
        Places of the rows in what was given; of copies the first.
    splits : list of (train, test)
    groups : ndarray (n,), optional
    time : ndarray (n,), optional
    classes : ndarray (K,), optional
        Labels of the columns of scores, sorted.
    given_classes : ndarray (K,), optional
        The same in the order in which they came.
    X : array or frame (n, d), optional
        Features; columns of a frame in the order of their names.
    horizon : ndarray (n,), optional
    """

    forecasts: Any
    y: NDArray[Any]
    weights: Array
    rows: Places
    splits: list[Split]
    groups: NDArray[np.object_] | None = None
    time: NDArray[Any] | None = None
    classes: NDArray[Any] | None = None
    given_classes: NDArray[Any] | None = None
    X: Any = None
    horizon: Array | None = None

    @classmethod
    def of(
        cls,
        forecasts: Distribution | ClassScores | Array,
        y: Any,
        *,
        sample_weight: Any = None,
        cv: Any = 5,
        **beside: Unpack[Beside],
    ) -> Trial:
        """Split rows that have an outcome and a weight.

        Parameters
        ----------
        forecasts : Distribution, ClassScores or point predictions (n,)
        y : array-like (n,)
        sample_weight : array-like (n,), optional
        cv : int, tuple of ints or splitter
            Folds, at random and with equal shares of the classes; folds, repetitions and seed; or a splitter, or pairs
            of rows to learn from and to forecast, for the rows that have an outcome and a weight.
        groups : array-like (n,), optional
            For calibrators that treat groups differently.
        time : array-like (n,), optional
            Each block is then forecast from the rows before it.
        classes : array-like (K,), optional
            Labels of the columns of scores.
        X : array-like or frame (n, d), optional
            For calibrators that take features.
        horizon : array-like (n,), optional
            For calibrators that treat steps ahead differently.
        """
        labels, when, X, ahead = _beside(len(forecasts), **beside)
        used, outcomes, weights, known = learnable_rows(forecasts, y, sample_weight, beside.get("classes"))
        table: Any = forecasts[used]
        given = known
        if known is not None:
            table, order = sorted_classes(table, known)
            known = known[order]
        rows = np.arange(len(forecasts))[used]
        w = np.ones(len(outcomes)) if weights is None else weights
        labels, when, X, ahead = (features_of(column, used) for column in (labels, when, X, ahead))
        codes = outcomes if known is None else encode(outcomes, known)
        numbers = None if X is None else FeatureTable.learn(X, len(codes))(X, len(codes))
        if ahead is not None:
            numbers = ahead[:, None] if numbers is None else np.column_stack([numbers, ahead])
        distinct, splits = split_rows(table, codes, w, groups=labels, time=when, features=numbers, cv=cv)
        kept = distinct.rows
        labels, when, X, ahead = (features_of(column, kept) for column in (labels, when, X, ahead))
        beside = {"groups": labels, "time": when, "X": X, "horizon": ahead}
        labelled = {"classes": known, "given_classes": given}
        return cls(table[kept], outcomes[kept], distinct.weights, rows[kept], splits, **labelled, **beside)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def task(self) -> str:
        """What kind of forecasts these are."""
        return "regression" if self.classes is None else "classification"

    @cached_property
    def tested(self) -> Places:
        """The rows that are forecast, one split after another."""
        return np.concatenate([test for _, test in self.splits])

    @cached_property
    def n_tested(self) -> float:
        """Number of rows that are forecast, with their weights; repetitions are no new rows."""
        times = len(self.tested) / len(np.unique(self.tested))
        return float(self.weights[self.tested].sum() / times)

    @property
    def is_too_small(self) -> bool:
        """Whether there are too few rows, or too few of some class, to tell calibrators apart."""
        return bool(self.weights.sum() < FEWEST or self.rarest() <= 1 or not self.splits)

    def rarest(self) -> float:
        """Rows of the rarest class that is there; all rows where outcomes are numbers."""
        if self.classes is None:
            return float(self.weights.sum())
        mass = np.bincount(encode(self.y, self.classes), self.weights)
        return float(mass[mass > 0].min())

    # ---- calibrators ----
    def fitted(self, calibrator: Any, rows: Any = slice(None)) -> Any:
        """A copy of the calibrator, fitted to these rows."""
        beside = {**self._beside(rows), "classes": self.classes}
        return fit_with(
            clone(calibrator), self.forecasts[rows], self.y[rows], sample_weight=self.weights[rows], **beside
        )

    def made_by(self, fitted: Any, rows: Any = slice(None)) -> Any:
        """What a fitted calibrator makes of the forecasts of these rows."""
        return transform_with(fitted, self.forecasts[rows], **self._beside(rows))

    def _beside(self, rows: Any) -> dict[str, Any]:
        columns = {"groups": self.groups, "X": self.X, "horizon": self.horizon}
        return {name: features_of(column, rows) for name, column in columns.items()}

    def _unseen(self, calibrator: Any, split: Split) -> Any:
        train, test = split
        with warnings.catch_warnings(), unwatched():  # what they do on average is measured here
            warnings.simplefilter("ignore", UserWarning)  # of small folds; the fit to all rows speaks
            fitted = self.fitted(calibrator, train)
            if self.time is None or not hasattr(fitted, "update"):
                return self.made_by(fitted, test)
            return self._walked(fitted, test)

    def _walked(self, fitted: Any, test: Places) -> Any:
        """What one that goes on learning makes of rows in the order of time: each step by what came before it."""
        moments = np.unique(self.time[test], return_inverse=True)[1]  # type: ignore[index]
        step = moments * MOST_STEPS // (int(moments.max()) + 1) if moments.max() >= MOST_STEPS else moments
        made = []
        for rows in np.split(test, np.flatnonzero(np.diff(step)) + 1):
            made.append(self.made_by(fitted, rows))
            given = takes_of(fitted).only(self._beside(rows))
            fitted.update(self.forecasts[rows], self.y[rows], sample_weight=self.weights[rows], **given)
        return concatenate(made) if isinstance(made[0], Distribution) else np.concatenate(made)

    def out_of_fold(
        self, candidates: Mapping[str, Any], progress: Progress | None = None, *, alone: bool | None = None
    ) -> OutOfFold:
        """Forecasts of the tested rows by every candidate that can be fitted, and why others cannot.

        Where nothing else was asked for, ``alone``, by default one beside "none", the reason is raised. Several fits at
        a time: ``with joblib.parallel_config(n_jobs=2)``.
        """
        if not self.splits:
            raise ValueError("calibrators are tried on at least two different rows; all are copies of one.")
        work = [delayed(_tried)(self, candidate, split) for candidate in candidates.values() for split in self.splits]
        parts: list[Any] = []
        for part in Parallel(return_as="generator")(work):
            parts.append(part)
            if progress is not None:
                progress(len(parts), len(work))
        made, left_out, k = {}, {}, len(self.splits)
        for i, name in enumerate(candidates):
            mine = parts[i * k : (i + 1) * k]
            failed = next((part for part in mine if isinstance(part, ValueError)), None)
            if failed is not None:
                if len(candidates) <= 2 if alone is None else alone:
                    raise failed
                left_out[name] = str(failed)
                continue
            whole = concatenate(mine) if isinstance(mine[0], Distribution) else np.concatenate(mine)
            made[name] = as_forecasts(whole, self.classes)
        if not made:
            raise ValueError(next(iter(left_out.values())))
        return OutOfFold(made, left_out)

    # ---- measures ----
    @cached_property
    def on_atom(self) -> NDArray[np.bool_] | None:
        """Which tested outcomes are scored by mass: those on an atom of the forecasts as they are; decided once."""
        law = self.forecasts
        if not isinstance(law, Distribution):
            return None
        left, right = score_intervals(law[self.tested], self.y[self.tested])
        return np.asarray(left < right)

    def evaluated(self, made: Any) -> Evaluation:
        """What measures need of forecasts of the tested rows."""
        y = self.y[self.tested]
        if self.classes is not None:
            return ClassEvaluation(made.values, encode(y, self.classes), self.classes)
        return LawEvaluation(made, y, self.on_atom, quick=True)

    def losses(self, evaluation: Evaluation) -> Array:
        """Minus the log score of each tested row."""
        return np.asarray(MEASURES[LOSS[self.task]].rows(evaluation))  # type: ignore[misc]

    def compared(self, made: Mapping[str, Evaluation], *, full: bool = True) -> Comparison:
        """Candidates side by side, by the log score of rows that they had not seen; with all measures or only that."""
        weights = self.weights[self.tested]
        losses = np.array([self.losses(evaluation) for evaluation in made.values()])
        measures = tuple(self.measured(evaluation) for evaluation in made.values()) if full else ()
        found = Comparison.of(tuple(made), losses, weights, self.n_tested, measures)
        return replace(found, error=np.full(len(losses), np.inf)) if self.is_too_small else found

    @cached_property
    def _drawn(self) -> list[NDArray[np.int64]] | None:
        """The tested rows drawn again, for all measures of all candidates; of many rows too much to keep."""
        weights = self.weights[self.tested]
        return list(drawn_again(weights, self.n_tested)) if len(weights) <= MOST_KEPT else None

    def measured(self, evaluation: Evaluation) -> dict[str, Measured]:
        """Every measure of forecasts of the tested rows; those that do not exist for them are left out."""
        found, weights = {}, self.weights[self.tested]
        for measure in measures_of(self.task):
            try:
                with np.errstate(invalid="ignore"):  # where a value is infinite, its interval is not known
                    found[measure.key] = measure.measured(evaluation, weights, self.n_tested, self._drawn)
            except (TypeError, ValueError):
                continue
        return found


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Forecasts of tested rows by candidate, of classes with their labels, and why others could not be fitted."""

    made: dict[str, Any]
    left_out: dict[str, str]


def _tried(trial: Trial, candidate: Any, split: Split) -> Any:
    try:
        return trial._unseen(candidate, split)
    except ValueError as reason:
        return reason


def _beside(
    rows: int, *, groups: Any = None, time: Any = None, X: Any = None, classes: Any = None, horizon: Any = None
) -> tuple[Any, Any, Any, Any]:
    """Checked labels of groups, times, features with their columns in order, and horizons."""
    if X is not None:
        check_rows(X, rows)
    labels = None if groups is None else labels_of(groups, rows)
    ahead = None if horizon is None else horizons_of(horizon, rows)
    return labels, None if time is None else positions(time, rows, "time"), by_name(X), ahead


def sorted_classes(table: ClassScores, known: NDArray[Any]) -> tuple[ClassScores, Places]:
    """Columns in the order of their labels, so that the order they came in makes no difference, and that order."""
    order = np.argsort(known, kind="stable")
    return ClassScores(table.values[:, order], table.kind, known[order]), order
