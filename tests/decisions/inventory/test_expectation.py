"""Expected values after sales, against the path of each stock walked unit by unit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from calibrant.decisions.inventory.expectation import after_sales


def walked(value, masses, sold):
    """Sum over demands of the value of what is left, one stock at a time."""
    out = np.empty(value.shape)
    for series, *stock in itertools.product(*(range(size) for size in value.shape)):
        total = 0.0
        for demand, chance in enumerate(masses[series]):
            left = list(stock)
            for _ in range(demand):
                oldest = next((k for k in range(sold) if left[k]), None)
                if oldest is not None:
                    left[oldest] -= 1
            total += chance * value[(series, *left)]
        out[(series, *stock)] = total
    return out


@pytest.mark.parametrize(
    ("sizes", "sold"), [((4,), 1), ((3,), 0), ((3, 4), 2), ((3, 4), 1), ((4, 1, 3, 2), 3), ((2, 3, 2, 3), 4)]
)
def test_as_walked(rng, sizes, sold):
    value = rng.normal(size=(2, *sizes))
    masses = rng.dirichlet(np.ones(1 + sum(size - 1 for size in sizes[:sold])), 2)
    np.testing.assert_allclose(after_sales(value, masses, sold), walked(value, masses, sold), atol=1e-12)
