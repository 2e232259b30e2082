"""Groups learn from summaries what they learn from rows."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import GroupedCalibrator, Normal, Poisson, QuantileCalibrator, ResidualCalibrator, ScaleCalibrator


def rows(rng, n):
    shop = np.array(["a", "b", "c", "d"])[np.minimum(rng.geometric(0.6, n) - 1, 3)]
    mu, sigma = rng.normal(size=n), np.exp(0.5 * rng.standard_normal(n))
    wide = {"a": 1.0, "b": 2.0, "c": 0.5, "d": 4.0}
    return shop, Normal(mu, sigma), mu + sigma * np.vectorize(wide.get)(shop) * (rng.gamma(3.0, 1.0, n) - 2.5) / 1.7


@pytest.mark.parametrize("n", [300, 60_000])
@pytest.mark.parametrize("strength", [0.0, 20.0])
@pytest.mark.parametrize("inner", [QuantileCalibrator(), QuantileCalibrator("ecdf"), ScaleCalibrator()], ids=str)
def test_from_summaries_is_that_from_rows(inner, strength, n, rng):
    shop, law, y = rows(rng, n)
    w = rng.integers(0, 3, n).astype(float)
    expected = GroupedCalibrator(inner, strength).fit(law, y, groups=shop, sample_weight=w)
    found = GroupedCalibrator(inner, strength)
    for part in np.array_split(rng.permutation(n), 4):
        found.partial_fit(law[part], y[part], groups=shop[part], sample_weight=w[part])
    new = Normal(np.zeros(5), 1.0)
    levels = np.array([0.01, 0.1, 0.5, 0.9, 0.99])
    names = ["a", "b", "c", "d", "unseen"]
    q = expected.transform(new, groups=names).quantiles(levels)
    apart = np.abs(found.transform(new, groups=names).cdf(q) - levels).max()
    close = 1e-9 if n < 16_384 else 5e-4 if getattr(inner, "map", "") == "ecdf" else 5e-6
    assert apart < close
    assert found.n_rows_ == expected.n_rows_ and set(found.calibrators_) == set(expected.calibrators_)
    counts = [{name: part.n_rows_ for name, part in c.calibrators_.items()} for c in (found, expected)]
    assert strength == 0 or counts[0] == counts[1]


@pytest.mark.parametrize("by_rows", [True, False], ids=["rows", "summary"])
def test_a_small_group_has_the_tails_of_all(by_rows, rng):
    n = 20_000
    shop = np.where(np.arange(n) < 5, "few", "many")
    law, y = Normal(np.zeros(n), 1.0), 1.4 * rng.standard_t(6, n) + 0.1
    cal = GroupedCalibrator(QuantileCalibrator())
    cal = cal.fit(law, y, groups=shop) if by_rows else cal.fit_summary(cal.summarise(law, y, groups=shop))
    few, common = cal.transform(Normal([0.0, 0.0], 1.0), groups=["few", "unseen"]).std()
    assert common == pytest.approx(1.4 * np.sqrt(1.5), rel=0.05) and few == pytest.approx(common, rel=0.05)


def test_merging_in_any_order(rng):
    shop, law, y = rows(rng, 40_000)
    calibrator = GroupedCalibrator(QuantileCalibrator())
    parts = [calibrator.summarise(law[c], y[c], groups=shop[c]) for c in np.array_split(np.arange(40_000), 5)]
    one, two = parts[0] + (parts[1] + parts[2]) + (parts[3] + parts[4]), parts[4] + parts[2] + parts[0] + parts[1]
    two = parts[3] + two
    assert one.n_rows == two.n_rows == 40_000 and one.groups.keys() == two.groups.keys()
    for name, part in one.groups.items():
        assert np.array_equal(part.grid.mass, two.groups[name].grid.mass)
    z = np.linspace(-3, 4, 50)
    first, second = (GroupedCalibrator(QuantileCalibrator()).fit_summary(s) for s in (one, two))
    for name in "abcd":
        maps = [c.calibrators_[name].map_(c.common_.map_(z)) for c in (first, second)]
        assert np.abs(maps[0] - maps[1]).max() < 1e-9
    assert one.decay(0.5).whole().grid.mass.sum() == 20_000


def test_where_rows_are_needed(rng):
    shop, law, y = rows(rng, 100)
    for inner in (ResidualCalibrator(map="step"), ScaleCalibrator("bins"), QuantileCalibrator("step")):
        grouped = GroupedCalibrator(inner)
        assert not grouped.summary_is_enough
        with pytest.raises(ValueError, match="GroupedCalibrator.* needs the rows themselves: a summary is not enough"):
            grouped.partial_fit(law, y, groups=shop)
    summary = GroupedCalibrator(ScaleCalibrator()).summarise(law, y, groups=shop)
    with pytest.raises(ValueError, match=r"`strength` must be at least 0; got -1"):
        GroupedCalibrator(ScaleCalibrator(), -1).fit_summary(summary)


def test_atoms(rng):
    y = rng.poisson(3.0, 2000).astype(float)
    shop = np.repeat(["a", "b"], 1000)
    law = Poisson(np.where(shop == "a", 3.0, 5.0))
    expected = GroupedCalibrator(QuantileCalibrator()).fit(law, y, groups=shop)
    found = GroupedCalibrator(QuantileCalibrator()).partial_fit(law, y, groups=shop)
    one, two = (c.transform(law[::100], groups=shop[::100]).cdf(y[::100]) for c in (found, expected))
    true = Poisson(np.full(20, 3.0)).cdf(y[::100])
    np.testing.assert_allclose(one, two, atol=0.015)  # an atom's rank is spread before the common map, not after
    assert np.abs(one - true).mean() < np.abs(two - true).mean() + 0.002
