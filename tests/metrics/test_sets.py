"""Coverage and size of sets of classes."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import metrics

Y = ["a", "b", "b", "a"]
SETS = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 0]], dtype=bool)


def test_by_hand():
    assert metrics.set_coverage(Y, SETS, classes=["a", "b", "c"]) == 0.5
    assert metrics.set_size(Y, SETS, classes=["a", "b", "c"]) == 1.25
    np.testing.assert_array_equal(metrics.set_size(Y, SETS, classes=list("abc"), by_class=True), [1, 1.5, np.nan])
    assert metrics.set_coverage(Y, SETS, classes=list("abc"), sample_weight=[3, 1, 0, 0]) == 0.75
    np.testing.assert_array_equal(
        metrics.set_coverage(Y, SETS, classes=list("cba"), by_class=True, sample_weight=[3, 1, 0, 1]),
        [np.nan, 0, 0],
    )


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="`sets` must be true or false; 1 of 4"):
        metrics.set_size([0, 1], [[0.5, 1], [0, 1]])
    with pytest.raises(ValueError, match=r"`sets` must be \(n, classes\)"):
        metrics.set_size([0, 1], [1, 0])
    with pytest.raises(ValueError, match="one entry per forecast; got 3 for 4"):
        metrics.set_coverage(Y[:3], SETS, classes=list("abc"))
