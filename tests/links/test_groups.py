from __future__ import annotations

import numpy as np
import pytest

from calibrant.links.groups import Groups


@pytest.mark.parametrize("shift", [0.0, -0.5])  # scores that are not negative have a way of their own
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_by_hand(rng, shift, weighted):
    x = rng.integers(0, 8, 300) / 8 + shift
    x[0] = -0.0 if shift == 0 else x[0]  # equal to 0.0
    events, w = rng.random(300) < x - shift, rng.integers(0, 4, 300).astype(float) + 1
    groups = Groups.of(x, events, w if weighted else None)
    w = w if weighted else np.ones(300)
    values = np.unique(x)
    np.testing.assert_array_equal(groups.x, values)
    np.testing.assert_allclose(groups.mass, [w[x == value].sum() for value in values])
    np.testing.assert_allclose(groups.hits, [(w * events)[x == value].sum() for value in values])
    assert groups.base_rate == pytest.approx(np.average(events, weights=w))
    assert np.all(np.diff(groups.rising()) >= 0)
    assert groups.mass @ groups.rising() == pytest.approx(groups.hits.sum())


def test_single_rows():
    groups = Groups.of(np.array([0.7, 0.2, 0.9]), np.array([True, False, True]))
    assert groups.x.tolist() == [0.2, 0.7, 0.9] and groups.hits.tolist() == [0, 1, 1]
    assert groups.mass.tolist() == [1, 1, 1]
