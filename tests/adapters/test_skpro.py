"""Distributions and regressors of skpro."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibrant import CalibratedRegressor
from calibrant.adapters import as_distribution
from calibrant.distributions import Ensemble, Mixture

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
    low, high = model.predict_interval(X, 0.9).T
    assert 0.8 < np.mean((low <= y) & (y <= high)) < 0.98
