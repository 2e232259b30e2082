"""The newsvendor's quantity is the best of all, and its profit is the integral that it is said to be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import calibrant
from calibrant import Ensemble, Gamma, NegativeBinomial, Normal, Poisson, QuantileCalibrator
from calibrant.decisions import bayes_decisions, expected_profit, newsvendor


def profit_of_counts(values, masses, q, price, cost, salvage):
    """Literal: revenue of what sells, salvage of what does not, cost of all."""
    return float(masses @ (price * np.minimum(q, values) + salvage * np.maximum(q - values, 0) - cost * q))


@pytest.mark.parametrize("pack", [1, 5, 12])
@pytest.mark.parametrize("terms", [(1.99, 1.29, 0.0), (5.0, 1.0, 0.4), (2.0, 1.9, -1.0), (1.0, 1.5, 0.0)])
def test_no_multiple_of_the_pack_is_better(pack, terms):
    price, cost, salvage = terms
    members = np.array([3.0, 3.0, 8.5, 21.0, 40.0])
    counts = np.arange(400)
    laws = {
        Poisson([17.3]): (counts, stats.poisson(17.3).pmf(counts)),
        NegativeBinomial(mean=[9.0], dispersion=[0.7]): (counts, stats.nbinom(1 / 0.7, 1 / (1 + 9 * 0.7)).pmf(counts)),
        Ensemble(members[None], kind="discrete"): (members, np.full(5, 0.2)),
    }
    for law, (values, masses) in laws.items():
        tried = pack * np.arange(0, 100 // pack + 1)
        profits = [profit_of_counts(values, masses, q, price, cost, salvage) for q in tried]
        best = newsvendor(law, price=price, cost=cost, salvage=salvage, pack=pack)
        assert best[0] in tried
        told = expected_profit(law, best, price=price, cost=cost, salvage=salvage)
        assert told[0] == pytest.approx(max(profits), abs=1e-9)
        assert best[0] == tried[np.flatnonzero(np.array(profits) > max(profits) - 1e-9)[0]]


def test_any_quantity_is_the_quantile_of_the_critical_ratio():
    law = Normal([100.0, 100.0, 3.0], [10.0, 40.0, 10.0])
    price, cost = np.array([5.0, 4.0, 2.0]), np.array([1.0, 3.0, 1.8])
    got = newsvendor(law, price=price, cost=cost, salvage=0.5, pack=None)
    wanted = stats.norm(law.loc, law.scale).ppf((price - cost) / (price - 0.5))
    np.testing.assert_allclose(got, np.maximum(wanted, 0.0))
    assert got[2] == 0


def test_a_whole_pack_pays_or_not():
    """Demand uniform on 0 to 24: the first pack of 12 sells 9 on average, the second 3."""
    law = calibrant.Histogram([0.0, 24.0], [[1.0]])
    sales = [12 - 12 / 4, 12.0]  # E min(q, D) = q - q² / 48
    for price, packs in ((1.3, 0), (1.4, 1), (3.9, 1), (4.1, 2)):
        assert newsvendor(law, price=price, cost=1.0, pack=12) == 12 * packs
    np.testing.assert_allclose([expected_profit(law, q, price=1.0, cost=0.9)[0] + 0.9 * q for q in (12, 24)], sales)


def test_of_equally_good_quantities_the_smallest():
    assert newsvendor(Ensemble([[6.0, 6.0]], kind="discrete"), price=2.0, cost=1.0, pack=12) == 0


def test_profit_is_an_integral_of_the_survival_function(rng):
    base = Gamma(shape=[2.0, 9.0], scale=[8.0, 3.0])
    y = rng.gamma(3.0, 9.0, 300)
    mended = QuantileCalibrator().fit(Gamma(np.full(300, 3.0), 7.0), y).transform(base)
    laws = [base, Normal([10.0, 30.0], 12.0), mended]
    q = np.array([11.0, 26.5])
    for law in laws:
        got = expected_profit(law, q, price=2.0, cost=1.0, salvage=0.25)
        for i in range(2):
            sold = integrate.quad(lambda t, law=law, i=i: float(law[i].sf(t)[0]), 0, q[i], limit=500)[0]
            assert got[i] == pytest.approx(2.0 * sold - q[i] + 0.25 * (q[i] - sold), rel=1e-6)


def test_earns_most_on_simulated_demand(rng):
    demand = rng.negative_binomial(4, 4 / (4 + 30.0), 200_000)
    law = NegativeBinomial(mean=[30.0], dispersion=[0.25])
    best = newsvendor(law, price=3.0, cost=1.0, pack=6)[0]
    earned = {q: np.mean(3 * np.minimum(q, demand)) - q for q in (best - 12, best - 6, best, best + 6, best + 12)}
    assert max(earned, key=earned.get) == best
    assert expected_profit(law, best, price=3.0, cost=1.0)[0] == pytest.approx(earned[best], rel=0.01)


def test_inputs_of_all_kinds(rng):
    wanted = newsvendor(Normal([10.0, 20.0], [2.0, 3.0]), price=2.0, cost=1.0)
    frame = pd.DataFrame({"mean": [10.0, 20.0], "std": [2.0, 3.0]})
    for forecast in (([10.0, 20.0], [2.0, 3.0]), frame, (np.float32([10, 20]), np.float32([2, 3]))):
        for price in (2.0, [2, 2], np.float32([2, 2]), pd.Series([2.0, 2.0])):
            np.testing.assert_array_equal(newsvendor(forecast, price=price, cost=[1.0, 1.0]), wanted)
    draws = rng.normal([[10.0], [20.0]], 2.0, (2, 400))
    np.testing.assert_allclose(newsvendor(draws, price=2.0, cost=1.0), [10, 20], atol=1)


def test_errors_name_the_argument():
    law = Normal([1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match="`salvage` must be below `cost`; 2 of 2 values are not"):
        newsvendor(law, price=2.0, cost=1.0, salvage=1.0)
    with pytest.raises(ValueError, match="`salvage` must be below `price`"):
        newsvendor(law, price=0.5, cost=1.0, salvage=0.6)
    with pytest.raises(ValueError, match=r"`price` must be a scalar or \(2,\) for 2 forecasts; got shape \(3,\)"):
        newsvendor(law, price=[1, 2, 3], cost=0.5)
    with pytest.raises(ValueError, match="`pack` must be positive"):
        newsvendor(law, price=2.0, cost=1.0, pack=0)
    with pytest.raises(ValueError, match="`cost` must be a number"):
        newsvendor(law, price=2.0, cost=np.nan)
    with pytest.raises(ValueError, match="`price` must be finite"):
        newsvendor(law, price=np.inf, cost=1.0)
    with pytest.raises(ValueError, match="`quantity` must be at least 0"):
        expected_profit(law, -1.0, price=2.0, cost=1.0)


def test_the_room_is_a_module_of_the_package():
    assert calibrant.decisions.newsvendor is newsvendor and "decisions" in dir(calibrant)
    assert calibrant.decisions.bayes_decisions is bayes_decisions is calibrant.bayes_decisions
