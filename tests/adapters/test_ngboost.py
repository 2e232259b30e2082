"""What NGBoost predicts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from calibrant import CalibratedClassifier, CalibratedRegressor, metrics
from calibrant.adapters import as_distribution
from calibrant.adapters.predicted import predicted_law

ngboost = pytest.importorskip("ngboost")
distns = pytest.importorskip("ngboost.distns")

PARAMETERS = np.array([[0.1, 0.4, -0.3], [0.2, -0.5, 0.1]])


@pytest.mark.parametrize(
    ("name", "kind"),
    [("Normal", "Normal"), ("Laplace", "Laplace"), ("LogNormal", "LogNormal"), ("Exponential", "Gamma"),
     ("Poisson", "Poisson"), ("Gamma", "Gamma"), ("TFixedDf", "StudentT"), ("Weibull", "ScipyLaw")],
)  # fmt: skip
def test_laws(name, kind):
    family = getattr(distns, name)
    theirs = family(PARAMETERS[: family.n_params])
    law = as_distribution(theirs)
    assert type(law).__name__ == kind and len(law) == 3
    y = np.array([1.0, 2.0, 1.0])
    np.testing.assert_allclose(law.cdf(y), theirs.dist.cdf(y), rtol=1e-11)
    np.testing.assert_allclose(law.mean(), theirs.dist.mean(), rtol=1e-9)


def test_a_fitted_model(rng):
    X = rng.normal(size=(600, 1))
    y = X[:, 0] + rng.normal(size=600)
    base = ngboost.NGBRegressor(n_estimators=15, verbose=False, random_state=0).fit(X[:100], y[:100])
    theirs, law = base.pred_dist(X), predicted_law(make_pipeline("passthrough", base), X)
    np.testing.assert_allclose(law.logpdf(y), stats.norm.logpdf(y, theirs.params["loc"], theirs.params["scale"]))
    model = CalibratedRegressor(FrozenEstimator(base)).fit(X[100:350], y[100:350])  # scikit-learn sees no sign of a fit
    assert model.forecast_kind_ == "pred_dist" and model.estimator_.estimator is base
    assert abs(metrics.coverage(y[350:], model.predict_dist(X[350:]), coverage=0.8) - 0.8) < 0.1
    with pytest.raises(NotFittedError, match="NGBRegressor instance is not fitted yet"):
        CalibratedRegressor(FrozenEstimator(ngboost.NGBRegressor())).fit(X, y)


def test_classifiers_number_their_classes(rng):
    X = rng.normal(size=(300, 1))
    label = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    base = ngboost.NGBClassifier(n_estimators=10, verbose=False, random_state=0)
    model = CalibratedClassifier(base, cv=2).fit(X, label)
    assert np.corrcoef(model.predict_proba(X)[:, 1], X[:, 0])[0, 1] > 0.8
    frozen = CalibratedClassifier(FrozenEstimator(base.fit(X[:100], label[:100]))).fit(X[100:], label[100:])
    assert frozen.score(X[100:], label[100:]) > 0.65
    with pytest.raises(ValueError, match="classes of the base model"):
        CalibratedClassifier(FrozenEstimator(base)).fit(X[100:], np.array(["no", "yes"])[label[100:]])


def test_classes_are_refused():
    with pytest.raises(TypeError, match="not a law of one number"):
        as_distribution(distns.k_categorical(3)(np.zeros((2, 4))))
