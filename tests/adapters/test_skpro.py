"""Distributions and regressors of skpro."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold

from calibrant import CalibratedRegressor, QuantileCalibrator, ScaleCalibrator, metrics
from calibrant.adapters import as_distribution, as_skpro
from calibrant.distributions import Ensemble, LogNormal, Mixture, Normal, Poisson, Recalibrated
from calibrant.maps import AffineMap

skpro = pytest.importorskip("skpro.distributions")

A = np.array([[0.5], [1.0], [2.0]])
INDEX = pd.Index(["a", "b", "c"])


def made(name, **parameters):
    return getattr(skpro, name)(**parameters, index=INDEX, columns=["y"])


LAWS = {
    "Normal": ("Normal", {"mu": A, "sigma": 2 * A}),
    "Normal, shared scale": ("Normal", {"mu": A, "sigma": 1.0}),
    "Laplace": ("Laplace", {"mu": A, "scale": A}),
    "Logistic": ("Logistic", {"mu": A, "scale": A}),
    "LogNormal": ("LogNormal", {"mu": A, "sigma": 0.5}),
    "TDistribution": ("StudentT", {"mu": A, "sigma": A, "df": 5}),
    "Uniform": ("Histogram", {"lower": -A, "upper": 3 * A}),
    "Gamma": ("Gamma", {"alpha": 1 + A, "beta": 2 * A}),
    "Poisson": ("Poisson", {"mu": 3 * A}),
    "NegativeBinomial": ("NegativeBinomial", {"mu": 3 * A, "alpha": 0.7}),
    "HalfNormal": ("ScipyLaw", {"sigma": A}),
    "Weibull": ("Quantiles", {"scale": 2 * A, "k": 1.5}),
}


@pytest.mark.parametrize("name", LAWS)
def test_laws(name):
    kind, parameters = LAWS[name]
    theirs = made(name.partition(",")[0], **parameters)
    law = as_distribution(theirs)
    assert len(law) == 3 and list(law.index) == ["a", "b", "c"]
    if kind not in ("ScipyLaw", "Quantiles"):
        assert type(law).__name__ == kind
    y = np.array([1.0, 2.0, 3.0])
    expected = theirs.cdf(pd.DataFrame(y, index=INDEX, columns=["y"])).to_numpy()[:, 0]
    np.testing.assert_allclose(law.cdf(y), expected, atol=1e-4 if kind == "Quantiles" else 1e-9)


def test_one_law_samples_and_mixtures(rng):
    one = as_distribution(skpro.Normal(mu=1.0, sigma=2.0))
    assert len(one) == 1 and one.index is None and one.std()[0] == 2.0
    values = rng.normal(size=(4, 3))  # samples, rows
    index = pd.MultiIndex.from_product([range(4), INDEX])
    law = as_distribution(skpro.Empirical(pd.DataFrame({"y": values.ravel()}, index=index)))
    assert type(law) is Ensemble
    np.testing.assert_array_equal(law.samples, np.sort(values.T, axis=1))
    parts = [("one", made("Normal", mu=A, sigma=1.0)), ("two", made("Normal", mu=-A, sigma=2.0))]
    mixed = as_distribution(skpro.Mixture(parts, weights=[0.3, 0.7], index=INDEX, columns=["y"]))
    assert type(mixed) is Mixture
    np.testing.assert_allclose(mixed.mean(), (0.3 * A - 0.7 * A)[:, 0])


def test_several_columns_are_refused():
    with pytest.raises(ValueError, match=r"must have one column; got shape \(2, 2\)"):
        as_distribution(skpro.Normal(mu=np.zeros((2, 2)), sigma=1.0))


def test_regressors(rng):
    from sklearn.linear_model import LinearRegression
    from skpro.regression.residual import ResidualDouble

    X = pd.DataFrame(rng.normal(size=(120, 2)))
    y = X[0].to_numpy() + rng.normal(size=120)
    model = CalibratedRegressor(ResidualDouble(LinearRegression()), cv=3).fit(X, pd.Series(y))
    assert model.forecast_kind_ == "predict_proba"
    fitted = ResidualDouble(LinearRegression()).fit(X[:60], pd.DataFrame(y[:60]))
    frozen = CalibratedRegressor(FrozenEstimator(fitted)).fit(X[60:], y[60:])
    raw = frozen.predict_dist(X, calibrated=False)
    np.testing.assert_allclose(raw.std(), np.sqrt(fitted.predict_proba(X).var().iloc[:, 0]))
    low, high = model.predict_interval(X, 0.9).T
    assert 0.8 < np.mean((low <= y) & (y <= high)) < 0.98


# ---- the other way ----
def frame(values):
    return pd.DataFrame(np.asarray(values)[:, None], index=INDEX, columns=["y"])


OURS = {
    "Normal": lambda: Normal(pd.Series([0.0, 1.0, 5.0], index=INDEX), 2.0),
    "recalibrated": lambda: Recalibrated(Normal(pd.Series([0.0, 1.0, 5.0], index=INDEX), 2.0), AffineMap(0.2, 0.7)),
    "LogNormal": lambda: LogNormal(pd.Series([0.0, 1.0, 2.0], index=INDEX), 0.5),
    "Poisson": lambda: Poisson(pd.Series([3.0, 1.0, 2.0], index=INDEX)),
}


@pytest.mark.parametrize("name", OURS)
def test_laws_out(name):
    law = OURS[name]()
    theirs = as_skpro(law, columns=["y"])
    assert (
        isinstance(theirs, skpro.base.BaseDistribution)
        and theirs.shape == (3, 1)
        and list(theirs.index) == ["a", "b", "c"]
    )
    y = np.array([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(theirs.cdf(frame(y))["y"], law.cdf(y))
    np.testing.assert_array_equal(theirs.quantile([0.1, 0.9]), law.quantiles([0.1, 0.9]))
    density = theirs.log_pmf(frame(y)) if law.is_discrete else theirs.log_pdf(frame(y))
    np.testing.assert_array_equal(density["y"], law.logpmf(y) if law.is_discrete else law.logpdf(y))
    assert not (theirs.pdf(frame(y)) if law.is_discrete else theirs.pmf(frame(y))).to_numpy().any()
    np.testing.assert_array_equal(theirs.mean()["y"], law.mean())
    np.testing.assert_array_equal(theirs.var()["y"], law.var())
    score = theirs.energy(frame(y)).iloc[:, 0] - theirs.energy().iloc[:, 0] / 2
    np.testing.assert_allclose(score, law.crps(y), rtol=1e-8)
    draws = law.sample(20_000, random_state=0)
    np.testing.assert_allclose(theirs.energy().iloc[:, 0], np.abs(draws - draws[:, ::-1]).mean(axis=1), rtol=0.03)
    part = theirs.loc[["c", "a"]]
    np.testing.assert_array_equal(part.cdf(frame(y).loc[["c", "a"]])["y"], law.cdf(y)[[2, 0]])
    one = theirs.iat[1, 0]
    assert one.shape == () and one.ppf(0.9) == law.ppf(0.9)[1] and one.mean() == law.mean()[1]
    assert theirs.sample(5).shape == (15, 1)
    assert as_distribution(theirs).ppf(0.3).tolist() == law.ppf(0.3).tolist()
    assert list(as_distribution(theirs).index) == ["a", "b", "c"]


def test_their_metrics_give_our_numbers(rng):
    from skpro.metrics import CRPS, LogLoss

    mean, y = rng.normal(size=50), rng.normal(size=50)
    law = Normal(mean, 1.5)
    truth = pd.DataFrame(y)
    assert CRPS()(truth, as_skpro(law)) == pytest.approx(metrics.crps(y, law), rel=1e-8)
    assert LogLoss()(truth, as_skpro((mean, 1.5))) == pytest.approx(metrics.nll(y, law), rel=1e-12)


def test_regressors_out(rng):
    from sklearn.linear_model import BayesianRidge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from skpro.metrics import CRPS
    from skpro.model_selection import GridSearchCV

    X = pd.DataFrame(rng.normal(size=(150, 2)), columns=["a", "b"], index=np.arange(150) + 7)
    y = pd.DataFrame({"sales": X["a"] + rng.normal(size=150)})
    ours = CalibratedRegressor(BayesianRidge(), cv=3)
    theirs = as_skpro(make_pipeline(StandardScaler(), ours)).fit(X, y)
    law = make_pipeline(StandardScaler(), ours).fit(X, y["sales"])[-1].predict_dist(StandardScaler().fit_transform(X))
    stated = theirs.predict_proba(X)
    assert list(stated.columns) == ["sales"] and list(stated.index) == list(X.index)
    np.testing.assert_allclose(stated.quantile([0.2]).iloc[:, 0], law.ppf(0.2))
    np.testing.assert_allclose(theirs.predict(X)["sales"], law.mean())
    np.testing.assert_allclose(theirs.predict_var(X)["sales"], law.var())
    np.testing.assert_allclose(theirs.predict_interval(X, coverage=0.8).to_numpy(), law.interval(0.8))
    grid = {"model__calibrator": [ScaleCalibrator("coverage", coverage=0.05), QuantileCalibrator()]}
    search = GridSearchCV(as_skpro(ours), KFold(2), grid, scoring=CRPS(), backend=None).fit(X, y)
    assert type(search.best_params_["model__calibrator"]) is QuantileCalibrator
    assert len(search.predict_proba(X)) == 150
    again = CalibratedRegressor(as_skpro(CalibratedRegressor(BayesianRidge(), cv=2)), cv=2).fit(X, y["sales"])
    assert again.forecast_kind_ == "predict_proba"
    with pytest.raises(ValueError, match="`columns` is for laws"):
        as_skpro(ours, columns=["y"])
    with pytest.raises(ValueError, match="`columns` must be one name; got 2"):
        as_skpro(law, columns=["a", "b"])


NOT_OURS = [  # these need a model as a default
    "test_constructor",
    "test_create_test_instance",
    "test_create_test_instances_and_names",
    "test_get_test_params_coverage",
    "test_set_params_sklearn",
]


@pytest.mark.parametrize("kind", ["laws", "regressors"])
@pytest.mark.filterwarnings("ignore")  # theirs
def test_their_own_checks(kind):
    from skpro.utils import check_estimator

    given = as_skpro(Normal([0.0, 1.0], 2.0) if kind == "laws" else CalibratedRegressor(cv=2))
    left_out = NOT_OURS if kind == "regressors" else None
    checks = check_estimator(given, tests_to_exclude=left_out, verbose=False)
    assert len(checks) > 20
    assert {name: said for name, said in checks.items() if said != "PASSED"} == {}
