"""A calibrator of class scores that sees the features: the cure for segments in which probabilities are off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..._checks import Array
from ...adapters.class_labels import Codes
from ...adapters.class_scores import ClassScores
from ...adapters.feature_columns import check_rows
from ...calibration.boosting.features import given, said_of, standardised, standards
from ...calibration.boosting.from_lightgbm import need_lightgbm
from ...calibration.boosting.growing import Growth, boost, nothing
from ...calibration.feature_table import FeatureTable, features_of
from ...calibration.rows import labelled_rows
from ...calibration.threads import one_thread
from ...numerics.forest import MOST_LEAVES, MOST_OUTPUTS
from ...numerics.soundness import check_finite
from ..base import CLIP, ScoreCalibrator, check_clip, clipped, nearest_to_certain
from ..binary import LEAST_CLIP
from ..soundness import check_class_forecasts, example_scores
from .lines import lines_of
from .objective import probabilities_of
from .starts import MAPS, Held, Problem, Start, begun, best_start, held_out

_MOST_STRETCH = 2.0
_INSTEAD = "BetaCalibrator"


class BoostedClassCalibrator(ScoreCalibrator):
    r"""Learn from features how class probabilities are off: multicalibration by boosted log odds.

    .. math:: p^*(x) = \operatorname{softmax}\bigl(s + \lambda(m(s) - s) + c\,t(x, s)\bigr)

    s are the log probabilities of the K classes as they were forecast; of two classes all are log odds, and softmax is
    the sigmoid. m is a simple map of them, `BetaCalibrator` of two classes, else that one, `TemperatureCalibrator` or
    `DirichletCalibrator` (of more than ten classes `VectorCalibrator`), and t are sums of small trees on the features
    X and the log odds, one a class and round. They start at 0 and follow the log loss by Newton steps: LightGBM with
    slopes :math:`p_j - [y = j]` and curvatures :math:`\tfrac{K}{K-1}p_j(1 - p_j)`, of two classes :math:`p(1 - p)`.

    Unseen rows of five folds tell all choices: the map, which is fitted in each fold, and its share :math:`\lambda`
    from 0 to 1; the number of rounds, looked at every 20, with none unless the log loss falls by more than one standard
    error; and the stretch c from 1 to 2. The trees of the five folds are averaged and the map is fitted to all rows, so
    that without trees it is close to the better of the scores as they are and the map.

    How many rows do I need? A segment is found once it has about a hundred rows; with fewer than 40 rows no trees are
    grown, and :math:`\lambda = 1`. Each model learns from 100 000 rows at most. Columns of X may be numbers, texts or
    categories, and may be missing; a category that was not there in `fit` is a missing value. `fit` needs LightGBM
    (``pip install 'calibrant[boost]'``), `transform` does not. Scores must be probabilities or logits, of at most 100
    classes.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0082, 0.0022, 0.0004 at 100, 300 and 1 000 rows of
    two classes; 0.0079, 0.0033, 0.0003 of three.

    Parameters
    ----------
    n_rounds : int, default 560
        Most rounds, each with a tree a class; of two classes with one tree.
    rate : float, optional
        Share of each Newton step that is taken. None is 0.05, chosen on made sets (`experiments.rates`), and more with
        more than 7 500 rows, up to 0.2 with 30 000: fewer trees then say as much.
    n_leaves : int, default 8
        Most leaves of a tree, 2 to 8.
    min_rows : int, default 20
        Fewest rows of a leaf; with fewer than 400 rows a twentieth of them.
    random_state : int, Generator or None
        For folds and samples of rows and features; None is 0.
    n_jobs : int, optional
        Threads of LightGBM; None is 1. The result does not depend on it.
    scores_are : {"probabilities", "logits"}, default "probabilities"
    clip : float, default 1e-12

    Attributes
    ----------
    start_ : str
        "scores", or the map: "temperature", "beta", "vector" or "dirichlet".
    map_ : calibrator or None
        The map m, if there is one.
    share_ : float
        :math:`\lambda`, how far to go from the scores to the map.
    n_rounds_ : int
        Rounds that are kept; 0 where features tell nothing.
    gain_ : float
        Nats a row that these gained on unseen rows, before stretching.
    stretch_ : float
        The factor c.
    table_ : FeatureTable
        Names and categories of the columns of X.
    forest_ : Forest
        The trees, as arrays.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> region = rng.choice(["north", "south"], 1000)
    >>> y = rng.random(1000) < np.where(region == "north", 0.8, 0.2)
    >>> cal = BoostedClassCalibrator().fit(np.full(1000, 0.5), y, X=region[:, None])
    >>> cal.transform([0.5, 0.5], X=[["north"], ["south"]])[:, 1].round(1)
    array([0.8, 0.2])

    Differs from the paper in: there is none that it follows. MCGrad (Tax et al. 2026, arXiv:2509.19884) also boosts the
    log odds of two classes on the features and the score, in stages of which each sees what the one before it said;
    here there is one stage, and a map, several classes, the average of folds and the choice of nothing beside it.
    """

    takes = ScoreCalibrator.takes.also("X", needs=True)

    def __init__(
        self,
        n_rounds: int = 560,
        *,
        rate: float | None = None,
        n_leaves: int = MOST_LEAVES,
        min_rows: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        scores_are: str = "probabilities",
        clip: float = CLIP,
    ) -> None:
        super().__init__(scores_are=scores_are, clip=clip)
        self.n_rounds = n_rounds
        self.rate = rate
        self.n_leaves = n_leaves
        self.min_rows = min_rows
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, scores: Any, y: Any, *, X: Any = None, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn from the scores, labels and features of n rows.

        Parameters
        ----------
        scores : array-like (n,) or (n, K)
        y : array-like (n,)
            Labels of any type.
        X : array-like or frame (n, d)
        sample_weight : array-like (n,), optional
        classes : array-like (K,), optional
            Labels of the columns; else those that a frame's columns or `ClassScores` tell, else the sorted labels of y.
        """
        check_clip(self.clip)
        Growth.of(self)
        table = self._read(scores)
        rows, self.classes_, codes, weights = labelled_rows(table, y, sample_weight, classes)
        check_rows(given(X, _INSTEAD), len(table))
        with one_thread():
            self._fit(table[rows], codes, weights, features_of(X, rows))
        self.n_rows_ = len(codes)
        return self

    def transform(self, scores: Any, *, X: Any = None) -> Array:
        """Probabilities (n, K) of the same rows, whose features are X, columns as in `fit`."""
        check_is_fitted(self)
        table = self._read(scores).in_order_of(self.classes_)
        return clipped(self._transform(table, given(X, _INSTEAD)), self.clip)

    def _fit(self, scores: ClassScores, codes: Codes, weights: Array | None, X: Any = None) -> None:
        need_lightgbm()
        _check_scores(scores)
        how = Growth.of(self)
        self.nearest_ = max(nearest_to_certain(scores, self.clip), LEAST_CLIP)
        self.table_ = FeatureTable.learn(X, len(codes))
        raw = self._raw(scores, X)
        self.centres_, self.spreads_ = standards(raw, self._sizes)
        x = standardised(raw, self.centres_, self.spreads_)
        w = np.ones(len(codes)) if weights is None else weights
        problem = Problem(scores, codes, lines_of(x, codes, w, how.seed), self.nearest_)
        if problem.is_small:
            self.start_, self.share_, self.stretch_ = problem.names[-1], 1.0, 1.0
            self.n_rounds_, self.forest_, _, self.gain_ = nothing(0, self._sizes, self._outputs)
        else:
            held = held_out(problem, how.seed)
            start = best_start(problem, held)
            self.start_, self.share_ = start.name, start.share
            self._grow(problem, start, held, x, how)
        self.map_ = problem.fitted(self.start_)

    def _grow(self, problem: Problem, start: Start, held: list[Held], x: Array, how: Growth) -> None:
        lines, unseen = problem.lines, problem.unseen(start, held)
        how = replace(how, min_rows=max(1, round(how.min_rows * min(1.0, len(lines.row) / lines.n_rows))))
        rows = lines.n_rows * len(unseen.codes) / len(lines.row)
        grown = boost(x[lines.row], self._sizes, problem.parts(start, held), unseen, self._outputs, rows, how)
        self.n_rounds_, self.forest_, said, self.gain_ = grown
        self.stretch_ = unseen.best_share(said, 1.0, _MOST_STRETCH)[0] if self.n_rounds_ else 1.0

    def _transform(self, scores: ClassScores, X: Any = None) -> Array:
        z = begun(self.map_, self.share_, scores, self.nearest_)
        raw = self._raw(scores, X)
        if not self.n_rounds_:
            return scores.probabilities() if self.map_ is None else probabilities_of(z)
        return probabilities_of(z + self.stretch_ * said_of(self.forest_, raw, self.centres_, self.spreads_))

    # ---- features ----
    @property
    def _outputs(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    @property
    def _sizes(self) -> NDArray[np.intp]:
        """Numbers of categories of all that trees see; the last ones are log odds."""
        return np.concatenate([self.table_.sizes, np.zeros(self._outputs, dtype=np.intp)])

    def _raw(self, scores: ClassScores, X: Any) -> Array:
        odds = scores.log_odds(self.nearest_)
        return np.column_stack([self.table_(X, len(scores)), odds[:, 1:] if self._outputs == 1 else odds])

    # ---- soundness ----
    def _check_sound(self) -> None:
        super()._check_sound()
        check_finite(self, "nearest_", "share_", "stretch_", "centres_", "spreads_")
        sizes = self._sizes
        if not np.array_equal(self.forest_.categories, sizes) or self.forest_.n_outputs != self._outputs:
            raise ValueError("BoostedClassCalibrator: its trees must be on its features and for its classes.")
        shapes = {np.shape(self.centres_), np.shape(self.spreads_)}
        if shapes != {sizes.shape} or not (np.asarray(self.spreads_) > 0).all():
            raise ValueError("BoostedClassCalibrator: spreads must be positive, one a feature.")
        if not (self.map_ is None or isinstance(self.map_, tuple(MAPS.values()))) or not 0 < self.nearest_ < 0.5:
            raise ValueError("BoostedClassCalibrator: it must start at the scores or at a map of them.")
        if not 0 <= self.share_ <= 1:
            raise ValueError("BoostedClassCalibrator.share_ must be between 0 and 1.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if what it makes of examples, with all features missing, are no probabilities."""
        examples = example_scores(len(self.classes_), self.scores_are)
        X = np.full((len(examples), len(self.table_)), np.nan)
        check_class_forecasts(examples, self.transform(examples.values, X=X))


def _check_scores(scores: ClassScores) -> None:
    if scores.kind == "margins":
        raise ValueError(
            "`scores` must be probabilities or logits to be boosted; got margins. Chain([PlattCalibrator(), "
            'BoostedClassCalibrator()]) makes them so, or say scores_are="logits".'
        )
    if scores.n_classes > MOST_OUTPUTS:
        raise ValueError(f"`scores` must have at most {MOST_OUTPUTS} classes to be boosted; got {scores.n_classes}.")
