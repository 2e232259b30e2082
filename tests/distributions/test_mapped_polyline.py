"""Tables of quantiles and ensembles seen through shared maps: sums over segments beside quadrature."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from calibrant.distributions import Ensemble, Normal, Quantiles, Recalibrated
from calibrant.distributions.integrals import quadrature
from calibrant.maps import AffineMap, fit_beta, fit_ecdf, fit_isotonic, fit_kernel, fit_spline

LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
ROWS = 12


def _quantiles(rng, rows=ROWS):
    values = rng.normal(0, 1, (rows, 1)) + ndtri(LEVELS) * np.exp(rng.normal(0, 0.3, (rows, 1)))
    return Quantiles(LEVELS, np.sort(values + 0.05 * rng.normal(size=values.shape), axis=1))


BASES = {
    "quantiles": _quantiles,
    "ensemble": lambda rng: Ensemble(rng.normal(0, 1, (ROWS, 15))),
    "ties": lambda rng: Ensemble(np.round(rng.normal(0, 1, (ROWS, 15)), 0) + np.arange(15) // 8),
    "weights": lambda rng: Ensemble(rng.normal(0, 1, (ROWS, 9)), weights=rng.integers(1, 5, (ROWS, 9))),
    "near ties": lambda rng: Quantiles([0.1, 0.5, 0.5 + 1e-5, 0.9], np.sort(rng.normal(0, 1, (ROWS, 4)), axis=1)),
}
FITS = {"isotonic": fit_isotonic, "ecdf": fit_ecdf, "spline": fit_spline, "kernel": fit_kernel, "beta": fit_beta}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("fit", FITS)
def test_sums_are_the_integrals(base, fit, rng):
    law = Recalibrated(BASES[base](rng), FITS[fit](rng.normal(0.2, 1.4, 60)))
    np.testing.assert_allclose(law.mean(), quadrature.mean(law), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(law.std(), np.sqrt(quadrature.variance(law)), rtol=1e-7)
    for y in (rng.normal(0, 1.5, ROWS), np.full(ROWS, 40.0), np.full(ROWS, -40.0), law.base.median()):
        np.testing.assert_allclose(law.crps(y), quadrature.crps(law, y), rtol=1e-8)


def test_many_knots_by_hand(rng):
    """F is linear in the base's probability between knots: a fine trapezoid over y is exact enough."""
    law = Recalibrated(_quantiles(rng, 2), fit_isotonic(rng.normal(0.2, 1.4, 2000)))
    y = np.array([0.3, 2.5])
    for row in range(2):
        t = np.linspace(-60, 60, 1_200_001)
        cdf = law[row].cdf(t[None, :])[0]
        score = np.trapezoid(np.square(cdf - (t >= y[row])), t)
        assert law.crps(y)[row] == pytest.approx(score, rel=1e-4)
        mean = 60 - np.trapezoid(cdf, t)
        assert law.mean()[row] == pytest.approx(mean, abs=1e-4)
        second = 2 * np.trapezoid(np.abs(t) * np.where(t < 0, cdf, 1 - cdf), t)
        assert law.var()[row] == pytest.approx(second - mean**2, rel=1e-4)


def test_a_map_that_does_nothing_changes_nothing(rng):
    base = _quantiles(rng)
    law, y = Recalibrated(base, AffineMap(0.0, 1.0)), rng.normal(0, 2, ROWS)
    np.testing.assert_allclose(law.mean(), base.mean(), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(law.std(), base.std(), rtol=1e-12)
    np.testing.assert_allclose(law.crps(y), base.crps(y), rtol=1e-12)


def test_two_levels_are_a_normal_law():
    z = np.array([-1.0, 1.0])
    map = fit_spline(np.linspace(-2, 2.5, 200))
    law, peer = Recalibrated(Quantiles(ndtr(z), [2.0 + 3 * z]), map), Recalibrated(Normal([2.0], 3.0), map)
    for ours, theirs in ((law.mean(), peer.mean()), (law.std(), peer.std()), (law.crps([4.0]), peer.crps([4.0]))):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_many_rows_take_microseconds(rng):
    law, y = Recalibrated(_quantiles(rng, 2000), fit_isotonic(rng.normal(0.2, 1.4, 2000))), rng.normal(0, 1, 2000)
    law[:1].mean()
    start = time.process_time()
    law.mean(), law.std(), law.crps(y)
    assert time.process_time() - start < 2000 * 200e-6
