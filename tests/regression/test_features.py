"""Landmarks by hand, and quantiles of weighted values."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.utils import get_tags

from calibrant import CalibratedRegressor, Normal, PointCalibrator, QuantileCalibrator
from calibrant.regression.features import distinct, distinct_rows, fit_basis, weighted_quantiles
from calibrant.regression.gp_beta.inference import promise
from calibrant.regression.gp_beta.kernels import Scaling


@pytest.mark.parametrize(("rows", "features", "landmarks"), [(90, 1, 5), (240, 1, 8), (900, 1, 10), (3000, 2, 28)])
def test_one_landmark_for_thirty_rows(rows, features, landmarks, rng):
    x = rng.normal(size=(rows, features))
    assert len(fit_basis(x, np.ones(rows), np.ones(features)).landmarks) == landmarks


def test_quantiles_reach_both_ends():
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    assert weighted_quantiles(values, weights, np.array([0.0, 0.25, 0.3, 0.75, 0.8, 1.0])).tolist() == [
        1,
        1,
        2,
        2,
        3,
        3,
    ]


def test_models_that_hit_every_outcome_whatever_the_unit():
    y = np.linspace(0, 1e6, 9)
    model, sample = CalibratedRegressor(), SimpleNamespace(y=y)
    assert model._hits_all(Normal(y + 1e-3, 1.0), sample) and not model._hits_all(Normal(y + 10, 1.0), sample)
    small = SimpleNamespace(y=y * 1e-12)
    assert not model._hits_all(Normal(small.y + 1e-8, 1.0), small)


def test_what_the_next_step_promises():
    """A quadratic bound -½ (m - a)ᵀ P (m - a) gains ½ gᵀ P⁻¹ g, g its slope less the prior's pull."""
    posterior = SimpleNamespace(mean=np.array([[1.0], [2.0]]), cover=np.diag([0.5, 0.25]))
    fit = SimpleNamespace(gradient=np.array([[3.0], [0.0]]), posterior=posterior)
    assert promise(fit) == pytest.approx(0.5 * (2.0**2 * 0.5 + 2.0**2 * 0.25))


def test_forecasts_that_hardly_differ_are_not_magnified():
    one = Scaling.of(Normal(np.full(9, 5.0), 2.0), np.ones(9))
    assert (one.centre, one.unit, one.log_unit) == pytest.approx((5.0, 0.2, 0.3)) and not one.spreads_differ
    wide = Scaling.of(Normal([1.0, 9.0], [1.0, 4.0]), np.ones(2))
    assert wide.unit == pytest.approx(4.0) and wide.log_unit == pytest.approx(np.log(2)) and wide.spreads_differ


def test_the_span_of_the_scores_is_kept():
    made = QuantileCalibrator("ecdf").fit(Normal(np.zeros(5), 2.0), [-4.0, 1.0, 0.0, 2.0, 6.0])
    assert made.span_ == (-2.0, 3.0)


def test_points_are_columns():
    assert get_tags(PointCalibrator()).input_tags.one_d_array


@pytest.mark.parametrize(("weights", "kept"), [([1.0, 2.0, 3.0], [3.0, 3.0]), ([1e12, 2e12, 1e12], [4.5, 1.5])])
def test_equal_rows_are_one_and_none_is_believed_too_much(weights, kept):
    law, y, w = distinct_rows(Normal([1.0, 1.0, 2.0], 1.0), np.array([0.5, 0.5, 0.5]), np.array(weights))
    assert w.tolist() == pytest.approx(kept) and y.tolist() == [0.5, 0.5] and law.mean().tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("outcomes", "copies"), [(1, 3.0), (3, 3.0), (4, 64 / 9), (5, 10.0), (9, 10.0)])
@pytest.mark.parametrize("each", [2.0, 10.0, 11.0, 1e12])
def test_vast_weights_are_believed_for_the_outcomes_that_a_forecast_has(outcomes, copies, each):
    mu, y = np.repeat([0.0, 1.0, 5.0], outcomes), np.tile(np.arange(outcomes), 3).astype(float)
    mu = mu + 1e-13 * np.arange(len(mu))  # forecasts that agree but for rounding are one
    rows, w = distinct(Normal(mu, 1.0), y, np.full(len(y), each))
    assert len(rows) == len(y) and np.allclose(w, each if each <= 10 else copies)
    _, fewer = distinct(Normal(mu, 1.0), y, np.full(len(y), each), copies=1.0)
    assert np.allclose(fewer, each if each <= 10 else min(max(outcomes / 3, 1.0) ** 3, 10.0))
