"""A law seen through maps evaluates its base once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.special import ndtr

from calibrant import Gumbel, Laplace, Logistic, Mixture, Normal, Recalibrated, StudentT, Truncated, concatenate
from calibrant.distributions import Distribution, LocationScale
from calibrant.distributions.shifted import Shifted
from calibrant.maps import (
    AffineMap,
    AveragedBetaMap,
    BetaMap,
    FlowMap,
    PiecewiseLinearMap,
    SplineMap,
    UnitTails,
    fit_isotonic,
    fit_step,
)
from tests.common.examples import BATCH_MAPS, LAWS, MAPS

KNOTS = np.array([-1.0, 0.0, 1.0])
BENT = PiecewiseLinearMap(KNOTS, np.array([-0.8, 0.1, 1.4]))
SMOOTH = SplineMap.through(KNOTS, np.array([0.7, 1.4, 0.9]))


@dataclass(frozen=True, eq=False, repr=False)
class Counting(LocationScale):
    """A normal law that counts how often its scores are asked for."""

    _by_row: ClassVar[tuple[str, ...]] = ("loc", "scale")
    calls: ClassVar[list[int]] = [0]

    loc: np.ndarray
    scale: np.ndarray

    def __post_init__(self):
        self._set_columns(loc=self.loc, scale=self.scale)

    def _standard_to_normal(self, u):
        self.calls[0] += 1
        return u

    def _standard_from_normal(self, z):
        return z

    def _standard_log_slope(self, u, z):
        return np.zeros(u.shape)


@dataclass(frozen=True, eq=False)
class CountingMap(AffineMap):
    """An affine map that counts its evaluations."""

    calls: ClassVar[list[int]] = [0]

    def __call__(self, z, side="right"):
        self.calls[0] += 1
        return super().__call__(z, side)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda law: Recalibrated(law, BENT),
        lambda law: Recalibrated(Recalibrated(law, SMOOTH), BENT),
        lambda law: Recalibrated(Recalibrated(Recalibrated(law, BetaMap(1.2, 0.9, 0.1)), SMOOTH), BENT),
        lambda law: Recalibrated(Recalibrated(law, UnitTails(SMOOTH, -2.0, 2.0)), SMOOTH),
        lambda law: Recalibrated(Shifted(law, [1.0, 2.0, 3.0]), SMOOTH),
    ],
)
def test_the_log_density_evaluates_the_base_once(wrap):
    law, peer = (wrap(kind([0.0, 1.0, 5.0], [1.0, 2.0, 0.5])) for kind in (Counting, Normal))
    y = np.array([0.3, -4.0, 5.4])
    Counting.calls[0] = 0
    density = law.logpdf(y)
    assert Counting.calls[0] == 1
    np.testing.assert_allclose(density, peer.logpdf(y), rtol=1e-14)
    step = 1e-6
    np.testing.assert_allclose(np.exp(density), (law.cdf(y + step) - law.cdf(y - step)) / (2 * step), rtol=1e-7)


def test_joined_rows_evaluate_their_base_once():
    law = Recalibrated(concatenate([Counting([0.0], 1.0), Normal([1.0, 2.0], 1.0)]), SMOOTH)
    Counting.calls[0] = 0
    law.logpdf([0.3, 0.4, 5.0])
    assert Counting.calls[0] == 1


def test_inner_maps_are_evaluated_once():
    law = Recalibrated(Recalibrated(Normal([0.0], 1.0), CountingMap(0.2, 1.5)), SMOOTH)
    CountingMap.calls[0] = 0
    law.logpdf([0.3])
    assert CountingMap.calls[0] == 1


@pytest.mark.parametrize("name", [name for name in MAPS | BATCH_MAPS if "Step" not in name])
def test_maps_give_the_same_together_as_apart(name, rng):
    map = (MAPS | BATCH_MAPS)[name](rng)
    z = np.concatenate([rng.normal(0, 2, (3, 20)), np.full((3, 1), 60.0), np.full((3, 1), -60.0)], axis=1)
    value, log_slope = map.value_and_log_slope(z)
    np.testing.assert_array_equal(value, map(z))
    np.testing.assert_array_equal(log_slope, map.log_slope(z))
    for points in (z, z[:1]):
        score = map(points)
        np.testing.assert_allclose(map.probabilities(points), [ndtr(score), ndtr(-score)], rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    "name", [name for name in LAWS if not {"discrete", "ties", "Censored"} & set(name.split(", "))]
)
def test_laws_give_the_same_together_as_apart(name, rng):
    law = LAWS[name](rng)
    if law.is_discrete:
        with pytest.raises(TypeError, match="no density"):
            law.score_and_log_slope(np.zeros(3))
        return
    y = law.from_normal(rng.normal(0, 1.5, (3, 9)))
    z, log_slope = law.score_and_log_slope(y)
    np.testing.assert_array_equal(z, law.to_normal(y))
    np.testing.assert_array_equal(log_slope, law.log_slope(y))


def test_a_table_of_many_points_serves_both(rng):
    map = AveragedBetaMap(np.zeros((1, 3)), 0.2 * np.eye(3)[None])
    z = np.linspace(-4, 4, 5000)[None, :]
    value, log_slope = map.value_and_log_slope(z)
    np.testing.assert_array_equal(value, map(z))
    np.testing.assert_array_equal(log_slope, map.log_slope(z))


@pytest.mark.parametrize("kind", [Laplace, Logistic, Gumbel])
def test_slopes_of_nested_laws_add(kind):
    base = kind([0.0, 1.0], [1.0, 2.0])
    law = Recalibrated(Truncated(Mixture([base, StudentT([0.0, 0.0], 1.0, 5.0)]), lower=-3.0), AffineMap(0.1, 0.9))
    y, step = np.array([0.4, 2.0]), 1e-6
    slope = (law.to_normal(y + step) - law.to_normal(y - step)) / (2 * step)
    np.testing.assert_allclose(np.exp(law.log_slope(y)), slope, rtol=1e-7)


@pytest.mark.parametrize(
    "law",
    [Normal(np.linspace(-3, 3, 4096), 1.5), StudentT(np.zeros(4096), 1.0, 2.0), Logistic(np.zeros(4096), 0.5)],
    ids=repr,
)
def test_tables_of_scores_of_many_rows_are_right(law, rng):
    y = law.sample(1, rng)[:, 0] * 1.5
    y[:4] = 1e6, -1e6, np.inf, np.nan
    same = Recalibrated(law, BetaMap())
    np.testing.assert_allclose(same.crps(y), law.crps(y), rtol=3e-10)
    bent, step = fit_isotonic(rng.normal(0.3, 1.3, 60)), fit_step(rng.normal(size=30))
    for map in (BetaMap(2.0, 0.7, -0.4), UnitTails(SMOOTH, -1.0, 1.0), bent, step):
        whole, few = Recalibrated(law, map), slice(0, 4096, 41)
        np.testing.assert_allclose(whole.crps(y)[few], whole[few].crps(y[few]), rtol=3e-10)


def _row_maps(rng):
    """Smooth maps with one map a row, the last of which is too steep for the nodes that rows share."""
    same = np.ones(4)
    heights = np.array([[0.0, 1.0], [2.0, 0.3], [0.1, 0.1], [90.0, 0.0]])
    flow = FlowMap(same, 1.3 * same, 0.2 * same, heights, np.tile([-1.0, 0.5], (4, 1)), 0.2 * same, 0 * same, same)
    mean = np.array([[0.1, -0.2, 0.3], [-0.3, 0.2, 0.0], [0.0, 0.0, -0.5], [3.5, 3.5, 2.0]])
    return flow, AveragedBetaMap(mean, 0.2 * rng.normal(size=(4, 3, 3)) * np.tri(3))


@pytest.mark.parametrize("kind", [Normal, Logistic, Laplace])
def test_nodes_that_rows_share_give_what_quadrature_gives(kind, rng):
    base, y = kind([3.0, 0.0, 0.0, 0.0], [1.0, 2.0, 0.5, 1.0]), np.array([3.0, -1.2, 40.0, 0.1])
    for map in _row_maps(rng):
        for law in (Recalibrated(base, map), Recalibrated(Recalibrated(base, SMOOTH), map)):
            assert law._nodes is not None
            np.testing.assert_allclose(law.mean(), Distribution.mean(law), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(law.var(), Distribution.var(law), rtol=1e-8)
            np.testing.assert_allclose(law.crps(y), Distribution.crps(law, y), rtol=1e-8)
            assert law._nodes.crps(y)[1][2:].tolist() == [False, True]
