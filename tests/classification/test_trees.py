"""Smoothed and curtailed trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from calibrant.classification.trees import SmoothedTree


def tree(**settings):
    return DecisionTreeClassifier(random_state=0, **settings)


@pytest.fixture(scope="module")
def unpruned():
    X, y = make_classification(20_000, 20, n_informative=8, flip_y=0.1, random_state=3)
    frozen = FrozenEstimator(tree().fit(X[:10_000], y[:10_000]))
    return frozen, X, y


def loss(model, X, y):
    return log_loss(y[10_000:], model.fit(X[:10_000], y[:10_000]).predict_proba(X[10_000:]))


def test_unpruned_tree(unpruned):
    frozen, X, y = unpruned
    assert loss(SmoothedTree(frozen, smoothing=None), X, y) > 5
    smoothed = loss(SmoothedTree(frozen), X, y)
    assert smoothed <= 0.42
    assert loss(SmoothedTree(frozen, curtail=50), X, y) <= smoothed + 0.005
    assert loss(SmoothedTree(frozen, smoothing="laplace"), X, y) > smoothed


def test_five_per_cent_positive():
    """make_classification's usual 1 % of flipped labels; the base rate alone has a log loss of 0.212."""
    X, y = make_classification(20_000, 20, n_informative=8, weights=[0.95], random_state=3)
    assert 0.05 <= y.mean() < 0.06
    assert loss(SmoothedTree(smoothing=None), X, y) > 1.5
    assert loss(SmoothedTree(curtail=50), X, y) <= 0.19


def test_formulas_by_hand():
    X = np.array([[0.0]] * 6 + [[1.0]] * 4)
    y = np.array([0, 0, 0, 0, 1, 1, 0, 1, 2, 2])  # left leaf 4, 2, 0; right leaf 1, 1, 2
    expected = {
        None: [[4 / 6, 2 / 6, 0], [1 / 4, 1 / 4, 2 / 4]],
        "laplace": [[5 / 9, 3 / 9, 1 / 9], [2 / 7, 2 / 7, 3 / 7]],
        "m": [[(4 + 25) / 56, (2 + 15) / 56, 10 / 56], [(1 + 25) / 54, (1 + 15) / 54, (2 + 10) / 54]],
    }
    for smoothing, rows in expected.items():
        model = SmoothedTree(smoothing=smoothing).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), rows, rtol=1e-12)
    assert SmoothedTree().fit(X, y).m_ == pytest.approx(50)  # 10 / 0.2: b m = 10 for the rarest class
    given = SmoothedTree(m=5.0).fit(X, y).predict_proba([[0.0]])
    np.testing.assert_allclose(given, [[(4 + 2.5) / 11, (2 + 1.5) / 11, 1 / 11]])


def test_curtailment_climbs_to_the_nearest_large_enough_node():
    X, y = make_classification(600, 6, n_informative=4, random_state=0)
    for least in (1, 7, 40, 200, 601):
        model = SmoothedTree(tree(), smoothing=None, curtail=least).fit(X, y)
        grown = model.estimator_.tree_
        paths = model.estimator_.decision_path(X)
        expected = np.empty((600, 2))
        for i in range(600):
            nodes = paths.indices[paths.indptr[i] : paths.indptr[i + 1]]  # from the root down
            enough = [node for node in nodes if grown.n_node_samples[node] >= least]
            expected[i] = grown.value[enough[-1] if enough else 0, 0]
        np.testing.assert_allclose(model.predict_proba(X), expected)


@pytest.mark.parametrize("smoothing", ["m", "laplace", None])
@pytest.mark.parametrize("curtail", [None, 10])
def test_weights_are_frequencies(smoothing, curtail):
    X, y = make_classification(200, 5, random_state=0)
    weights = np.random.default_rng(0).integers(0, 4, 200)
    once = SmoothedTree(tree(), smoothing=smoothing, curtail=curtail).fit(X, y, sample_weight=weights)
    again = SmoothedTree(tree(), smoothing=smoothing, curtail=curtail).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_allclose(once.predict_proba(X), again.predict_proba(X), rtol=1e-12)


ENSEMBLES = [
    RandomForestClassifier(10, random_state=0),
    ExtraTreesClassifier(10, random_state=0, bootstrap=False),
    BaggingClassifier(tree(), 10, max_features=0.6, random_state=0),
    BaggingClassifier(tree(), 10, max_samples=6, random_state=0),  # bags that miss classes
    make_pipeline(StandardScaler(), RandomForestClassifier(10, random_state=0)),
    tree(max_leaf_nodes=8),
]


@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda m: type(m).__name__)
def test_ensembles_without_smoothing_answer_as_before(model):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    plain = SmoothedTree(model, smoothing=None).fit(X, names)
    np.testing.assert_allclose(plain.predict_proba(X), plain.estimator_.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(plain.predict(X), plain.estimator_.predict(X))
    smooth = SmoothedTree(FrozenEstimator(plain.estimator_), curtail=5).fit(X, names)
    assert smooth.estimator_.estimator is plain.estimator_
    p = smooth.predict_proba(X)
    assert p.min() > 0 and np.allclose(p.sum(axis=1), 1)
    assert set(smooth.classes_) == set(names)


def test_frames_and_pipelines_with_weights():
    X, y = load_iris(return_X_y=True, as_frame=True)
    weights = np.arange(150) % 3
    for model in (RandomForestClassifier(5, random_state=0), make_pipeline(StandardScaler(), tree())):
        fitted = SmoothedTree(model).fit(X, y, sample_weight=weights)
        assert fitted.predict_proba(X).shape == (150, 3)
        assert list(fitted.feature_names_in_) == list(X.columns)
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict_proba(X.rename(columns={X.columns[0]: "other"}))
    assert isinstance(X, pd.DataFrame)


def test_small_and_odd_sets():
    assert SmoothedTree().fit([[0.0], [1.0]], ["b", "b"]).predict_proba([[3.0]]).tolist() == [[1.0]]
    two = SmoothedTree().fit([[0.0], [1.0]], ["a", "b"])
    np.testing.assert_allclose(two.predict_proba([[0.0]]), [[11 / 21, 10 / 21]])
    X = np.random.default_rng(0).normal(size=(300, 3))
    many = SmoothedTree(curtail=20).fit(X, np.arange(300) % 26)
    assert np.allclose(many.predict_proba(X).sum(axis=1), 1)
    X[::7, 0] = np.nan
    assert np.isfinite(SmoothedTree().fit(X, np.arange(300) % 2).predict_proba(X)).all()


def test_passes_scikit_learns_checks():
    check_estimator(SmoothedTree(), on_skip=None)
    check_estimator(SmoothedTree(tree(), smoothing="laplace", curtail=4), on_skip=None)


def test_errors():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="got LogisticRegression"):
        SmoothedTree(LogisticRegression(max_iter=1000)).fit(X, y)
    with pytest.raises(TypeError, match="got GradientBoostingClassifier"):
        SmoothedTree(GradientBoostingClassifier(n_estimators=2)).fit(X, y)
    with pytest.raises(ValueError, match="`smoothing` must be one of 'm', 'laplace', None"):
        SmoothedTree(smoothing="none").fit(X, y)
    with pytest.raises(ValueError, match="`m` must be a number above 0 or 'auto'; got -1"):
        SmoothedTree(m=-1).fit(X, y)
    with pytest.raises(ValueError, match="`curtail` must be a number above 0 or None; got 0"):
        SmoothedTree(curtail=0).fit(X, y)
    with pytest.raises(NotFittedError):
        SmoothedTree().predict(X)
    with pytest.raises(NotFittedError):
        SmoothedTree(FrozenEstimator(tree())).fit(X, y)
    with pytest.raises(ValueError, match="for a frozen estimator"):
        SmoothedTree(FrozenEstimator(tree().fit(X, y))).fit(X, y, sample_weight=np.ones(150))
