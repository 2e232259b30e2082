from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.numerics.blocks import BLOCK, in_blocks
from calibrant.numerics.lookup import KnotIndex, bent_line, count_reached

RNG = np.random.default_rng(0)
X = RNG.standard_normal(3000)
SETS = {
    "normal": X[:50],
    "many": np.concatenate([X, X + 0.1, 2 * X]),
    "tied": np.round(X, 1),
    "cauchy": RNG.standard_cauchy(3000),
    "cluster": np.concatenate([5 + 1e-9 * X[:500], X[:100]]),
    "all scales": 10.0 ** RNG.uniform(-300, 300, 1000) * np.sign(X[:1000]),
    "equal": np.zeros(7),
    "one": np.array([3.0]),
    "none": np.empty(0),
    "infinite": np.concatenate([[-np.inf], X[:40], [np.inf]]),
    "only infinite": np.array([-np.inf, np.inf]),
    "largest": np.array([-1e308, 1e308]),
    "neighbours": 1 + np.arange(200) * 2.3e-16,
    "far away": 1e9 + X[:30],
}


@pytest.mark.parametrize("name", SETS)
def test_segments_are_those_of_searchsorted(name: str) -> None:
    knots = np.sort(SETS[name])
    near = np.concatenate([knots, np.nextafter(knots, np.inf), np.nextafter(knots, -np.inf)])
    far = np.array([0.0, np.inf, -np.inf, 1e308, -1e308, 1e-320])
    z = np.concatenate([near, far, 3 * X, 100 * SETS["cauchy"], RNG.standard_normal(BLOCK)])
    assert (KnotIndex(knots).segment(z) == np.searchsorted(knots, z, side="right")).all()


@given(st.lists(st.floats(allow_nan=False), max_size=40), st.lists(st.floats(allow_nan=False), max_size=40))
def test_any_knots_and_any_queries(knots: list[float], z: list[float]) -> None:
    sorted_knots, queries = np.sort(np.array(knots, dtype=float)), np.array(z + knots, dtype=float)
    expected = np.searchsorted(sorted_knots, queries, side="right")
    assert (KnotIndex(sorted_knots).segment(queries) == expected).all()


def test_any_shape() -> None:
    z = X[:24].reshape(2, 3, 4)
    index = KnotIndex(np.array([0.0]))
    assert index.segment(z).shape == z.shape
    assert index.segment(np.tile(z, (1000, 1, 1))[:, ::2]).shape == (2000, 2, 4)
    assert in_blocks(np.square, np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("name", ["normal", "many", "cluster", "one", "tied", "far away"])
@pytest.mark.parametrize("rows", [10, 3 * BLOCK])
def test_bent_lines_are_those_of_interp(name: str, rows: int) -> None:
    knots = np.unique(SETS[name])
    values = RNG.random(len(knots))
    z = np.append(RNG.choice(knots, rows), 3 * RNG.standard_normal(rows) + knots.mean())
    np.testing.assert_allclose(bent_line(z, knots, values), np.interp(z, knots, values), rtol=0, atol=1e-12)


def test_few_knots_are_counted() -> None:
    for name in ("normal", "tied", "infinite", "none"):
        knots = np.sort(SETS[name])[:200]
        z = np.concatenate([knots, 3 * X, [np.inf, -np.inf]])
        np.testing.assert_array_equal(count_reached(knots, z), np.searchsorted(knots, z, side="right"))
