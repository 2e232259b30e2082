"""Draws of posterior predictions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from calibrant.adapters import as_distribution
from calibrant.distributions import Ensemble

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a notice of what will change
    arviz = pytest.importorskip("arviz")


def made(**groups):
    """As ArviZ makes it: InferenceData before version 1, a DataTree since."""
    return arviz.from_dict(groups) if int(arviz.__version__.partition(".")[0]) else arviz.from_dict(**groups)


def test_draws_of_all_chains_are_samples(rng):
    draws = rng.normal(size=(2, 50, 3))  # chains, draws, rows
    data = made(posterior_predictive={"y": draws})
    predictive = data.posterior_predictive
    for given in (data, predictive, predictive["y"], predictive["y"].transpose("y_dim_0", "draw", "chain")):
        law = as_distribution(given)
        assert type(law) is Ensemble and len(law) == 3
        np.testing.assert_array_equal(law.samples, np.sort(draws.reshape(100, 3).T, axis=1))
    assert len(as_distribution(made(predictions={"y": draws}))) == 3
    assert len(as_distribution(predictive["y"][:, :, 0])) == 1


def test_what_is_refused_and_why(rng):
    draws = rng.normal(size=(2, 50, 3))
    with pytest.raises(ValueError, match=r"must be of one variable; got 2: a, b. Select one.*\[\"a\"\]"):
        as_distribution(made(posterior_predictive={"a": draws, "b": draws}))
    with pytest.raises(ValueError, match="(InferenceData|DataTree) must have draws: a group posterior_predictive"):
        as_distribution(made(posterior={"a": draws}))
    with pytest.raises(ValueError, match="along one dimension of rows; got y_dim_0, y_dim_1"):
        as_distribution(made(posterior_predictive={"y": draws[..., None] + np.zeros(2)}))
