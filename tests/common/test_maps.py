"""What must hold for every map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from calibrant import maps as m
from tests.common.examples import BATCH_MAPS, ROWS, exported, missing
from tests.common.examples import MAPS as CHEAP_MAPS

seeds = st.integers(0, 10_000)
MAPS = CHEAP_MAPS | BATCH_MAPS
FITS = [m.fit_spline, m.fit_ecdf, m.fit_isotonic, m.fit_step, m.fit_beta, m.fit_kernel]


def test_every_map_has_an_example(rng):
    maps = exported(m, m.Map)
    assert len(maps) >= 10 and not missing(m, m.Map, MAPS)
    for name, make in MAPS.items():
        assert isinstance(make(rng), maps[name.partition(",")[0]])


@pytest.mark.parametrize("name", MAPS)
@settings(max_examples=20)
@given(seed=seeds)
def test_increasing_inverse_and_slope(name, seed):
    rng = np.random.default_rng(seed)
    map = MAPS[name](rng)
    z = np.sort(rng.normal(0, 2.5, (ROWS, 30)), axis=1)
    t = map(z)
    assert t.shape == z.shape and np.all(t[:, 1:] >= t[:, :-1])
    if map.has_steps:
        levels = rng.normal(0, 1, (ROWS, 30))
        reached = map.inverse(levels)[:, :, None] <= z[:, None, :]
        assert np.array_equal(reached, levels[:, :, None] <= t[:, None, :])
        return
    assert np.allclose(map.inverse(t), z, rtol=1e-7, atol=1e-7)
    h = 1e-6
    slope = (map(z + h) - map(z - h)) / (2 * h)
    near = np.abs(z[..., None] - map.bends).min(axis=-1, initial=np.inf) < 3 * h
    assert np.allclose(slope[~near], np.exp(map.log_slope(z))[~near], rtol=2e-4)


@pytest.mark.parametrize("name", MAPS)
def test_ends_are_proper(name):
    map = MAPS[name](np.random.default_rng(0))
    ends = np.tile([-np.inf, np.inf], (ROWS, 1))
    assert np.array_equal(ndtr(map(ends)), np.tile([0.0, 1.0], (ROWS, 1)))
    far = np.tile([-60.0, -30.0, 30.0, 60.0], (ROWS, 1))
    assert not np.isnan(map(far)).any()
    if not map.has_steps:
        assert np.isfinite(map(far)).all() and np.isfinite(map.log_slope(far)).all()


@pytest.mark.parametrize("fit", FITS, ids=lambda f: f.__name__)
class TestEveryFit:
    def test_weight_two_is_the_row_twice(self, fit, rng):
        z = rng.normal(0.3, 1.4, 60)
        w = rng.integers(1, 4, 60).astype(float)
        grid = np.linspace(-4, 4, 41)
        assert np.allclose(fit(z, w)(grid), fit(np.repeat(z, w.astype(int)))(grid), atol=1e-7)

    def test_order_of_rows_does_not_matter(self, fit, rng):
        z = rng.normal(0.3, 1.4, 50)
        grid = np.linspace(-4, 4, 41)
        assert np.allclose(fit(z)(grid), fit(z[::-1])(grid), atol=1e-9)

    @pytest.mark.parametrize("z", [[0.4], [0.4, -1.0], [2.0] * 7, [0.0] * 5 + [1.0], [1e-300, -1e-300, 0.0]])
    def test_few_and_tied_rows_give_a_proper_map(self, fit, z):
        map = fit(np.array(z))
        grid = np.linspace(-50, 50, 101)
        t = map(grid)
        assert not np.isnan(t).any() and np.all(t[1:] >= t[:-1])

    def test_input_is_left_alone(self, fit, rng):
        z = rng.normal(size=20)
        kept = z.copy()
        z.flags.writeable = False
        fit(z, np.ones(20))
        assert np.array_equal(z, kept)

    def test_recovers_a_wrong_width_and_a_bias(self, fit, rng):
        z = rng.normal(1.0, 3.0, 20_000)
        levels = ndtr(fit(z)(1.0 + 3.0 * np.array([-1.0, 0.0, 1.0, 2.0])))
        nearest = 0.06 if fit is m.fit_beta else 0.015  # no beta map is a pure change of width
        assert np.allclose(levels, ndtr([-1.0, 0.0, 1.0, 2.0]), atol=nearest)
