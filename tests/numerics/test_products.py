"""Sums of products by one thread are those that NumPy makes."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.numerics.products import inner


@pytest.mark.parametrize("n", [0, 1, 9_999, 10_000, 10_001, 30_000, 123_457])
@pytest.mark.parametrize("step", [1, 3, -1])
def test_equal_to_a_sum(n: int, step: int) -> None:
    rng = np.random.default_rng(n)
    left, right = rng.normal(size=(2, 3 * n))[:, ::step][:, :n]
    assert inner(left, right) == pytest.approx(float(np.sum(left * right)), rel=1e-11, abs=1e-9)
    assert inner(left > 0, right) == pytest.approx(float(right[left > 0].sum()), rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 9_999, 15_000, 24_999])
def test_what_is_not_finite_is_seen(bad: float, place: int) -> None:
    left, right = np.ones((2, 25_000))
    left[place] = bad
    assert not np.isfinite(inner(left, right)) and not np.isfinite(inner(right, left))
