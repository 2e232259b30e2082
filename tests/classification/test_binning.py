"""Binning averaging by hand and on the chapter's scores."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.classification.binning import BinningCalibrator, StepCurve, equal_bins, near_cuts
from calibrant.links.groups import Groups

CHAPTER = [
    [0.95, 0.94, 0.91, 0.90],
    [0.87, 0.85, 0.80, 0.76],
    [0.70, 0.66, 0.62, 0.62],
    [0.51, 0.49, 0.48, 0.48],
    [0.45, 0.44, 0.44, 0.42],
]


def bins_of(scores, n_bins):
    """Number of each score's bin, from the lowest."""
    y = np.arange(len(scores)) % 2
    curve = BinningCalibrator(n_bins).fit(scores, y).curves_[0]
    return np.searchsorted(curve.edges, scores, side="right")


def test_the_chapters_twenty_scores():
    """Bella et al. (2010): five bins of four.

    The table prints bins of 4, 4, 3, 4 and 5, which would cut equal scores apart; its text has .62 twice in bin 3, and
    says that .68 belongs there. The text averages the scores of the bin where the method takes the share of positives:
    neither example has labels.
    """
    np.testing.assert_array_equal(bins_of(np.ravel(CHAPTER), 5), np.repeat([4, 3, 2, 1, 0], 4))
    curve = BinningCalibrator(5).fit(np.ravel(CHAPTER), np.arange(20) % 2).curves_[0]
    np.testing.assert_allclose(curve.edges, [0.465, 0.565, 0.73, 0.885])
    assert np.searchsorted(curve.edges, 0.68) == 2
    assert np.mean(CHAPTER[2]) == pytest.approx(0.65)


def test_shares_by_hand():
    p, y = [0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9], [0, 0, 0, 1, 1, 0, 1, 1]
    new = [0.0, 0.39, 0.4, 1.0]
    plain = BinningCalibrator(2, smoothing=0).fit(p, y).transform(new)[:, 1]
    np.testing.assert_allclose(plain, [0.25, 0.25, 0.25, 0.75])
    laplace = BinningCalibrator(2).fit(p, y).transform(new)[:, 1]
    np.testing.assert_allclose(laplace, [2 / 6, 2 / 6, 2 / 6, 4 / 6])
    four = BinningCalibrator(4, smoothing=0).fit(p, y).transform([0.1, 0.3, 0.6, 0.9])[:, 1]
    np.testing.assert_allclose(four, [1e-12, 0.5, 0.5, 1 - 1e-12], rtol=1e-9)
    edge = BinningCalibrator(2, smoothing=0).fit(p, y).transform([0.55 - 1e-9, 0.55])[:, 1]
    np.testing.assert_allclose(edge, [0.25, 0.75])


def test_several_classes_share_what_their_bins_say():
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.5, 0.4, 0.1]])
    out = BinningCalibrator(1, smoothing=0).fit(p, ["a", "b", "c", "a"]).transform(p)
    np.testing.assert_allclose(out, np.tile([0.5, 0.25, 0.25], (4, 1)))


def test_ties_stay_together():
    np.testing.assert_array_equal(bins_of([0.1, 0.5, 0.5, 0.5, 0.5, 0.9], 3), [0, 1, 1, 1, 1, 2])
    np.testing.assert_array_equal(bins_of([0.3] * 5 + [0.6], 4), [0, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(bins_of([0.3] * 6, 4), [0] * 6)


def test_cuts():
    np.testing.assert_array_equal(equal_bins(np.array([1.0, 4, 1]), 2), [0, 1])
    np.testing.assert_array_equal(equal_bins(np.array([3.0, 1, 1, 1]), 2), [0, 1])
    np.testing.assert_array_equal(equal_bins(np.ones(3), 10), [0, 1, 2])
    sizes = np.diff(equal_bins(np.ones(103), 10), append=103)
    assert sizes.min() == 10 and sizes.max() == 11


def test_bins_are_counted():
    with pytest.raises(ValueError, match="`n_bins` must be a whole number of at least 1; got 0"):
        BinningCalibrator(0).fit([0.2, 0.4], [0, 1])


def test_shares_come_true(rng):
    p = rng.random(50_000)
    y = rng.random(50_000) < p**2
    out = BinningCalibrator(20).fit(p[:25_000], y[:25_000]).transform(p[25_000:])[:, 1]
    for value in np.unique(out):
        rows = out == value
        assert abs(y[25_000:][rows].mean() - value) < 5 * np.sqrt(2 * value * (1 - value) / rows.sum())


SHAPES = {
    "even": lambda rng, n: rng.random(n),
    "sure": lambda rng, n: rng.beta(0.05, 0.03, n),
    "tied": lambda rng, n: rng.integers(0, 37, n) / 36,
    "an atom": lambda rng, n: np.where(rng.random(n) < 0.4, 0.25, rng.random(n)),
    "two values": lambda rng, n: rng.integers(0, 2, n) * 0.5,
    "one value": lambda rng, n: np.full(n, 0.5),
    "outliers": lambda rng, n: rng.standard_t(1, n),
    "vast": lambda rng, n: rng.choice([-1.7e308, 0.0, 1.0, 1.7e308], n),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_of_many_rows_only_those_near_cuts_are_sorted(shape, weighted, rng):
    """The same bins, to the last row, as of all scores in order."""
    n = 70_000
    x, events = SHAPES[shape](rng, n), rng.random(n) < 0.3
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    whole = Groups.of(x, events, weights)
    for n_bins in (1, 2, 15, 100):
        some = near_cuts(x, events, weights, n_bins)
        assert shape in ("vast", "one value") or len(some.x) <= len(whole.x)
        first, expected = equal_bins(some.mass, n_bins), equal_bins(whole.mass, n_bins)
        for name in ("mass", "hits"):
            ours = np.add.reduceat(getattr(some, name), first)
            np.testing.assert_array_equal(ours, np.add.reduceat(getattr(whole, name), expected))
        np.testing.assert_array_equal(some.x[first[1:] - 1], whole.x[expected[1:] - 1])
        np.testing.assert_array_equal(some.x[first[1:]], whole.x[expected[1:]])


def test_few_edges_are_compared_and_many_searched(rng):
    x = np.append(rng.random(70_000), [0.0, 0.25, 1.0])
    for n in (1, 7, 300):
        edges, values = np.append(0.25, np.sort(rng.random(n))), rng.random(n + 2)
        edges.sort()
        expected = values[np.searchsorted(edges, x, side="right")]
        np.testing.assert_array_equal(StepCurve(edges, values)(x), expected)
