"""What NGBoost predicts."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.adapters import as_distribution

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


def test_classes_are_refused():
    with pytest.raises(TypeError, match="not a law of one number"):
        as_distribution(distns.k_categorical(3)(np.zeros((2, 4))))
