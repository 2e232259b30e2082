from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

from calibrant.displays._consistency import bar_band, curve_band, local_level, order_intervals, stay_probability


def test_one_value_stays_in_its_own_interval() -> None:
    assert local_level(1, 0.95) == pytest.approx(0.05)
    assert stay_probability(1, 0.3) == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("level", [0.4, 0.0265])
def test_two_values_by_quadrature(level: float) -> None:
    (low_1, low_2), (high_1, high_2) = order_intervals(np.array([1.0, 2.0]), 2, level)
    area, _ = quad(lambda x: max(0.0, high_2 - max(low_2, x)), low_1, high_1, points=[low_2])
    assert stay_probability(2, level) == pytest.approx(2 * area, abs=1e-10)


@pytest.mark.parametrize("coverage", [0.5, 0.95, 0.99])
def test_all_order_statistics_stay_inside(rng: np.random.Generator, coverage: float) -> None:
    n, draws = 40, 20_000
    low, high = order_intervals(np.arange(1.0, n + 1), n, local_level(n, coverage))
    values = np.sort(rng.random((draws, n)), axis=1)
    inside = np.mean(((low <= values) & (values <= high)).all(axis=1))
    assert inside == pytest.approx(coverage, abs=4 * np.sqrt(coverage * (1 - coverage) / draws))


def test_extrapolation_to_many_rows_keeps_the_coverage() -> None:
    assert stay_probability(4096, local_level(4096, 0.95)) == pytest.approx(0.95, abs=0.003)
    assert local_level(10**7, 0.95) < local_level(10**5, 0.95) < local_level(1024, 0.95)


@pytest.mark.parametrize("rows", [1, 2, 7.4, 300, 5000, 1e7])
def test_band_contains_the_diagonal_and_is_monotone(rows: float) -> None:
    levels, low, high = curve_band(rows, 0.95)
    assert levels[0] == 0 and levels[-1] == 1
    assert np.all(np.diff(levels) > 0) and np.all(np.diff(low) >= 0) and np.all(np.diff(high) >= 0)
    assert np.all(low <= levels) and np.all(levels <= high)


def test_band_narrows_with_the_root_of_rows() -> None:
    levels, low, high = curve_band(10_000, 0.95)
    few_levels, few_low, few_high = curve_band(100, 0.95)
    width = np.interp(0.5, levels, high - low)
    assert np.interp(0.5, few_levels, few_high - few_low) / width == pytest.approx(9.1, abs=0.3)  # 10, less log log n


def test_bar_band_holds_each_bar_and_all_bars(rng: np.random.Generator) -> None:
    low, high = bar_band(200, 10, 0.95)
    tail = 0.05 / 20
    assert binom.cdf(200 * low - 1, 200, 0.1) <= tail < binom.cdf(200 * low, 200, 0.1)
    assert binom.sf(200 * high, 200, 0.1) <= tail < binom.sf(200 * high - 1, 200, 0.1)
    counts = rng.multinomial(200, np.full(10, 0.1), size=10_000) / 200
    assert 0.95 <= np.mean(((low <= counts) & (counts <= high)).all(axis=1)) <= 0.99
