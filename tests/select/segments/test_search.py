"""The search for segments beside one that looks at every mask, and the parts that it is made of."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import ndtri

from calibrant import Normal
from calibrant.calibration.feature_table import FeatureTable
from calibrant.metrics.evaluation import LawEvaluation
from calibrant.select.segments.conditions import Condition, between, feature_bins, hold, in_words
from calibrant.select.segments.faults import LawFaults
from calibrant.select.segments.measured import extent
from calibrant.select.segments.search import Search


def table_of(rng, rows=400):
    X = [
        [float(a), None if b < 0.2 else float(np.round(b, 2)), c, None if c == "u" and b > 0.7 else "v"]
        for a, b, c in zip(rng.integers(0, 3, rows), rng.random(rows), rng.choice(list("stu"), rows), strict=True)
    ]
    table = FeatureTable.learn(X, rows)
    return table, table(X, rows)


def gains_of(z, w):
    n, mean = w.sum(), np.average(z, weights=w)
    spread, out = np.average((z - mean) ** 2, weights=w), np.average(np.abs(z) > -ndtri(0.05), weights=w)
    parts = [o * np.log(o / q) if o > 0 else 0.0 for o, q in ((out, 0.1), (1 - out, 0.9))]
    return n * mean**2 / 2, n * (spread - 1 - np.log(spread)) / 2, n * sum(parts)


@pytest.mark.parametrize("most", [1, 2])
def test_every_segment_is_looked_at(most, rng):
    table, numbers = table_of(rng)
    z, weights = rng.normal(size=400), rng.integers(1, 3, 400).astype(float)
    z[(numbers[:, 0] == 1) & (numbers[:, 2] == 2)] *= 1.8
    bins = feature_bins(table, numbers, weights)
    search = Search(bins, numbers, LawFaults(z, weights), most, 30.0)
    every = [condition for each in bins for condition in each.conditions]
    best = -np.inf
    for chosen in itertools.chain.from_iterable(itertools.combinations(every, k) for k in range(most + 1)):
        rows = hold(chosen, numbers)
        if weights[rows].sum() >= 30:
            best = max(best, max(gains_of(z[rows], weights[rows])) - search.log_many[len(chosen)])
    found = [search._whole(), *search._of_one(()), *search._of_two()]
    assert max(each.worth for each in found) == pytest.approx(best)
    assert search.best().worth >= best - 1e-9


def test_sums_follow_what_was_mended(rng):
    table, numbers = table_of(rng)
    z, weights = rng.normal(0.5, 2, 400), np.ones(400)
    bins = feature_bins(table, numbers, weights)
    search = Search(bins, numbers, LawFaults(z, weights), 2, 10.0)
    rows = numbers[:, 0] == 2
    search.mend(rows)
    fresh = Search(bins, numbers, LawFaults(z, weights).mended(rows), 2, 10.0)
    for pair, sums in fresh.pairs.items():
        np.testing.assert_allclose(search.pairs[pair], sums, atol=1e-9)
    for mine, sums in zip(search.singles, fresh.singles, strict=True):
        np.testing.assert_allclose(mine, sums, atol=1e-9)


def test_thresholds_are_moved_to_the_best_place(rng):
    numbers = rng.random((800, 1))
    z = rng.normal(size=800) * np.where(numbers[:, 0] > 0.5617, 2.0, 1.0)
    z = np.clip(z, -5, 5)
    bins = feature_bins(FeatureTable((None), (None,)), numbers, np.ones(800))
    found = Search(bins, numbers, LawFaults(z, np.ones(800)), 1, 30.0).best()
    assert found.conditions[0].value == pytest.approx(0.5617, abs=0.02)
    cuts = np.sort(numbers[:, 0])[30:-30]
    gains = [gains_of(z[numbers[:, 0] > cut], np.ones(np.sum(numbers[:, 0] > cut)))[1] for cut in cuts]
    assert found.gain == pytest.approx(max(gains))


def test_bins_cover_all_rows_once(rng):
    table, numbers = table_of(rng)
    for each in feature_bins(table, numbers, np.ones(400)):
        assert each.codes.max() < each.members.shape[1]
        for condition, member in zip(each.conditions, each.members, strict=True):
            np.testing.assert_array_equal(condition.holds(numbers), member[each.codes] == 1)


def test_many_values_are_cut_at_quantiles_and_rare_categories_are_left(rng):
    rows = 5000
    X = np.column_stack([rng.normal(size=rows).astype(object), [f"c{int(k)}" for k in rng.gamma(2, 20, rows)]])
    table = FeatureTable.learn(X, rows)
    number, category = feature_bins(table, table(X, rows), np.ones(rows))
    assert len(number.conditions) == 46 and len(category.conditions) == 24
    shares = np.bincount(number.codes)[:24] / rows
    np.testing.assert_allclose(shares, 1 / 24, atol=0.001)


def test_words():
    high, low = Condition(0, "price", "<=", 20.0, "20"), Condition(0, "price", ">", 12.5, "12.5")
    gone = Condition(1, "region", "is missing")
    assert in_words([high, gone, low]) == "12.5 < price <= 20 and region is missing"
    assert in_words([low]) == "price > 12.5" and str(gone) == "region is missing"
    numbers = np.array([[12.5, np.nan], [13.0, 1.0], [20.0, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(hold([high, gone, low], numbers), [False, False, True, False])


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e12, 1e307])
def test_short_numbers_are_between(scale, rng):
    assert between(-np.inf, scale) in (-np.inf, scale / 2) or between(-np.inf, scale) < scale
    assert scale <= between(scale, np.inf) < np.inf
    for low, high in np.sort(scale * rng.normal(size=(200, 2)), axis=1):
        assert low <= between(low, high) < high


@pytest.mark.parametrize(("kind", "truth"), [("bias", 0.7), ("width", 1.6), ("coverage", None)])
def test_intervals_hold_the_truth(kind, truth, rng):
    rows, held = np.ones(150, dtype=bool), 0
    truth = 1 - 2 * 0.15199 if truth is None else truth  # P(|1.6 z| <= 1.645) of the last
    for _ in range(600):
        z = rng.normal(0.7 if kind == "bias" else 0.0, 1.6, 150)
        law = LawEvaluation(Normal(np.zeros(150), 1.0), z)
        estimate = extent(kind, law, LawFaults(z, np.ones(150)), rows).estimate
        held += estimate.low <= truth <= estimate.high
    assert 0.86 <= held / 600 <= 0.94
