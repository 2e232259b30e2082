"""Objects that look like those of libraries which need not be installed here."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import stats

from calibrant import QuantileCalibrator
from calibrant.adapters import as_distribution, as_skpro
from calibrant.distributions import Ensemble, Normal, Quantiles


class OfSkpro:
    """What all of skpro's distributions have."""

    index = None

    def __init__(self, **parameters):
        vars(self).update(parameters)


OfSkpro.__module__ = "skpro.distributions.base"


def test_skpro_by_name_through_scipy_and_through_quantiles():
    class Normal_(OfSkpro):  # noqa: N801
        mu, sigma, shape = np.array([[0.0], [1.0]]), 2.0, (2, 1)

    Normal_.__name__ = "Normal"
    law = as_distribution(Normal_())
    assert type(law) is Normal and law.loc.tolist() == [0.0, 1.0] and law.scale.tolist() == [2.0, 2.0]

    class Adapted(OfSkpro):
        shape = (2, 1)

        def _get_scipy_object(self):
            return stats.gamma

        def _get_scipy_param(self):
            return [np.array([[2.0], [3.0]])], {"scale": 0.5}

    np.testing.assert_allclose(as_distribution(Adapted()).mean(), [1.0, 1.5])

    class Unknown(OfSkpro):
        shape = (2, 1)

        def quantile(self, levels):
            return stats.gumbel_l.ppf(np.array(levels), loc=[[0.0], [5.0]])

    law = as_distribution(Unknown())
    assert type(law) is Quantiles
    np.testing.assert_allclose(law.cdf([0.5, 4.0]), stats.gumbel_l.cdf([0.5, 4.0], [0.0, 5.0]), atol=1e-4)
    with pytest.raises(ValueError, match=r"skpro's Unknown must have one column; got shape \(2, 3\)"):
        as_distribution(Unknown(shape=(2, 3)))


class Draws:
    """An array with named dimensions, as xarray's."""

    def __init__(self, values, *dims):
        self.values, self.dims = values, dims

    def transpose(self, *dims):
        return Draws(np.transpose(self.values, [self.dims.index(name) for name in dims]), *dims)


class Group:
    """A dataset, as xarray's."""

    def __init__(self, **variables):
        self.data_vars = variables
        self.dims = next(iter(variables.values())).dims

    def __getitem__(self, name):
        return self.data_vars[name]


class InferenceData:
    """Groups of draws, as ArviZ's."""

    def __init__(self, **groups):
        vars(self).update(groups)


Draws.__module__ = Group.__module__ = "xarray.core"
InferenceData.__module__ = "arviz.data.inference_data"


def test_draws_of_posterior_predictions(rng):
    values = rng.normal(size=(2, 5, 3))
    draws = Draws(values, "chain", "draw", "day")
    for given in (draws, Group(y=draws), InferenceData(posterior_predictive=Group(y=draws), posterior=None)):
        law = as_distribution(given)
        assert type(law) is Ensemble
        np.testing.assert_array_equal(law.samples, np.sort(values.reshape(10, 3).T, axis=1))
    assert len(as_distribution(Draws(values[..., 0], "chain", "draw"))) == 1
    with pytest.raises(ValueError, match="InferenceData must have draws: a group posterior_predictive"):
        as_distribution(InferenceData(posterior=Group(y=draws)))
    with pytest.raises(ValueError, match="must be of one variable; got 2: a, b. Select one"):
        as_distribution(Group(a=draws, b=draws))
    with pytest.raises(ValueError, match="along one dimension of rows; got day, hour"):
        as_distribution(Draws(values[..., None], "chain", "draw", "day", "hour"))


def test_what_is_missing_is_told(monkeypatch, tmp_path):
    from calibrant.engines import mlflow as models

    missing = ("skpro", "mlflow")
    for name in {*missing, *(name for name in sys.modules if name.partition(".")[0] in missing)}:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "calibrant.adapters.skpro_objects", raising=False)
    with pytest.raises(ImportError, match="as_skpro needs skpro, which is not installed: pip install skpro"):
        as_skpro(Normal([0.0], 1.0))
    calibrator = QuantileCalibrator().fit(Normal([0.0, 1.0, 2.0], 1.0), [0.5, 0.5, 3.5])
    for job in (lambda: models.save_model(calibrator, tmp_path / "model"), lambda: models.load_model("model")):
        with pytest.raises(
            ImportError, match="engines.mlflow needs mlflow, which is not installed: pip install mlflow"
        ):
            job()
    with pytest.raises(TypeError, match="must be a fitted calibrator of this library; got 3"):
        models.save_model(3, tmp_path / "model")
