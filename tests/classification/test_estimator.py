from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import (
    BetaCalibrator,
    CalibratedClassifier,
    DecisionCalibrator,
    DirichletCalibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
    VennAbersCalibrator,
)
from calibrant.calibration.same_rows import SameRowsWarning
from calibrant.classification.reading import detect

CHECKED = [
    CalibratedClassifier(),
    CalibratedClassifier(ensemble=True, cv=3),
    CalibratedClassifier(LogisticRegression(), TemperatureCalibrator(), cv=2),
    CalibratedClassifier(LogisticRegression(), BetaCalibrator(), cv=2),
    CalibratedClassifier(GaussianNB(), IsotonicCalibrator(), cv=2),
    CalibratedClassifier(LogisticRegression(), DirichletCalibrator(), cv=2),
    CalibratedClassifier(GaussianNB(), VennAbersCalibrator(), cv=3),
]


@parametrize_with_checks(CHECKED)
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(3000, 12, n_informative=6, flip_y=0.1, random_state=0)
    return X[:1500], np.array(["no", "yes"])[y[:1500]], X[1500:], np.array(["no", "yes"])[y[1500:]]


@pytest.fixture(scope="module")
def three():
    X, y = make_classification(3000, 12, n_informative=6, n_classes=3, flip_y=0.1, random_state=1)
    return X[:1500], y[:1500], X[1500:], y[1500:]


# ---- calibration ----
@pytest.mark.parametrize("ensemble", [False, True])
def test_naive_bayes_is_put_right(two, ensemble):
    X, y, X_new, y_new = two
    base = GaussianNB().fit(X, y)
    model = CalibratedClassifier(GaussianNB(), BetaCalibrator(), ensemble=ensemble).fit(X, y)
    assert model.method_ == "predict_proba"
    joint = CalibratedClassifier(GaussianNB(), IsotonicCalibrator(), method="predict_joint_log_proba").fit(X, y)
    assert joint.oof_scores_.kind == "logits"
    assert log_loss(y_new, joint.predict_proba(X_new)) < log_loss(y_new, base.predict_proba(X_new)) - 0.01
    assert log_loss(y_new, model.predict_proba(X_new)) < log_loss(y_new, base.predict_proba(X_new)) - 0.01
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X_new)) == {"no", "yes"}


def test_margins_of_many_classes(three):
    X, y, X_new, y_new = three
    model = CalibratedClassifier(LinearSVC()).fit(X, y)
    assert model.method_ == "decision_function"
    p = model.predict_proba(X_new)
    assert p.shape == (1500, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert log_loss(y_new, p) < 0.98 * log_loss(y_new, np.tile(np.bincount(y) / len(y), (1500, 1)))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X_new)), p)


def test_the_same_as_scikit_learn_where_it_does_the_same(two):
    X, y, X_new, _ = two
    peer = CalibratedClassifierCV(LinearSVC(), method="sigmoid", cv=5, ensemble=False).fit(X, y)
    model = CalibratedClassifier(LinearSVC(), cv=5).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X_new), peer.predict_proba(X_new), atol=1e-5
    )  # its optimiser's limit


def test_out_of_fold_scores_by_hand(three):
    X, y, *_ = three
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    model = CalibratedClassifier(LogisticRegression(), TemperatureCalibrator(), cv=cv).fit(X, y)
    expected = cross_val_predict(LogisticRegression(), X, y, cv=cv, method="predict_proba")
    np.testing.assert_allclose(model.oof_scores_.values, expected)
    np.testing.assert_array_equal(model.oof_rows_, np.arange(1500))
    by_hand = TemperatureCalibrator().fit(expected, y).transform(LogisticRegression().fit(X, y).predict_proba(X))
    np.testing.assert_allclose(model.predict_proba(X), by_hand)


def test_frozen_models(two):
    X, y, X_new, y_new = two
    frozen = FrozenEstimator(RandomForestClassifier(20, random_state=0).fit(X[:700], y[:700]))
    model = CalibratedClassifier(frozen, IsotonicCalibrator()).fit(X[700:], y[700:])
    assert model.estimator_ is frozen
    assert log_loss(y_new, model.predict_proba(X_new)) < log_loss(y_new, frozen.predict_proba(X_new))
    with pytest.warns(SameRowsWarning, match="that the model holds"):
        CalibratedClassifier(FrozenEstimator(KNeighborsClassifier().fit(X, y))).fit(X, y)
    with pytest.warns(SameRowsWarning, match="cv='same'"):
        CalibratedClassifier(cv="same").fit(X, y)


def test_decisions_on_top(two):
    X, y, X_new, y_new = two
    rare = np.flatnonzero((y == "no") | (np.arange(len(y)) % 10 == 0))
    plain = CalibratedClassifier(LogisticRegression()).fit(X[rare], y[rare])
    model = CalibratedClassifier(LogisticRegression(), decision=DecisionCalibrator("macro")).fit(X[rare], y[rare])
    np.testing.assert_allclose(model.predict_proba(X_new), plain.predict_proba(X_new))

    def macro(predicted):
        return np.mean([(predicted[y_new == label] == label).mean() for label in ("no", "yes")])

    assert macro(model.predict(X_new)) > macro(plain.predict(X_new)) + 0.05
    both = CalibratedClassifier(LogisticRegression(), decision=DecisionCalibrator("macro"), ensemble=True)
    assert macro(both.fit(X[rare], y[rare]).predict(X_new)) > macro(plain.predict(X_new)) + 0.05


def test_a_split_with_test_rows_of_one_class(two):
    X, y = two[0][:60], two[1][:60]
    splits = [(np.arange(10, 60), np.flatnonzero(y[:10] == "no")), *StratifiedKFold(2).split(X, y)]
    model = CalibratedClassifier(GaussianNB(), ensemble=True, cv=splits)
    with pytest.warns(UserWarning, match="1 of 3 splits have test rows of one class only"):
        model.fit(X, y)
    assert len(model.calibrators_) == 3


def test_the_mean_of_the_folds_leaves_what_each_made(two):
    class Remembers(BaseEstimator):
        def fit(self, scores, y, sample_weight=None):
            return self

        def transform(self, scores):
            self.made_ = np.asarray(scores).copy()
            return self.made_

    X, y, X_new, _ = two
    model = CalibratedClassifier(LogisticRegression(), Remembers(), ensemble=True, cv=3).fit(X, y)
    found = model.predict_proba(X_new)
    each = [fold.predict_proba(X_new) for fold in model.estimators_]
    np.testing.assert_allclose(found, np.mean(each, axis=0), rtol=1e-14)
    for fold, calibrator in zip(each, model.calibrators_, strict=True):
        np.testing.assert_array_equal(calibrator.made_, fold)


def test_a_calibrator_of_the_users(two):
    class Halfway(BaseEstimator):
        def fit(self, scores, y, sample_weight=None):
            assert np.asarray(scores).shape == (len(y), 2)
            return self

        def transform(self, scores):
            return 0.5 * np.asarray(scores) + 0.25

    X, y, X_new, _ = two
    model = CalibratedClassifier(LogisticRegression(), Halfway()).fit(X, y)
    expected = 0.5 * LogisticRegression().fit(X, y).predict_proba(X_new) + 0.25
    np.testing.assert_allclose(model.predict_proba(X_new), expected)


# ---- weights, groups, folds ----
def test_weights_reach_the_model_through_a_pipeline(two):
    X, y, X_new, _ = two
    w = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = CalibratedClassifier(make_pipeline(StandardScaler(with_mean=False), LogisticRegression())).fit(X, y, w)
    alone = make_pipeline(StandardScaler(with_mean=False), LogisticRegression())
    alone.fit(X, y, logisticregression__sample_weight=w)
    np.testing.assert_allclose(model.estimator_.predict_proba(X_new), alone.predict_proba(X_new))
    with config_context(enable_metadata_routing=True):
        asked = LogisticRegression().set_fit_request(sample_weight=True)
        base = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked)
        routed = CalibratedClassifier(base).fit(X, y, sample_weight=w)
        expected = base.fit(X, y, sample_weight=w).predict_proba(X_new)
        np.testing.assert_allclose(routed.estimator_.predict_proba(X_new), expected)


def test_groups_are_kept_apart(two):
    X, y, *_ = two
    groups = np.arange(len(y)) % 7

    class Alone(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_, self.seen_ = np.unique(y), set((X[:, -1]).tolist())
            return self

        def predict_proba(self, X):
            if len(X) < len(groups):
                assert not self.seen_ & set(X[:, -1].tolist())
            return np.full((len(X), 2), 0.5)

    numbered = np.column_stack([X, groups])
    CalibratedClassifier(Alone(), TemperatureCalibrator()).fit(numbered, y, groups=groups)
    CalibratedClassifier(Alone(), TemperatureCalibrator(), cv=GroupKFold(3)).fit(numbered, y, groups=groups)


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_a_class_that_a_fold_lacks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "b", "a").astype(object)
    y[7] = "c"
    for base in (LogisticRegression(), GaussianNB()):
        p = CalibratedClassifier(base, TemperatureCalibrator(), cv=3).fit(X, y).predict_proba(X)
        assert p.shape == (60, 3) and np.isfinite(p).all() and (p > 0).all()
    with pytest.raises(ValueError, match="margins of classes that the training rows lack"):
        CalibratedClassifier(LinearSVC(), cv=3).fit(X, y)


# ---- input ----
@pytest.mark.parametrize("kind", [pd.DataFrame, lambda a: pl.DataFrame(a, schema=[f"x{i}" for i in range(a.shape[1])])])
def test_frames_and_labels_of_any_type(two, kind):
    X, y, X_new, _ = two
    for labels in (y, (y == "yes"), pd.Series(y, dtype="category"), pl.Series(y), list(y)):
        model = CalibratedClassifier(LogisticRegression(), cv=3).fit(X, labels)
        p = model.predict_proba(X_new)
        np.testing.assert_allclose(p, CalibratedClassifier(LogisticRegression(), cv=3).fit(X, y).predict_proba(X_new))


def test_errors(two):
    X, y, *_ = two
    with pytest.raises(NotFittedError):
        CalibratedClassifier().predict_proba(X)
    with pytest.raises(ValueError, match="at least two classes"):
        CalibratedClassifier().fit(X, np.repeat("no", len(y)))
    with pytest.raises(ValueError, match=r"`y` must not be missing \(NaN\); 1 of 1500"):
        CalibratedClassifier().fit(X, np.where(np.arange(len(y)) == 3, np.nan, y == "yes"))
    with pytest.raises(TypeError, match="must be a classifier"):
        CalibratedClassifier(LogisticRegression).fit(X, y)
    with pytest.raises(TypeError, match="must have fit and transform"):
        CalibratedClassifier(calibrator="platt").fit(X, y)
    with pytest.raises(ValueError, match="gives 6 columns for 4 classes"):
        CalibratedClassifier(SVC(decision_function_shape="ovo"), method="decision_function").fit(X, np.arange(1500) % 4)
    with pytest.raises(ValueError, match="`method` must be one of"):
        detect(LogisticRegression(), "predict")
    with pytest.raises(ValueError, match="margins are no probabilities"):
        CalibratedClassifier(LinearSVC(), TemperatureCalibrator()).fit(X, y)
    model = CalibratedClassifier(LinearSVC(), TemperatureCalibrator(scores_are="logits")).fit(X, y)  # the remedy
    assert model.oof_scores_.kind == "logits" and log_loss(y, model.predict_proba(X)) < 0.5


def test_breast_cancer_forest():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(30, random_state=0)
    model = CalibratedClassifier(forest, PlattCalibrator()).fit(X[::2], y[::2])
    raw = np.clip(forest.fit(X[::2], y[::2]).predict_proba(X[1::2]), 1e-12, None)
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < log_loss(y[1::2], raw)
