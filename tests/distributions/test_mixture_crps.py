"""CRPS of mixtures of bent laws, beside dense Gauss-Legendre sums between all corners."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from calibrant.distributions import (
    Ensemble,
    Mixture,
    Normal,
    Recalibrated,
    StudentT,
)
from calibrant.distributions.mixture import crps as mixture_crps
from calibrant.distributions.mixture import grid as mixture_grid
from calibrant.distributions.mixture import panels as mixture_panels
from calibrant.maps import PiecewiseLinearMap, ProbabilityRows, UnitTails, fit_ecdf, fit_isotonic

N = 6
X, W = np.polynomial.legendre.leggauss(8)
LEVELS = np.arange(-9, 9.01, 0.125)


def dense(law, y, knots):
    """Integrate the squared error between all given knots and many quantiles of parts and bases, row by row."""
    quantiles = [part.from_normal(LEVELS[None, :]) for part in law.components]
    quantiles += [part.base.from_normal(LEVELS[None, :]) for part in law.components if isinstance(part, Recalibrated)]
    edges = np.sort(np.hstack([*quantiles, *knots, y[:, None]]), axis=1)
    half = 0.5 * np.diff(edges)[:, :, None]
    t = (edges[:, :-1, None] + half + half * X).reshape(len(y), -1)
    weights = np.broadcast_to(law.weights, (len(y), len(law.components)))
    side = np.where(t < y[:, None], 1.0, -1.0)
    error = sum(weights[:, [j]] * ndtr(side * part.to_normal(t)) for j, part in enumerate(law.components))
    return (half * W * np.square(error).reshape(*half.shape[:2], -1)).sum(axis=(1, 2))


def bases(rng, c=5, kind=Normal):
    return [kind(0.3 * rng.normal(size=N), np.exp(0.2 * rng.normal(size=N))) for _ in range(c)]


def scores(rng, k):
    return 1.5 * rng.standard_t(5, k) + 0.2


def outcomes(law):
    return law.sample(1, random_state=1)[:, 0] + 0.3


def knots_of(law):
    bent = [part for part in law.components if isinstance(part, Recalibrated)]
    return [part.base.from_normal(part.map.bends[None, :]) for part in bent]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("k", "way"), [(4, "between_corners"), (20, "between_corners"), (100, "over_cells"),
                                        (800, "over_cells")])  # fmt: skip
def test_normals_seen_through_ranks(rng, k, way, weighted, monkeypatch):
    parts = [Recalibrated(base, fit_ecdf(scores(rng, k))) for base in bases(rng)]
    law = Mixture(parts, rng.dirichlet(np.ones(5), N) if weighted else None)
    y = outcomes(law)
    assert mixture_crps._way(law).__name__ == way
    monkeypatch.setattr(mixture_crps.quadrature, "crps", None)
    np.testing.assert_allclose(law.crps(y), dense(law, y, knots_of(law)), rtol=5e-7)


def test_bent_lines_by_hand():
    """Two laws with one corner each, whose distribution functions are written out."""
    bent = [PiecewiseLinearMap(np.array([0.0, 1.0]), np.array([0.0, rise]), (1.0, rise)) for rise in (2.0, 0.5)]
    law = Mixture([Recalibrated(Normal([0.0], 1.0), map) for map in bent], [0.25, 0.75])

    def error(t):
        return 0.25 * ndtr(t if t < 0 else 2 * t) + 0.75 * ndtr(t if t < 0 else t / 2) - (t > 0.7)

    pieces = [quad(lambda t: error(t) ** 2, *ends, epsabs=1e-13)[0] for ends in ((-9, 0), (0, 0.7), (0.7, 25))]
    assert law.crps([0.7])[0] == pytest.approx(sum(pieces), rel=1e-9)
    by_cells, doubtful = mixture_grid.over_cells(law, np.ones(1))
    assert not doubtful.any()
    np.testing.assert_allclose(by_cells, mixture_panels.between_corners(law, np.ones(1))[0], rtol=1e-7)


def test_a_plain_normal_is_a_bent_line_too(rng):
    base = bases(rng, 2)
    law = Mixture([base[0], Recalibrated(base[1], fit_ecdf(scores(rng, 300)))], [0.3, 0.7])
    y = outcomes(law)
    assert mixture_crps._way(law) is mixture_grid.over_cells
    np.testing.assert_allclose(law.crps(y), dense(law, y, knots_of(law)), rtol=5e-7)


@pytest.mark.parametrize("kind", ["isotonic", "student", "ensemble", "rows", "tails"])
def test_other_laws_with_corners(rng, kind):
    make = {
        "isotonic": lambda p: Recalibrated(p, fit_isotonic(scores(rng, 60))),
        "student": lambda p: Recalibrated(StudentT(p.loc, p.scale, 5.0), UnitTails(fit_ecdf(scores(rng, 40)), -2, 2)),
        "ensemble": lambda p: Ensemble(p.sample(15, random_state=rng)),
        "rows": lambda p: Recalibrated(p, _segments(rng)),
        "tails": lambda p: Recalibrated(p, UnitTails(_segments(rng), -1.5, 1.5)),
    }[kind]
    law = Mixture([make(base) for base in bases(rng, 3)], rng.dirichlet(np.ones(3), N))
    y = outcomes(law)
    assert mixture_crps._way(law) is mixture_panels.between_corners
    np.testing.assert_allclose(law.crps(y), dense(law, y, [law._kinks()]), rtol=2e-7)


def _segments(rng):
    knots = np.sort(rng.normal(0, 1, (N, 4)), axis=1)
    return ProbabilityRows.from_log_masses(knots, np.log(rng.dirichlet(np.full(5, 3.0), N)))


@pytest.mark.parametrize("apart", [0.0, 3.0, 30.0])
def test_very_many_corners_without_closed_forms(rng, apart):
    first, second = bases(rng, 2)
    parts = [first, Normal(second.loc + apart, second.scale)]
    law = Mixture([Recalibrated(part, fit_isotonic(rng.standard_normal(1100))) for part in parts])
    y = outcomes(law)
    assert mixture_crps._way(law) is mixture_panels.between_corners
    np.testing.assert_allclose(law.crps(y), dense(law, y, knots_of(law)), rtol=2e-7)


def test_scales_and_places_that_differ_much(rng):
    maps = [fit_ecdf(scores(rng, 70)) for _ in range(3)]
    parts = [Normal([0.0, 0.0], [1.0, 1e-4]), Normal([1e3, 0.5], 1.0), Normal([0.0, 0.0], [1e-3, 2.0])]
    law = Mixture([Recalibrated(part, map) for part, map in zip(parts, maps, strict=True)])
    y = np.array([0.4, 0.1])
    np.testing.assert_allclose(law.crps(y), dense(law, y, knots_of(law)), rtol=1e-6)


def test_components_that_are_points_to_rounding(rng):
    maps = [fit_ecdf(scores(rng, 100)) for _ in range(2)]
    apart = Mixture([Recalibrated(Normal([place], 1e-300), map) for place, map in zip((1.0, 2.0), maps, strict=True)])
    np.testing.assert_allclose(apart.crps([1.5]), 0.25, rtol=1e-6)
    together = Mixture([Recalibrated(Normal([5.0], 1e-300), map) for map in maps])
    assert together.crps([5.0])[0] < 1e-290
    assert len(together[:0].crps(np.empty(0))) == 0


def test_kronrod_points_are_exact_for_powers():
    for power in range(12):
        exact = 0.0 if power % 2 else 2 / (power + 1)
        assert mixture_panels.NODES**power @ mixture_panels.KRONROD == pytest.approx(exact, abs=1e-15)
        if power < 6:
            assert mixture_panels.NODES**power @ mixture_panels.GAUSS == pytest.approx(exact, abs=1e-15)
