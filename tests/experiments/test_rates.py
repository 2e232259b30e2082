"""The choice of a rate, from numbers made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import rates


def test_the_lowest_mean_is_chosen():
    losses = np.array([[0.30, 0.28, 0.29, 0.4], [0.20, 0.24, 0.25, 0.4], [0.10, 0.11, 0.12, 0.4]])
    lines, best = rates.verdict(losses, np.tile([4.0, 3.0, 2.0, 1.0], (3, 1)))
    assert best and lines[-1] == "PASS  the default is the best of them, 0.05 and 560 rounds"
    assert lines[0] == "rate 0.05: log loss 0.20000, 0.0 standard errors from the best, 4.00 s"
    more = np.array([-0.02, 0.04, 0.01])
    assert f"{more.mean() / (more.std(ddof=1) / 3**0.5):.1f} standard errors" in lines[1]
    lines, best = rates.verdict(losses[:, ::-1], np.ones((3, 4)))
    assert not best and lines[-1].startswith("FAIL") and "0.15 and 187 rounds" in lines[-1]


@pytest.mark.parametrize("name", ["breast cancer", "digits, eight", "made, 1000 x 20", "Hastie", "Friedman 2"])
def test_sets_have_two_classes(name):
    X, y = rates.SETS[name]()
    assert len(X) == len(y) and np.isfinite(X).all() and np.unique(y).tolist() == [0, 1]
