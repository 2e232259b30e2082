"""Distributions of torch."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.adapters import as_distribution
from calibrant.distributions import Mixture, Quantiles

torch = pytest.importorskip("torch")
D = torch.distributions
A = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
ONE = torch.ones(3, dtype=torch.float64)

LAWS = {
    "Normal": lambda: D.Normal(A, (2 * A).requires_grad_()),
    "StudentT": lambda: D.StudentT(5 * ONE, A, 2 * ONE),
    "Cauchy": lambda: D.Cauchy(A, ONE),
    "Laplace": lambda: D.Laplace(A, A),
    "LogNormal": lambda: D.LogNormal(A, 0.5 * ONE),
    "Gamma": lambda: D.Gamma(A, 2 * A),
    "Exponential": lambda: D.Exponential(A),
    "Poisson": lambda: D.Poisson(3 * A),
    "NegativeBinomial": lambda: D.NegativeBinomial(3 * A, 0.3 * ONE),
    "Uniform": lambda: D.Uniform(-A, 2 * A),
    "Gumbel": lambda: D.Gumbel(A, 2 * A),
    "Weibull": lambda: D.Weibull(2 * A, A + 1),
    "HalfNormal": lambda: D.HalfNormal(2 * A),
    "Pareto": lambda: D.Pareto(0.5 * A, A + 3),
    "Chi2": lambda: D.Chi2(3 * A),
    "Beta": lambda: D.Beta(A + 1, 2 * A + 1),
    "LogNormal, transformed": lambda: D.TransformedDistribution(D.Normal(A, 0.5 * ONE), D.ExpTransform()),
    "Normal, moved": lambda: D.TransformedDistribution(D.Normal(A, ONE), [D.AffineTransform(A, 2.0)]),
    "Normal, shared scale": lambda: D.Normal(A, 1.0),
    "Independent": lambda: D.Independent(D.Normal(A[:, None], ONE[:, None]), 1),
}


@pytest.mark.parametrize("name", LAWS)
def test_laws(name):
    theirs = LAWS[name]()
    law = as_distribution(theirs)
    kinds = {name.partition(",")[0], "Gamma", "Histogram", "StudentT", "Normal", "ScipyLaw"}
    assert len(law) == 3 and type(law).__name__ in kinds
    points = {"Uniform": [0.0, 0.5, 1.0], "Beta": [0.2, 0.5, 0.9]}.get(name, [1.0, 2.0, 3.0])
    y = torch.tensor(points, dtype=torch.float64)
    shaped = y[:, None] if name == "Independent" else y
    density = law.logpmf(y) if law.is_discrete else law.logpdf(y)
    np.testing.assert_allclose(density, theirs.log_prob(shaped).detach().reshape(-1).numpy(), rtol=1e-6)
    if name != "Cauchy" and not name.endswith(("moved", "transformed")):
        np.testing.assert_allclose(law.mean(), theirs.mean.detach().reshape(-1).numpy(), rtol=1e-6)
        np.testing.assert_allclose(law.var(), theirs.variance.detach().reshape(-1).numpy(), rtol=1e-6)


STEPS = {
    "sigmoid": lambda: [D.SigmoidTransform()],
    "mirrored": lambda: [D.AffineTransform(1.0, -2.0)],
    "several": lambda: [D.TanhTransform(), D.AffineTransform(A, 3.0)],
    "composed": lambda: [D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)])],
}


@pytest.mark.parametrize("name", STEPS)
def test_transformed_laws_without_a_name_go_through_quantiles(name):
    theirs = D.TransformedDistribution(D.Normal(A, ONE), STEPS[name]())
    state = torch.get_rng_state()
    law = as_distribution(theirs)
    assert type(law) is Quantiles and torch.equal(state, torch.get_rng_state())
    levels = torch.tensor([0.01, 0.3, 0.8], dtype=torch.float64)
    np.testing.assert_allclose(law.cdf(theirs.icdf(levels)), levels.numpy(), atol=1e-3)
    column = D.TransformedDistribution(D.Normal(A[:, None], ONE[:, None]), STEPS["sigmoid"]())
    np.testing.assert_allclose(as_distribution(column).median(), torch.sigmoid(A).numpy(), rtol=1e-9)


@pytest.mark.parametrize("nested", [False, True])
def test_mixtures(nested):
    weights = torch.tensor([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]], dtype=torch.float64)
    loc, scale = torch.stack([A, -A], 1), torch.stack([ONE, 2 * ONE], 1)
    parts = D.Independent(D.Normal(loc[..., None], scale[..., None]), 1) if nested else D.Normal(loc, scale)
    theirs = D.MixtureSameFamily(D.Categorical(weights), parts)
    law = as_distribution(theirs)
    assert type(law) is Mixture and len(law) == 3
    y = torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64)
    expected = theirs.log_prob(y[:, None] if nested else y)
    np.testing.assert_allclose(law.logpdf(y), expected.numpy(), rtol=1e-10)
    if not nested:
        np.testing.assert_allclose(law.cdf(y), theirs.cdf(y).numpy(), rtol=1e-10)


def test_one_law_and_samples():
    assert len(as_distribution(D.Normal(0.0, 1.0))) == 1
    mixture = D.MixtureSameFamily(D.Categorical(torch.tensor([0.3, 0.7])), D.Normal(torch.zeros(2), torch.ones(2)))
    assert len(as_distribution(mixture)) == 1
    assert type(as_distribution(torch.rand(3, 5))).__name__ == "Ensemble"


def test_what_is_refused_and_why():
    with pytest.raises(TypeError, match="AbsTransform is not monotone"):
        as_distribution(D.TransformedDistribution(D.Normal(A, ONE), [D.AbsTransform()]))
    with pytest.raises(TypeError, match="torch's VonMises is not known; known are Beta, Cauchy, Exponential"):
        as_distribution(D.VonMises(A, ONE))
    with pytest.raises(ValueError, match=r"batch shape \(n,\), \(n, 1\) or \(\); got \(2, 3\)"):
        as_distribution(D.Normal(torch.zeros(2, 3), 1.0))
    with pytest.raises(ValueError, match="1-D array of 3 numbers"):
        as_distribution(torch.zeros(3))
