"""Trees and forests with smoothed and curtailed leaf probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import Array, one_of
from ..adapters.nested import descend, innermost, weight_name

Nodes = NDArray[np.intp]
_PRIOR_ROWS = 10.0  # b m of the rarest class


class SmoothedTree(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""A decision tree, forest or bag of trees whose leaves give smoothed probabilities.

    Unpruned trees are sure of everything: their leaves are pure. With n training rows in a leaf, k of them of the
    class, b the share of the class among all training rows and C classes, a leaf gives

    .. math:: \frac{k + 1}{n + C} \ \text{(Laplace)}, \qquad \frac{k + b m}{n + m} \ \text{(m-estimate)}, \qquad
              \frac k n \ \text{(None)}

    (Bella et al. 2010; Zadrozny and Elkan 2001). Curtailment answers from the nearest ancestor with at least
    ``curtail`` rows where the leaf has fewer. Of several trees the mean is taken; as it smooths already, forests need
    less: Laplace does them good where the m-estimate does too much. Counts are those a tree was grown with: of a
    bootstrap sample, and times sample and class weights.

    Parameters
    ----------
    estimator : classifier, default DecisionTreeClassifier(random_state=0)
        Tree, RandomForestClassifier, ExtraTreesClassifier or BaggingClassifier of trees; in a pipeline or search too.
        One in a `FrozenEstimator` is not fitted again.
    smoothing : {"m", "laplace", None}, default "m"
    m : float or "auto", default "auto"
        Of the m-estimate, in rows; "auto" is :math:`10 / \min_j b_j`, so that b m is 10 for the rarest class.
    curtail : float, optional
        Least number of training rows to answer from.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one.
    classes_ : ndarray (K,)
    m_ : float
        For ``smoothing="m"``.
    node_probabilities_ : list of ndarray (nodes, K)
        What each node of each tree answers.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray (n_features,)
        Names of the features, if all are strings.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    >>> SmoothedTree(smoothing=None).fit(X, y).predict_proba([[0.0], [3.0]])
    array([[1., 0.],
           [0., 1.]])
    >>> SmoothedTree(smoothing="laplace").fit(X, y).predict_proba([[0.0], [3.0]]).round(3)
    array([[0.8  , 0.2  ],
           [0.333, 0.667]])
    >>> SmoothedTree(smoothing=None, curtail=2).fit(X, y).predict_proba([[0.0], [3.0]])
    array([[1.  , 0.  ],
           [0.75, 0.25]])

    Differs from the paper in: the default m, which the chapter leaves open; forests and bags; weighted rows.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        smoothing: str | None = "m",
        m: float | str = "auto",
        curtail: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.smoothing = smoothing
        self.m = m
        self.curtail = curtail

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees, unless frozen, and smooth their leaves.

        Parameters
        ----------
        X : array-like (n, n_features)
        y : array-like (n,)
        sample_weight : array-like (n,), optional
            Frequencies, for growing and for the counts of the leaves.
        """
        self._check()
        validate_data(self, X, skip_check_array=True)
        model = self._base()
        if not isinstance(model, FrozenEstimator):
            name = weight_name(model)
            given = {} if sample_weight is None else {name or "sample_weight": sample_weight}
            model = clone(model).fit(X, column_or_1d(y, warn=True), **given)
        elif sample_weight is not None:
            raise ValueError("`sample_weight` must be None for a frozen estimator: its leaves are counted already.")
        check_is_fitted(model)
        self.node_probabilities_ = self._tables(innermost(model))
        self.estimator_, self.classes_ = model, model.classes_
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probabilities (n, K)."""
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 1:
            raise ValueError(f"`X` must be 2-dimensional; got shape {X.shape}. Reshape your data: X.reshape(1, -1)?")
        validate_data(self, X, reset=False, skip_check_array=True)
        leaves = _leaves(*descend(self.estimator_, X))
        tables = self.node_probabilities_
        return np.asarray(sum(table[at] for table, at in zip(tables, leaves, strict=True)) / len(tables))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row, (n,)."""
        p = self.predict_proba(X)
        return np.asarray(self.classes_[p.argmax(axis=1)])

    def _tables(self, model: Any) -> list[Array]:
        """What each node of each tree answers, (nodes, K)."""
        grown = list(_grown(model))
        base = np.mean([tree.counts[0] / tree.counts[0].sum() for tree in grown], axis=0)
        self.__dict__.pop("m_", None)  # of an earlier fit
        if self.smoothing == "m":
            self.m_ = _PRIOR_ROWS / base[base > 0].min() if self.m == "auto" else float(self.m)
        added = {"m": base * getattr(self, "m_", 0.0), "laplace": np.ones(len(base)), None: 0.0}[self.smoothing]
        tables = [tree.counts[_curtailed(tree, self.curtail or 0.0)] + added for tree in grown]
        return [table / table.sum(axis=1, keepdims=True) for table in tables]

    def _check(self) -> None:
        one_of(self.smoothing, "smoothing", ("m", "laplace", None))
        for name, value, word in (("m", self.m, "auto"), ("curtail", self.curtail, None)):
            if value != word and not (isinstance(value, (int, float, np.number)) and value > 0):
                raise ValueError(f"`{name}` must be a number above 0 or {word!r}; got {value!r}.")

    def _base(self) -> Any:
        return DecisionTreeClassifier(random_state=0) if self.estimator is None else self.estimator

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        """Inputs are the base model's affair."""
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._base()).input_tags
        return tags


class _Grown(NamedTuple):
    """Rows of each class in each node (nodes, K), and the parent of each node (-1: none)."""

    counts: Array
    parents: Nodes


def _grown(model: Any) -> Iterator[_Grown]:
    """The trees of a fitted model."""
    if getattr(model, "n_outputs_", 1) > 1:
        raise ValueError(f"`y` must be 1-dimensional; the tree has {model.n_outputs_} outputs.")
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier  # slow to load

    ensembles = (RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier)
    for member in model.estimators_ if isinstance(model, ensembles) else [model]:
        if not isinstance(member, DecisionTreeClassifier):
            raise TypeError(
                "`estimator` must be a decision tree, a random forest, extremely randomised trees or a bag of decision "
                f"trees; got {type(member).__name__}."
            )
        tree = member.tree_
        counts = np.zeros((tree.node_count, len(model.classes_)))
        columns = member.classes_.astype(np.intp) if member is not model else np.arange(len(model.classes_))
        counts[:, columns] = tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None]
        yield _Grown(counts, _parents(tree))


def _parents(tree: Any) -> Nodes:
    parents = np.full(tree.node_count, -1, dtype=np.intp)
    inner = np.flatnonzero(tree.children_left >= 0)
    parents[tree.children_left[inner]] = inner
    parents[tree.children_right[inner]] = inner
    return parents


def _curtailed(tree: _Grown, least: float) -> Nodes:
    """The nearest node with enough rows on the way up from each node; the root where there is none."""
    answering = np.arange(len(tree.parents))
    rows = tree.counts.sum(axis=1) * (1 + 1e-12)  # fractions times rows are off by rounding
    while True:
        small = (rows[answering] < least) & (tree.parents[answering] >= 0)
        if not small.any():
            return answering
        answering = np.where(small, tree.parents[answering], answering)


def _leaves(model: Any, X: Any) -> Iterator[Nodes]:
    """The leaf that each row falls into, tree by tree."""
    if hasattr(model, "estimators_features_"):  # bagging
        options = {"accept_sparse": ["csr", "csc"], "dtype": None, "ensure_all_finite": False}
        X = validate_data(model, X, reset=False, **options)
        pairs = zip(model.estimators_, model.estimators_features_, strict=True)
        return (tree.apply(X[:, features]) for tree, features in pairs)
    leaves = model.apply(X)
    return iter(leaves.T if leaves.ndim == 2 else [leaves])
