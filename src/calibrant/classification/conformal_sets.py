"""Sets of classes that hold the label as often as they say, for any number of rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import Array, choices, count, number, probability
from ..adapters.class_scores import ClassScores, as_scores
from ..calibration.contract import Takes
from ..calibration.guarantees import set_guarantee
from ..calibration.labels import labels_of, rows_by_label
from ..calibration.rows import labelled_rows
from ..numerics.ranked_scores import RankedScores
from .soundness import example_scores

SCORES = ("lac", "aps", "raps")
BY = (None, "class", "groups")
ALL = "all"  # the one group where there are no others


class ConformalSets(BaseEstimator):
    r"""Sets of classes that hold the label with the probability they state, whatever the law and however few the rows.

    .. math:: C(x) = \{k : s(x, k) \le q\}, \quad q = s_{(\lceil c(n+1) \rceil)}, \quad P(Y \in C(X)) \ge c

    where :math:`s_i = s(x_i, y_i)` are the scores of n labelled rows that the classifier has not learned from, sorted,
    and :math:`s_{(n+1)} = \infty`. The scores are, with :math:`p_k` the probability of class k, :math:`\rho_k` the sum
    of those that are larger, :math:`o_k` the number of those that are at least as large, and u in [0, 1]:

    - "lac": :math:`1 - p_k`, the smallest sets on average (Sadinle, Lei & Wasserman 2019); some may be empty;
    - "aps": :math:`\rho_k + u\,p_k`, sets that grow where the classifier is in doubt (Romano, Sesia & Candès 2020);
    - "raps": :math:`\rho_k + u\,p_k + \lambda\,(o_k - k_0)^+`, the same with long tails of classes cut (Angelopoulos et
      al. 2021).

    How many rows do I need? For coverage c at least :math:`c/(1-c)`, 9 for 90 % and 99 for 99 %, in each class or group
    if ranks are by these; below that sets are of all classes. Calibrated probabilities make smaller sets.

    Parameters
    ----------
    score : {"lac", "aps", "raps"}, default "lac"
    by : {None, "class", "groups"}
        Ranks within each class or group: coverage then holds in each.
    randomised : bool, default False
        For "aps" and "raps": whether u is drawn for each row, which makes coverage exact in rows of any kind if the
        probabilities are right, at the price of empty sets; otherwise it is 0, and sets of "aps" are the fewest classes
        that reach a sum of probabilities.
    penalty : float, default 0.01
        :math:`\lambda` of "raps".
    free_classes : int, default 5
        :math:`k_0` of "raps".
    scores_are : {"probabilities", "logits", "margins"}, default "probabilities"
        Margins are for "lac" only, which then takes them as they are.
    random_state : int, Generator or None
        For ``randomised=True``; None draws afresh at each call, an int the same numbers.

    Attributes
    ----------
    classes_ : ndarray (K,)
        Labels of the columns.
    scores_ : dict of RankedScores
        By class, by group, or of "all".
    guarantee_ : str
        What is promised of sets, in words.
    n_rows_ : int
        Rows that were learned from.

    Examples
    --------
    >>> p = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6], [0.5, 0.4, 0.1]])
    >>> sets = ConformalSets().fit(p, ["a", "b", "c", "b"])
    >>> sets.predict_sets([[0.5, 0.45, 0.05]], coverage=0.8)
    array([[ True,  True, False]])
    >>> print(sets.guarantee_)
    A set of coverage c holds the label with a probability of at least c, and of at most c + 0.2 if no two scores are
    equal, whatever the law, if new rows are exchangeable with the 4 of the fit. Above c = 0.8 it is of all classes.

    Differs from the paper in: u is 0 unless asked for, in the fit as in sets; no set of "aps" is then empty, and where
    the likeliest class is the label more often than c, the sets are that class. The penalty and the free classes of
    "raps" are given, not chosen on rows of their own.
    """

    takes = Takes(("scores",), frozenset({"groups", "classes"}))

    def __init__(
        self,
        score: str = "lac",
        *,
        by: str | None = None,
        randomised: bool = False,
        penalty: float = 0.01,
        free_classes: int = 5,
        scores_are: str = "probabilities",
        random_state: Any = None,
    ) -> None:
        self.score = score
        self.by = by
        self.randomised = randomised
        self.penalty = penalty
        self.free_classes = free_classes
        self.scores_are = scores_are
        self.random_state = random_state

    def fit(self, scores: Any, y: Any, *, groups: Any = None, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn from the scores and labels of n rows that the classifier has not learned from.

        Parameters
        ----------
        scores : array-like (n,) or (n, K)
        y : array-like (n,)
            Labels of any type; rows whose label is missing are left out with a warning.
        groups : array-like (n,), optional
            For ``by="groups"``.
        sample_weight : array-like (n,), optional
            Frequencies.
        classes : array-like (K,), optional
            Labels of the columns; else those that a frame's columns or `ClassScores` tell, else the sorted labels of y.
        """
        self._check()
        table = self._read(scores)
        names = self._names(groups, len(table))
        rows, known, codes, weights = labelled_rows(table, y, sample_weight, classes)
        first, _ = self._draws()
        mine = self._scores(table[rows], first)[np.arange(len(codes)), codes]
        if self.by == "class":
            members: dict[Any, Any] = {k: np.flatnonzero(codes == k) for k in range(len(known))}
        else:
            members = {ALL: slice(None)} if names is None else rows_by_label(names[rows])
        self.scores_ = {
            name: RankedScores.of(mine[own], None if weights is None else weights[own]) for name, own in members.items()
        }
        totals, tied = [each.total for each in self.scores_.values()], self.score != "lac" and not self.randomised
        self.guarantee_ = set_guarantee(totals, by=self.by, first_are_equal=tied)
        self.classes_, self.n_rows_ = known, len(codes)
        return self

    def predict_sets(self, scores: Any, coverage: float = 0.9, *, groups: Any = None) -> NDArray[np.bool_]:
        """Which classes are in the set of each row, (n, K), columns in the order of ``classes_``.

        Parameters
        ----------
        scores : array-like (n,) or (n, K)
        coverage : float, default 0.9
        groups : array-like (n,), optional
            As in `fit`.
        """
        check_is_fitted(self)
        c = probability(coverage, "coverage")
        table = self._read(scores).in_order_of(self.classes_)
        names = self._names(groups, len(table))
        values = self._scores(table, self._draws()[1])
        if self.by == "class":
            limits: Any = np.array([float(self.scores_[k].reaching(c)) for k in range(len(self.classes_))])
        elif names is None:
            limits = float(self.scores_[ALL].reaching(c))
        else:
            known = {name: float(ranked.reaching(c)) for name, ranked in self.scores_.items()}
            limits = np.array([known.get(name, np.inf) for name in names])[:, None]
        return np.asarray(values <= limits)

    def _check(self) -> None:
        choices(score=(self.score, SCORES), by=(self.by, BY), randomised=(self.randomised, (False, True)))
        number(self.penalty, "penalty", least=0)
        count(self.free_classes, "free_classes", least=0)
        if self.randomised and self.score == "lac":
            raise ValueError("`randomised` is for 'aps' and 'raps'; 'lac' has nothing to draw.")

    def _names(self, groups: Any, n: int) -> Any:
        if self.by == "groups":
            return labels_of(groups, n)
        if groups is not None:
            raise ValueError("`groups` were given, but ranks are not by group. Say by='groups'.")
        return None

    def _draws(self) -> list[np.random.Generator]:
        """One generator for rows to learn from, and one for new ones."""
        return np.random.default_rng(self.random_state).spawn(2)

    def _read(self, scores: Any) -> ClassScores:
        return as_scores(scores, self.scores_are)

    def _scores(self, table: ClassScores, rng: np.random.Generator) -> Array:
        """Scores of all classes (n, K)."""
        if self.score == "lac":
            return 1 - (table.values if table.kind == "margins" else table.probabilities())
        u = rng.random(len(table)) if self.randomised else np.zeros(len(table))
        penalty = self.penalty if self.score == "raps" else 0.0
        return adaptive_scores(table.probabilities(), u, penalty, self.free_classes)

    def _check_sound(self) -> None:
        """Raise ValueError if these are no ranks: they may come from anywhere."""
        keys = range(len(self.classes_)) if self.by == "class" else [ALL] if self.by is None else self.scores_
        if set(keys) != set(self.scores_) or not all(isinstance(v, RankedScores) for v in self.scores_.values()):
            raise ValueError("ConformalSets.scores_ must be ranks for each class or group.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if it makes no sets; what it learned may come from anywhere."""
        self._check()
        table = example_scores(len(self.classes_), self.scores_are)
        groups = [next(iter(self.scores_))] * len(table) if self.by == "groups" else None
        self.predict_sets(table, groups=groups)

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "n_rows_")


def adaptive_scores(p: Array, u: Array, penalty: float = 0.0, free_classes: int = 0) -> Array:
    r"""Scores :math:`\rho_k + u\,p_k + \lambda\,(o_k - k_0)^+` of all classes, (n, K).

    >>> adaptive_scores(np.array([[0.2, 0.5, 0.3]]), np.array([1.0]), 0.1, 1)
    array([[1.2, 0.5, 0.9]])
    """
    order = np.argsort(-p, axis=1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=1)
    before = np.cumsum(ordered, axis=1) - ordered
    place = np.arange(p.shape[1])
    last = place
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        before, last = _among_equals(ordered, before, place)
    values = before + u[:, None] * ordered
    if penalty:
        values += penalty * np.maximum(last + 1 - free_classes, 0)
    out = np.empty_like(p)
    np.put_along_axis(out, order, values, axis=1)
    return out


def _among_equals(ordered: Array, before: Array, place: Any) -> tuple[Array, Any]:
    """What lies before the first of equal probabilities, and the place of the last, (n, K) both."""
    new = np.diff(ordered, axis=1, prepend=np.inf) != 0
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    ends = np.diff(ordered, axis=1, append=-np.inf) != 0
    last = np.minimum.accumulate(np.where(ends, place, len(place))[:, ::-1], axis=1)[:, ::-1]
    return np.take_along_axis(before, first, axis=1), last
