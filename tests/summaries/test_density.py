"""Densities by segments: a first pass for the common map, a second one that is summarised."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from calibrant import DensityCalibrator, Normal, QuantileCalibrator, load, save

EDGES = np.linspace(-5, 5, 12)
N = 20_000


@pytest.fixture
def rows(rng):
    mu = 0.5 * rng.normal(size=N)
    return Normal(mu, 2.0), mu + rng.choice([-2.0, 2.0], N) + 0.4 * rng.standard_normal(N)


@pytest.mark.parametrize("binary", ["beta", "logistic", "isotonic", "binning"])
def test_two_passes_are_the_fit(binary, rows, rng, tmp_path):
    law, y = rows
    w = rng.integers(0, 3, N).astype(float)
    calibrator = DensityCalibrator(binary, thresholds=EDGES)
    expected = clone(calibrator).fit(law, y, sample_weight=w)
    chunks = np.array_split(rng.permutation(N), 5)
    first = [QuantileCalibrator().summarise(law[c], y[c], sample_weight=w[c]) for c in chunks]
    found = clone(calibrator).begin(sum(first[1:], first[0]))
    assert found.summary_is_enough and not calibrator.summary_is_enough
    parts = [found.summarise(law[c], y[c], sample_weight=w[c]) for c in chunks]
    q = expected.transform(law[:50]).quantiles([0.05, 0.3, 0.5, 0.7, 0.95])
    for whole in (sum(parts[1:], parts[0]), parts[4] + ((parts[1] + parts[0]) + (parts[3] + parts[2]))):
        again = clone(calibrator).fit_summary(whole)  # a summary brings the map along
        np.testing.assert_allclose(again.transform(law[:50]).cdf(q), [[0.05, 0.3, 0.5, 0.7, 0.95]] * 50, atol=1e-6)
    for c in chunks[:-1]:
        found.partial_fit(law[c], y[c], sample_weight=w[c])
    save(found, tmp_path / "density")
    found = load(tmp_path / "density").partial_fit(law[chunks[-1]], y[chunks[-1]], sample_weight=w[chunks[-1]])
    np.testing.assert_allclose(found.transform(law[:50]).cdf(q), [[0.05, 0.3, 0.5, 0.7, 0.95]] * 50, atol=1e-6)
    assert found.n_rows_ == np.count_nonzero(w) and np.isnan(found.pit_distances_).all()


def test_what_it_takes(rows):
    law, y = rows
    first = QuantileCalibrator().summarise(law, y)
    with pytest.raises(ValueError, match="`polish` must be False and `thresholds` must be numbers"):
        DensityCalibrator().begin(first)
    with pytest.raises(ValueError, match="a map that is common to all rows: use begin first"):
        DensityCalibrator(thresholds=EDGES).summarise(law, y)
    one = DensityCalibrator(thresholds=EDGES).begin(first).summarise(law, y)
    other = (
        DensityCalibrator(thresholds=EDGES).begin(QuantileCalibrator().summarise(law[:99], y[:99])).summarise(law, y)
    )
    with pytest.raises(ValueError, match="`other` must be of the same first pass: its map is another"):
        one + other
    moved = DensityCalibrator(thresholds=EDGES + 1).begin(first).summarise(law, y)
    with pytest.raises(ValueError, match="`other` must have the same thresholds"):
        one + moved
    assert one.decay(0.5).sums.sum() == pytest.approx(0.5 * one.sums.sum())


@pytest.mark.parametrize("penalty", ["evidence", 0])
def test_one_pass_without_a_common_map(rows, penalty, tmp_path):
    law, y = rows
    calibrator = DensityCalibrator("logistic", thresholds=EDGES, base_map=None, penalty=penalty)
    assert calibrator.summary_is_enough and not DensityCalibrator(base_map=None).summary_is_enough
    expected = clone(calibrator).fit(law, y).segment_probabilities(law[:50])
    found = clone(calibrator)
    for c in np.array_split(np.arange(N), 3):
        found.partial_fit(law[c], y[c])
    np.testing.assert_allclose(found.segment_probabilities(law[:50]), expected, atol=3e-4)  # bins, not rows
    save(found, tmp_path / "density")
    np.testing.assert_array_equal(
        load(tmp_path / "density").segment_probabilities(law[:50]), found.segment_probabilities(law[:50])
    )
    with pytest.raises(ValueError, match="`base_map` is None: there is no map to begin with"):
        clone(calibrator).begin(QuantileCalibrator().summarise(law, y))
    mapped = DensityCalibrator("logistic", thresholds=EDGES).begin(QuantileCalibrator().summarise(law, y))
    other = mapped.summarise(law, y)
    with pytest.raises(ValueError, match="`other` must be of the same first pass"):
        found.summary_ + other
