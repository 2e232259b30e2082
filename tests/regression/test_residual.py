"""From point predictions to distributions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibrant import Normal, ResidualCalibrator


def test_residual_quantiles_are_added_to_the_point():
    cal = ResidualCalibrator(map="ecdf").fit([0.0, 10.0, 20.0, 30.0], [1.0, 9.0, 23.0, 32.0])  # residuals 1 -1 3 2
    assert np.allclose(cal.transform([100.0]).quantiles([0.2, 0.4, 0.6, 0.8]), [[99, 101, 102, 103]])


def test_second_column_widens_where_it_should(rng):
    x = rng.normal(size=2000)
    unit = np.exp(x)
    y = x + 5 * unit * rng.exponential(1.0, 2000)  # the unit is wrong by a factor, the noise is skewed
    cal = ResidualCalibrator().fit((x, unit), y)
    law = cal.transform((np.zeros(2), np.array([1.0, 3.0])))
    widths = np.diff(law.interval(0.9)).ravel()
    assert widths[1] == pytest.approx(3 * widths[0])
    assert law.mean() == pytest.approx([5.0, 15.0], rel=0.1)


def test_one_width_everywhere_for_plain_points(rng):
    y = rng.gamma(2.0, 1.0, 1000)
    law = ResidualCalibrator().fit(np.zeros(1000), y).transform(pd.Series([1.0, 50.0], index=["a", "b"]))
    assert np.ptp(np.diff(law.interval(0.9))) < 1e-9
    assert list(law.to_frame().index) == ["a", "b"]


def test_points_and_laws_are_not_mixed_up(rng):
    cal = ResidualCalibrator().fit(np.zeros(10), rng.normal(size=10))
    with pytest.raises(ValueError, match="without a second column in fit and with one now"):
        cal.transform(Normal([0.0], 1.0))


def test_perfect_fit_is_an_error():
    with pytest.raises(ValueError, match="residuals must vary"):
        ResidualCalibrator().fit([1.0, 2.0], [1.0, 2.0])
