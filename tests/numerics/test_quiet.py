"""NumPy is silent in these contexts, in which nothing else changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import numpy as np
import pytest

from calibrant import LogNormal, Normal, metrics
from calibrant.numerics.quiet import NOT_NUMBERS, OVERFLOWS

VAST = np.full(3, 1e300)


def test_overflows_are_silent_inside_and_told_outside():
    before = np.geterr()
    assert np.isinf(OVERFLOWS.copy().run(np.multiply, VAST, VAST)).all()
    assert np.geterr() == before
    with pytest.warns(RuntimeWarning, match="overflow"):
        VAST * VAST
    with pytest.warns(RuntimeWarning, match="invalid"):
        OVERFLOWS.copy().run(np.subtract, np.full(1, np.inf), np.inf)


def test_what_is_not_a_number_is_silent_too():
    assert np.isnan(NOT_NUMBERS.copy().run(np.subtract, np.full(1, np.inf), np.inf)).all()
    assert np.isinf(NOT_NUMBERS.copy().run(np.divide, VAST, 0.0)).all()


def test_one_inside_another_and_many_at_once():
    def nested(depth):
        return np.square(VAST) if depth == 0 else OVERFLOWS.copy().run(nested, depth - 1)

    assert np.isinf(nested(3)).all()
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: OVERFLOWS.copy().run(nested, 2), range(40)):
            assert np.isinf(found).all()


def test_a_law_of_somebody_else_sees_what_its_owner_has_set():
    seen, mine = [], ContextVar("mine", default="nothing")

    class Looks(Normal):
        def quantiles(self, levels):
            seen.append(mine.get())
            return super().quantiles(levels)

        def interval(self, coverage):
            seen.append(mine.get())
            return super().interval(coverage)

    mine.set("something")
    law = Looks([0.0, 1.0], [1.0, 2.0])
    metrics.pinball_loss([0.0, 1.0], law)
    metrics.weighted_interval_score([0.0, 1.0], law)
    metrics.interval_score([0.0, 1.0], law)
    assert set(seen) == {"something"} and len(seen) >= 3


@pytest.mark.parametrize("n", [3, 40_000])
def test_scores_of_vast_numbers_do_not_warn_whatever_the_caller_asked(n):
    y, law = np.full(n, 1e300), Normal(np.full(n, -1e300), np.full(n, 1e-5))
    with np.errstate(all="raise"):
        for per_row in (True, False):
            assert np.isinf(metrics.nll(y, law, per_row=per_row)).all()
            np.testing.assert_allclose(metrics.crps(y, law, per_row=per_row), 2e300)
            assert np.isinf(metrics.sharpness(y, Normal(y, y), per_row=per_row)).all()
        low, high = np.full(n, -1.7e308), np.full(n, 1.7e308)
        with pytest.raises(ValueError, match="`low`|`high`|finite"):
            metrics.interval_score(y, low=high, high=low, coverage=0.9)
        assert np.isinf(metrics.interval_score(y, low=low, high=high, coverage=0.9))
        assert np.isinf(metrics.weighted_interval_score(y, low=low, high=high, coverage=0.9))
        assert np.isinf(metrics.crps(y, LogNormal(np.full(n, 800.0), np.ones(n))))
