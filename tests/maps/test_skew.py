from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from calibrant import Normal, Recalibrated
from calibrant.maps import SkewMap


def literal(z, e, m=0.0, s=1.0):
    c = quad(lambda x: x**4 / np.sqrt(1 + x * x) * norm.pdf(x), -12, 12)[0]
    return m + s * (np.sinh(np.arcsinh((z - m) / s) - e) + c * np.sinh(e))


def test_it_is_the_formula(rng):
    z, e = rng.normal(0, 3, 40), rng.normal(0, 0.6, 40)
    assert SkewMap(e, 0.3, 1.7)(z) == pytest.approx(literal(z, e, 0.3, 1.7))
    assert SkewMap()(z) == pytest.approx(z)


def test_far_out_it_is_two_scales():
    slopes = np.exp(SkewMap(0.4).log_slope(np.array([-1e6, 1e6, -np.inf, np.inf])))
    assert slopes == pytest.approx(np.exp([0.4, -0.4, 0.4, -0.4]))


def test_a_skewed_law_is_wider_above():
    law = Recalibrated(Normal([0.0], 1.0), SkewMap(np.array([0.4])))
    low, middle, high = law.quantiles([0.05, 0.5, 0.95])[0]
    assert high - middle > 1.5 * (middle - low)
    assert law.mean()[0] == pytest.approx(0, abs=0.1)  # the location stays


@pytest.mark.parametrize(("values", "text"), [((np.nan,), "`skew` must be finite"), ((0.1, 0.0, 0.0), "`scale` must")])
def test_bad_parameters(values, text):
    with pytest.raises(ValueError, match=text):
        SkewMap(*values)
