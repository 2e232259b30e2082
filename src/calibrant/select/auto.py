"""The calibrator that tries the others."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from joblib import parallel_config
from sklearn.utils.validation import check_is_fitted

from .._checks import one_of
from ..adapters.class_scores import ClassScores
from ..calibration import Calibrator
from ..calibration.contract import Beside, Takes, takes_of, transform_with
from ..calibration.threads import one_thread
from .candidates import costly_among, named, refuse_unseen, scores_kind, shrinking_among, takes_features, task_of
from .compare import compared
from .comparison import NONE, Comparison
from .race import raced
from .reading import read_forecasts
from .trial import Trial, sorted_classes


class AutoCalibrator(Calibrator):
    """The calibrator whose cross-validated logarithmic score is best, "none" competing, fitted to all rows.

    If "none" is within one standard error of the best, distributions get the map of `QuantileCalibrator` where that is
    a candidate, with its defaults, which hold it back; everything else is left as it is. Else the simplest is taken
    that is both within one standard error and within 0.005 nats of the best. No method wins everywhere. It takes what
    the others take, class scores or distributions, and is used like them.

    Why not "none"? One standard error hides small faults. Where "none" was so near the best, the quantile map cost
    0.0010, 0.0008, 0.0000 nats a row at 100, 300 and 1 000 rows of laws that were right, and gained 0.0024, 0.0027,
    0.0081 on widths wrong by a tenth, 0.0072 and 0.010 on biases of a fifth of the width at 100 and 300. For classes it
    is otherwise: `TemperatureCalibrator` cost 0.0028 at 100 rows of two that were right, as much where scores were a
    tenth too sure (0.0025), and gained from a quarter on.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0012, 0.0007, 0.0000 at 100, 300 and 1 000 rows of
    laws; 0.0000, 0.0046, 0.0000 of two classes; 0.0035, 0.0034, 0.0000 of three. On ten sets (`experiments.selection`)
    it takes about four times as long as `StackCalibrator` alone, and is no worse on average.

    Parameters
    ----------
    candidates : dict of calibrators by name, list of calibrators, or None
        None: every sensible one for the forecasts that `fit` gets. Those of the command line may be named, as in
        ``["quantile", "stack"]``.
    cv : int, tuple of ints or splitter, default 5
        As in `compare`.
    task : {"auto", "classification", "regression"}
        What plain arrays are.
    scores_are : {"probabilities", "logits", "margins"}
        What plain class scores are.
    random_state : int, optional
        Of the folds; None always takes the same.
    n_jobs : int, optional
        Fits at a time.
    race : bool, default True
        Whether candidates that take long (`StackCalibrator`, `GPBetaCalibrator`, `GPCCalibrator`, `BoostedCalibrator`)
        leave the comparison once they have fallen behind. The folds are taken in five rounds. Of these leave, after
        each: those more than two standard errors behind the best; from the second on those behind a simpler one; after
        the third all but the better half. The comparison ends where one of them is left and all others are more than
        two standard errors behind it.
    features : bool, default False
        Whether whoever hands over forecasts, `CalibratedRegressor` or a `Chain`, is asked for the features of their
        rows where no candidates are named; one that is named and takes features asks for them itself. `fit` uses the
        features that it is given, asked for or not.

    Attributes
    ----------
    comparison_ : Comparison
        The losses of all candidates, and on which share of the rows; print it.
    best_ : str
        Name of the chosen one; `comparison_` may say "none" where it is the quantile map.
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

    _later: ClassVar[dict[str, Any]] = {"race": False, "features": False, "_has_features": False}

    def __init__(
        self,
        candidates: Any = None,
        *,
        cv: Any = 5,
        task: str = "auto",
        scores_are: str = "probabilities",
        random_state: int | None = None,
        n_jobs: int | None = None,
        race: bool = True,
        features: bool = False,
    ) -> None:
        self.candidates = candidates
        self.cv = cv
        self.task = task
        self.scores_are = scores_are
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.race = race
        self.features = features

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        """Scores or distributions, as the task says; groups if they are given; features if asked for.

        Once fitted, features if the chosen one takes them.
        """
        task = task_of(self.candidates) if self.task == "auto" else self.task
        kinds = {"classification": ("scores",), "regression": ("distributions",)}.get(task, ("distributions", "scores"))
        return Takes(kinds, frozenset({"classes", "groups"} | self._features("beside")), self._features("needs"))

    def _features(self, how: str) -> frozenset[str]:
        """Whether X is beside, or needed; before `fit` nothing is needed."""
        if hasattr(self, "calibrator_"):
            return frozenset({"X"} & getattr(takes_of(self.calibrator_), how))
        given = self.candidates.values() if isinstance(self.candidates, Mapping) else self.candidates or ()
        asked = self.features or any(takes_features(item) for item in given)
        return frozenset({"X"} if asked and how == "beside" else ())

    def fit(
        self,
        forecasts: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        classes: Any = None,
        X: Any = None,
    ) -> Self:
        """Compare the candidates and fit the best.

        Parameters
        ----------
        forecasts : class scores (n,) or (n, K), or what `as_distribution` takes
        y : array-like (n,)
        sample_weight : array-like (n,), optional
        groups : array-like (n,), optional
            Labels of groups: each candidate then competes with one a group.
        classes : array-like (K,), optional
            Labels of the columns of class scores.
        X : array-like or frame (n, d), optional
            Features, as in `compare`.
        """
        one_of(self.race, "race", (False, True))
        one_of(self.features, "features", (False, True))
        table = self._read_with(forecasts, y)
        beside: Beside = {"groups": groups, "classes": classes, "X": X}
        trial = Trial.of(table, y, sample_weight=sample_weight, cv=self._folds(), **beside)
        candidates = named(self.candidates, table, grouped=groups is not None, features=X is not None)
        refuse_unseen(X, candidates)
        with one_thread(), parallel_config(n_jobs=self.n_jobs):
            self.comparison_ = self._compared(candidates, trial)
            self.best_ = self._best(candidates)
            self.calibrator_ = trial.fitted(candidates[self.best_])
        self._of_classes, self._has_groups, self.n_rows_ = isinstance(table, ClassScores), groups is not None, len(y)
        self._has_features = X is not None
        if self._of_classes:
            self.classes_: Any = trial.given_classes
        return self

    def _read(self, forecasts: Any) -> Any:
        return self._read_with(forecasts, None)

    def _read_with(self, forecasts: Any, y: Any) -> Any:
        """Forecasts as class scores or distributions, as far as task, candidates and outcomes tell."""
        task = task_of(self.candidates) if self.task == "auto" else self.task
        return read_forecasts(forecasts, y, task, scores_kind(self.candidates, self.scores_are))

    def _folds(self) -> Any:
        """The folds, with the seed where they are drawn."""
        if self.random_state is None or hasattr(self.cv, "split"):
            return self.cv
        given = self.cv if isinstance(self.cv, tuple) else (self.cv,)
        return given if len(given) > 2 else (*(*given, 1)[:2], self.random_state)

    def _best(self, candidates: dict[str, Any]) -> str:
        """The chosen one; instead of none one that holds itself back, where there is one and rows to learn it from."""
        found = self.comparison_
        if found.chosen != NONE or np.isnan(found.loss).any():
            return found.chosen
        return next((name for name in shrinking_among(candidates) if name in found.names), NONE)

    def _compared(self, candidates: dict[str, Any], trial: Trial) -> Comparison:
        if not trial.is_too_small:
            return (
                raced(trial, candidates, costly_among(candidates))
                if self.race
                else compared(trial, candidates, full=False)
            )
        first = next(iter(candidates))
        warnings.warn(
            f"only {trial.weights.sum():g} rows, {trial.rarest():g} of the rarest outcome: too few to compare "
            f"calibrators on; {first!r} is taken.",
            stacklevel=3,
        )
        return Comparison((first,), np.full(1, np.nan), np.full(1, np.nan))

    def transform(self, forecasts: Any, *, groups: Any = None, X: Any = None) -> Any:
        """What the chosen calibrator makes of the forecasts; X where `fit` had features."""
        check_is_fitted(self)
        if groups is not None and not self._has_groups:
            raise ValueError("`groups` were given, but fit had none.")
        if X is not None and not self._has_features:
            raise ValueError("`X` was given, but fit had none.")
        task = "classification" if self._of_classes else "regression"
        table = read_forecasts(forecasts, None, task, scores_kind(self.candidates, self.scores_are))
        if not self._of_classes:
            return transform_with(self.calibrator_, table, groups=groups, X=X)
        table, order = sorted_classes(table.in_order_of(self.classes_), self.classes_)
        return transform_with(self.calibrator_, table, groups=groups, X=X)[:, np.argsort(order)]

    def _check_forecasts(self) -> None:
        """Raise ValueError if the chosen one makes no forecasts; what it learned may come from anywhere."""
        self.calibrator_._check_forecasts()
