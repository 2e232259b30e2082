"""Groups and chains."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calibrant import Chain, GroupedCalibrator, Normal, QuantileCalibrator, ScaleCalibrator


def shops(rng, sizes, widths):
    names = np.repeat(np.arange(len(sizes)), sizes)
    return names, np.repeat(widths, sizes) * rng.standard_normal(sum(sizes))


@pytest.mark.parametrize("inner", [QuantileCalibrator(), QuantileCalibrator(map="ecdf"), ScaleCalibrator()])
def test_large_groups_speak_for_themselves_small_ones_follow(inner, rng):
    names, y = shops(rng, [2000, 2000, 3], [1.0, 4.0, 40.0])
    cal = GroupedCalibrator(inner).fit(Normal(np.zeros(len(y)), 1.0), y, groups=names)
    width = np.diff(cal.transform(Normal(np.zeros(4), 1.0), groups=[0, 1, 2, 99]).interval(0.9)).ravel()
    assert width[:2] == pytest.approx(2 * 1.645 * np.array([1.0, 4.0]), rel=0.06)
    common = np.diff(cal.common_.transform(Normal([0.0], 1.0)).interval(0.9))[0, 0]
    assert width[3] == pytest.approx(common)  # a group never seen
    assert width[2] < 0.25 * 2 * 1.645 * 40  # three rows of width 40 are not believed


def test_rows_keep_their_order(rng):
    names, y = shops(rng, [300, 300], [1.0, 5.0])
    mix = rng.permutation(600)
    cal = GroupedCalibrator(QuantileCalibrator()).fit(Normal(np.zeros(600), 1.0), y, groups=names)
    law = cal.transform(Normal(np.arange(600.0), 1.0), groups=names[mix])
    assert np.allclose(law.median(), np.arange(600), atol=1)
    assert np.all((law.std() > 2) == (names[mix] == 1))
    assert np.allclose(law.crps(np.zeros(600))[:5], [law[i].crps([0.0])[0] for i in range(5)])


def test_strength_zero_is_no_pull(rng):
    names, y = shops(rng, [500, 20], [1.0, 3.0])
    law = Normal(np.zeros(520), 1.0)
    free = GroupedCalibrator(ScaleCalibrator(), strength=0).fit(law, y, groups=names)
    own = np.sqrt(np.mean(y[500:] ** 2))
    assert free.transform(Normal([0.0], 1.0), groups=[1]).std()[0] == pytest.approx(own)


def test_group_errors(rng):
    cal = GroupedCalibrator(QuantileCalibrator())
    with pytest.raises(NotFittedError):
        clone(cal).transform(Normal([0.0], 1.0), groups=[0])
    with pytest.raises(ValueError, match="`groups` must be given"):
        cal.fit(Normal([0.0], 1.0), [1.0])
    with pytest.raises(ValueError, match="one label per forecast"):
        cal.fit(Normal([0.0, 1.0], 1.0), [1.0, 2.0], groups=["a"])


def test_weight_two_is_the_row_twice(rng):
    names, y = shops(rng, [60, 60], [1.0, 3.0])
    w = rng.integers(1, 3, 120)
    law = Normal(np.zeros(120), 1.0)
    one = GroupedCalibrator(QuantileCalibrator(map="ecdf")).fit(law, y, groups=names, sample_weight=w)
    two = GroupedCalibrator(QuantileCalibrator(map="ecdf")).fit(
        law[np.repeat(np.arange(120), w)], np.repeat(y, w), groups=np.repeat(names, w)
    )
    new = Normal(np.zeros(2), 1.0)
    assert np.allclose(one.transform(new, groups=[0, 1]).std(), two.transform(new, groups=[0, 1]).std(), rtol=1e-6)


def test_chain_is_one_after_the_other(rng):
    y = 1 + 3 * rng.standard_normal(500)
    law = Normal(np.zeros(500), 1.0)
    chain = Chain([ScaleCalibrator(), QuantileCalibrator(map="ecdf")]).fit(law, y)
    scaled = ScaleCalibrator().fit(law, y).transform(law)
    by_hand = QuantileCalibrator(map="ecdf").fit(scaled, y).transform(scaled)
    assert np.allclose(chain.transform(law).quantiles([0.1, 0.9]), by_hand.quantiles([0.1, 0.9]))
    assert isinstance(chain.calibrators[0], ScaleCalibrator) and not hasattr(chain.calibrators[0], "factor_")


def test_empty_chain():
    with pytest.raises(ValueError, match="at least one calibrator"):
        Chain([]).fit(Normal([0.0], 1.0), [0.0])
