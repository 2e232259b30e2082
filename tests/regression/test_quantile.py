"""Quantile recalibration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from calibrant import Ensemble, Gamma, Normal, Poisson, QuantileCalibrator, StudentT, metrics
from calibrant.regression.map_choice import FITS

LEVELS, ALLOWED = [0.5, 0.9, 0.99, 0.999], [0.01, 0.006, 0.003, 0.0012]


@pytest.mark.parametrize("map", ["spline", "ecdf"])
@pytest.mark.parametrize("factor", [2, 8])
def test_tails_of_forecasts_that_are_far_too_narrow(map, factor):
    rng = np.random.default_rng(factor)
    mu = rng.normal(size=220_000)
    y = mu + factor * rng.standard_normal(220_000)
    old, new = slice(0, 20_000), slice(20_000, None)
    law = QuantileCalibrator(map=map).fit(Normal(mu[old], 1.0), y[old]).transform(Normal(mu[new], 1.0))
    for level, allowed in zip(LEVELS, ALLOWED, strict=True):
        low, high = law.interval(level).T
        assert np.mean((low <= y[new]) & (y[new] <= high)) == pytest.approx(level, abs=allowed)
    assert np.isfinite(law.logpdf(y[new])).all()


def test_isotonic_has_the_noisy_density_the_papers_have(rng):
    """Harmless in calibration, about 0.4 nats in density; the default is not (see experiments/harmless)."""
    mu = rng.normal(size=10_500)
    y = mu + rng.standard_normal(10_500)
    cost = {}
    for map in ("isotonic", "spline"):
        law = QuantileCalibrator(map=map).fit(Normal(mu[:500], 1.0), y[:500]).transform(Normal(mu[500:], 1.0))
        cost[map] = metrics.nll(y[500:], law) - metrics.nll(y[500:], Normal(mu[500:], 1.0))
    assert 0.2 < cost["isotonic"] < 0.7
    assert cost["spline"] < 0.01


def test_ecdf_quantiles_are_the_papers_order_statistics():
    y = np.array([3.0, 1.0, 2.0, 5.0])
    law = QuantileCalibrator(map="ecdf").fit(Normal(np.zeros(4), 1.0), y).transform(Normal([10.0], [2.0]))
    assert np.allclose(law.quantiles([0.2, 0.4, 0.6, 0.8]), 10 + 2 * np.array([[1, 2, 3, 5]]))


@pytest.mark.parametrize("map", [m for m in FITS if m != "step"])
def test_small_ensembles_with_half_the_spread(map):
    rng = np.random.default_rng(0)
    centre = rng.normal(size=(10_000, 1))
    members = centre + 0.5 * rng.standard_normal((10_000, 20))
    y = centre[:, 0] + rng.standard_normal(10_000)
    raw = Ensemble(members, kind="discrete")
    assert np.mean((raw.cdf(y) > 0) & (raw.cdf(y) < 1)) < 0.64  # beyond any map
    law = QuantileCalibrator(map=map).fit(Ensemble(members[:5000]), y[:5000]).transform(Ensemble(members[5000:]))
    low, high = law.interval(0.9).T
    assert 0.88 <= np.mean((low <= y[5000:]) & (y[5000:] <= high)) <= 0.92


def test_counts_stay_counts_and_get_calibrated():
    rng = np.random.default_rng(0)
    rate = np.exp(rng.normal(2, 0.5, 20_000))
    y = rng.poisson(rate * rng.gamma(4, 1 / 4, 20_000))  # overdispersed
    law = QuantileCalibrator().fit(Poisson(rate[:5000]), y[:5000]).transform(Poisson(rate[5000:]))
    assert law.is_discrete
    assert np.array_equal(law.median(), np.round(law.median()))
    base = Poisson(rate[5000:])
    assert metrics.nll(y[5000:], law) < metrics.nll(y[5000:], base) - 0.3
    assert metrics.calibration_error(y[5000:], law) < 0.1 * metrics.calibration_error(y[5000:], base)
    spread = QuantileCalibrator().fit(Poisson(rate[:5000]), y[:5000]).map_(np.array([1.0]))
    drawn = QuantileCalibrator(atoms="random", random_state=0).fit(Poisson(rate[:5000]), y[:5000]).map_(np.array([1.0]))
    assert drawn == pytest.approx(spread, abs=0.05)
    assert drawn != spread


def test_student_t_stretched_keeps_its_tail_index():
    rng = np.random.default_rng(0)
    y = 3 * rng.standard_t(4, 5000)
    law = QuantileCalibrator().fit(StudentT(np.zeros(5000), 1.0, 4.0), y).transform(StudentT([0.0], 1.0, 4.0))
    far = np.array([[1e12, 1e13]])
    assert float(np.diff(law.logsf(far))[0, 0] / np.log(10)) == pytest.approx(-4, abs=0.5)
    assert law.tail_index[0] == 4 and np.isfinite(law.var()[0])


def test_a_bounded_law_stays_in_its_support():
    rng = np.random.default_rng(0)
    y = rng.gamma(1.0, 3.0, 2000)
    law = QuantileCalibrator().fit(Gamma(np.full(2000, 4.0), 1.0), y).transform(Gamma([4.0], 1.0))
    assert law.ppf([1e-12])[0] >= 0 and law.cdf([0.0])[0] == 0
    assert np.all(law.sample(1000, random_state=0) > 0)


def test_outcomes_outside_the_support_are_named():
    with pytest.raises(
        ValueError, match=r"`y` must be inside the support of its forecast; 1 of 3 values is not, first y\[1\] = -2.0"
    ):
        QuantileCalibrator().fit(Gamma([1.0, 1.0, 1.0], 1.0), [1.0, -2.0, 3.0])


def test_unknown_map_lists_the_choices():
    with pytest.raises(ValueError, match="`map` must be one of 'spline', 'ecdf'.*got 'cubic'"):
        QuantileCalibrator(map="cubic").fit(Normal([0.0], 1.0), [0.0])


def test_a_map_fitted_on_light_tails_does_not_break_heavy_ones():
    rng = np.random.default_rng(0)
    cal = QuantileCalibrator().fit(Normal(np.zeros(1000), 1.0), 3 * rng.standard_normal(1000))
    base = StudentT([0.0], 1.0, 3.0)
    far = np.array([[1e12, 1e24, 1e48]])
    shift = cal.transform(base).to_normal(far) - base.to_normal(far)
    assert np.allclose(shift, shift[0, 0])  # slope 1 in normal scores beyond the data


def test_index_survives():
    import pandas as pd

    index = pd.Index(["x", "y", "x"], name="shop")
    forecasts = Normal(pd.Series([1.0, 2.0, 3.0], index=index), 1.0)
    frame = QuantileCalibrator().fit(forecasts, [1.0, 2.5, 2.0]).transform(forecasts).to_frame([0.1, 0.9])
    assert frame.index.equals(index) and list(frame.columns) == ["q0.1", "q0.9"]


def test_weights_shift_the_median():
    z = np.array([-1.0, 0.0, 1.0])
    law = (
        QuantileCalibrator(map="ecdf")
        .fit(Normal(np.zeros(3), 1.0), z, sample_weight=[0, 1, 3])
        .transform(Normal([0.0], 1.0))
    )
    assert law.cdf([1.0])[0] == pytest.approx((1 + 2) / 5)  # mid-rank of ranks 2..4 over T+1 = 5
    assert law.to_normal(np.array([1.0]))[0] == pytest.approx(ndtri(0.6))


def test_an_atom_of_probability_one_is_no_impossible_outcome(rng):
    """A discrete ensemble whose members are all 0, and the outcome is 0: the rank may be anything."""
    sure = Ensemble(np.zeros((20, 3)), kind="discrete")
    law = QuantileCalibrator().fit(sure, np.zeros(20)).transform(sure)
    assert law.median().tolist() == [0.0] * 20
    with pytest.raises(ValueError, match="inside the support of its forecast; 1 of 20"):
        QuantileCalibrator().fit(sure, np.append(np.zeros(19), 1.0))
