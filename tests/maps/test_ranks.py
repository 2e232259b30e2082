"""Maps fitted to ranks, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from calibrant.maps import fit_ecdf, fit_isotonic, fit_step, ranks


def test_ecdf_passes_through_the_ranks_over_t_plus_one():
    fitted = fit_ecdf(np.array([2.0, -1.0, 0.5]))
    assert np.allclose(ndtr(fitted(np.array([-1.0, 0.5, 2.0]))), [0.25, 0.5, 0.75])
    assert fitted(np.array([1.25]))[0] == pytest.approx(0.5 * ndtri(0.75))  # half way, in normal scores


def test_ties_take_their_mid_rank():
    fitted = fit_ecdf(np.array([0.0, 1.0, 1.0, 2.0]))
    assert np.allclose(ndtr(fitted(np.array([0.0, 1.0, 2.0]))), [0.2, 0.5, 0.8])


def test_tails_go_on_with_the_slope_of_the_outermost_knots():
    z = np.linspace(-2, 2, 9)
    fitted = fit_ecdf(z)
    k = 3  # ceil(sqrt(9))
    slope = (ndtri(0.9) - ndtri(0.6)) / (z[-1] - z[-1 - k])
    assert fitted.tails[1] == pytest.approx(slope)
    assert fitted(np.array([5.0]))[0] == pytest.approx(ndtri(0.9) + 3 * slope)
    assert fit_ecdf(z, heavy_tails=True).tails == (1.0, 1.0)


def test_isotonic_is_linear_in_probability():
    p = np.array([0.2, 0.5, 0.6])
    fitted = fit_isotonic(ndtri(p))
    at = np.array([0.1, 0.2, 0.35, 0.55, 0.8])
    assert np.allclose(ndtr(fitted(ndtri(at))), np.interp(at, [0, *p, 1], [0, 0.25, 0.5, 0.75, 1]))


def test_isotonic_does_not_saturate():
    z = 8 * np.random.default_rng(0).standard_normal(500)  # many have a cdf of exactly 1.0
    assert (ndtr(z) == 1.0).mean() > 0.1
    fitted = fit_isotonic(z)
    inside = np.abs(z) < 30
    ranks = np.argsort(np.argsort(z)) + 1
    assert np.allclose(ndtr(fitted(z))[inside], ranks[inside] / 501, atol=1e-9)


def test_step_counts_what_lies_below():
    fitted = fit_step(np.array([1.0, 0.0, 1.0, 3.0]))
    z = np.array([-1.0, 0.0, 0.5, 1.0, 3.0])
    assert np.allclose(ndtr(fitted(z)), [0, 0.25, 0.25, 0.75, 1])
    assert np.allclose(ndtr(fitted(z, "left")), [0, 0, 0.25, 0.25, 0.75])
    assert np.array_equal(fitted.inverse(ndtri(np.array([0.1, 0.25, 0.26, 0.75, 0.9]))), [0, 0, 1, 1, 3])
    with pytest.raises(TypeError, match="step map gives atoms"):
        fitted.log_slope(z)


def test_finite_sample_steps_leave_the_rest_at_infinity():
    fitted = fit_step(np.array([0.0, 1.0, 2.0]), finite_sample=True)
    assert np.allclose(ndtr(fitted(np.array([0.0, 1.0, 2.0, 50.0]))), [0.25, 0.5, 0.75, 0.75])
    assert fitted.inverse(ndtri(np.array([0.8])))[0] == np.inf


def test_finite_sample_steps_keep_the_conformal_promise(rng):
    """P(Y <= quantile) is at least the level whatever T, here T = 9 and many repetitions."""
    z = rng.standard_normal((20_000, 10))
    below = [row[9] <= fit_step(row[:9], finite_sample=True).inverse(ndtri(np.array([0.7])))[0] for row in z]
    assert np.mean(below) == pytest.approx(0.7, abs=0.012)  # exact: the 7th of 9 ranks over 10


def test_some_of_very_many_knots_are_kept(rng, monkeypatch):
    z = rng.standard_t(5, 200_000)
    whole = fit_ecdf(z)
    monkeypatch.setattr(ranks, "MANY_KNOTS", 100_000)
    some = fit_ecdf(z)
    assert len(whole.knots) == 200_000 and 20_000 < len(some.knots) <= 30_000
    assert some.knots[[0, -1]].tolist() == whole.knots[[0, -1]].tolist() and some.tails == whole.tails
    at = np.concatenate([z[:20_000], np.sort(z)[:50], [-40.0, 40.0]])
    np.testing.assert_allclose(ndtr(some(at)), ndtr(whole(at)), atol=1e-4)
    np.testing.assert_allclose(some(at), whole(at), atol=2e-2)  # tails too
