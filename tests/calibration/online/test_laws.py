"""What is learned: formulas against their letter, and what the mixture promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from calibrant import Normal, OnlineCalibrator, load, save
from calibrant.calibration.online.guarantee import RATE, Guarantee
from calibrant.calibration.online.levels import Levels
from calibrant.calibration.online.looks import HEAVY, Laws, Scores, scores_of
from calibrant.calibration.online.shares import DOUBT, RATES, Shares
from calibrant.calibration.online.stream import Stream
from calibrant.maps import AffineMap

HALF_LIVES, FAST = (20.0, 60.0, 200.0, 800.0), (0.7, 2.0, 6.0)


def scores(z):
    z = np.asarray(z, dtype=float)
    return Scores(z, z, z, np.ones(len(z)))


def test_shares_are_those_of_the_paper_under_each_rate(rng):
    prior, logs = np.array([0.5, 0.3, 0.2]), rng.normal(size=(5, 3))
    shares = Shares.of(prior)
    found, _ = shares.learn(logs, np.ones(5), 1.0)
    weights, rates, expected = [prior.copy() for _ in RATES], np.full(3, 1 / 3), []
    for f in np.exp(logs):
        each = np.array([w @ f for w in weights])
        expected.append(np.log(rates @ each))
        rates = (1 - DOUBT) * rates * each / (rates @ each) + DOUBT / 3
        weights = [(1 - a) * w * f / (w @ f) + a * prior for a, w in zip(RATES, weights, strict=True)]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(shares.weights, sum(r * w for r, w in zip(rates, weights, strict=True)))


def test_levels_are_decayed_means_of_what_was_known(rng):
    z = rng.normal(1.0, 2.0, 40)
    for lag in (0, 3):
        levels = Levels((2.0,), (20.0,), lag)
        parts = [levels.follow(z[start : start + 8], np.ones(8), 1.0) for start in range(0, 40, 8)]
        middles = np.concatenate([part[0] for part in parts])
        age = np.arange(40 - 1 - lag)[::-1]
        for column, h in ((1, 2.0), (2, 20.0)):
            w = 0.5 ** (age / h)
            assert middles[-1, column] == pytest.approx((w @ z[: 39 - lag]) / (w.sum() + 0.5 * 0.5 ** ((39 - lag) / h)))
        assert not middles[: lag + 1].any()


def test_what_forecasters_say_of_scores(rng):
    z, middles, widths = rng.normal(size=4), rng.normal(size=(4, 2)), np.exp(rng.normal(size=(4, 3, 2)))
    laws = Laws([AffineMap(0.3, 0.8)], middles, widths)
    (logs, (look,)), weights = laws.log_densities(scores(z)), np.full((4, 14), 1 / 14)
    plain = norm.pdf(z[:, None, None], middles[:, None], widths)
    heavy = sum(share * norm.pdf(z[:, None, None], middles[:, None], width * widths) for share, width in HEAVY)
    np.testing.assert_allclose(np.exp(logs[:, 0]), norm.pdf(z))
    np.testing.assert_allclose(np.exp(logs[:, 1]), 0.8 * norm.pdf(0.3 + 0.8 * z))
    np.testing.assert_allclose(np.exp(logs[:, 2:8]), plain.reshape(4, -1))
    np.testing.assert_allclose(np.exp(logs[:, 8:]), heavy.reshape(4, -1))
    atom = Scores.between(z - 1e-4, z + 1e-4, np.ones(4))
    np.testing.assert_allclose(laws.log_densities(atom)[0] - np.log(2e-4), logs, atol=1e-4)
    below = norm.cdf(z) + norm.cdf(0.3 + 0.8 * z) + norm.cdf(z[:, None, None], middles[:, None], widths).sum((1, 2))
    below += sum(s * norm.cdf(z[:, None, None], middles[:, None], w * widths).sum((1, 2)) for s, w in HEAVY)
    np.testing.assert_allclose(norm.cdf(scores_of(look, weights)), below / 14)


def test_the_law_has_the_densities_that_it_was_weighed_by(rng):
    stream, outer = (Stream.new(HALF_LIVES, FAST, has_outer=is_inner) for is_inner in (False, True))
    for z in 3 * rng.normal(size=(6, 20)):
        seen = stream.learn(scores(z), 1.0)
        outer.learn(scores(z), 1.0, seen)
    at = np.array([-4.0, 0.5, 3.0])
    for one in at:
        law, inner = stream.law(), outer.law(stream.mixture())
        a, b = stream.learn(scores([one]), 1.0), None
        b = outer.learn(scores([one]), 1.0, a)
        for found, told in ((law, a), (inner, b)):
            expected = found.log_density(np.array([one])) - 0.5 * np.log(2 * np.pi)
            np.testing.assert_allclose(told.logs + told.gains, expected, atol=2e-4)


def test_the_cost_where_nothing_is_wrong_and_after_jumps(rng):
    z = rng.normal(size=600)
    seen = Stream.new(HALF_LIVES, FAST).learn(scores(z), 1.0)
    assert np.mean(norm.logpdf(z) - seen.logs - seen.gains) < 0.01
    sd = np.repeat([1.0, 3.0, 0.5], 200)
    z = sd * rng.normal(size=600)
    seen = Stream.new(HALF_LIVES, FAST).learn(scores(z), 1.0)
    assert np.mean(norm.logpdf(z, scale=sd) - seen.logs - seen.gains) < 0.13


def test_errors_that_persist_are_followed(rng):
    z = np.cumsum(rng.normal(0.0, 0.3, 300)) + 4
    seen = Stream.new(HALF_LIVES, FAST).learn(scores(z), 1.0)
    late = Stream.new(HALF_LIVES, FAST, lag=9).learn(scores(z), 1.0)
    known, best = norm.logpdf(z).mean(), norm.logpdf(np.diff(z), scale=0.3).mean()
    assert best - 0.35 < np.mean(seen.logs + seen.gains) and known < np.mean(late.logs + late.gains) < best - 0.6


def test_groups_differ_where_they_show_it_and_are_alike_at_first(rng):
    groups = np.tile([1, 2, 3], 60)
    calibrator = OnlineCalibrator().update(Normal(np.zeros(180), 1.0), groups * rng.normal(size=180), groups=groups)
    spread = calibrator.transform(Normal(np.zeros(5), 1.0), groups=[3, 2, 1, 4, 3]).interval(0.6827) @ [-0.5, 0.5]
    assert spread[:3] == pytest.approx([3, 2, 1], rel=0.3) and spread[0] == spread[4] and 1.5 < spread[3] < 2.7


def test_places_are_moved_as_the_paper_says_and_read_in_order():
    kept = Guarantee.of((0.5, 0.9))
    assert kept.levels.tolist() == pytest.approx([0.05, 0.25, 0.75, 0.95])
    kept.learn(0.0, np.array([-1.0, 0.5, 1.0, 2.0]), 1.0)
    assert (kept.places - kept.levels) / RATE == pytest.approx([0.05, -0.75, -0.25, -0.05])
    kept.places = np.array([-0.001, 0.6, 0.4, 1.001])
    assert kept.read(kept.places) == pytest.approx([-1, 0.5, 0.5, 2])
    ends = kept.map.inverse(norm.ppf(kept.levels))
    assert np.isinf(ends[[0, 3]]).all() and np.abs(ends[1:3]).max() < 1e-6
    at = np.linspace(-30, 30, 301)
    kept.places = np.array([0.01, 0.3, 0.7, 0.99])
    assert norm.cdf(kept.map.inverse(norm.ppf(kept.levels))) == pytest.approx(kept.places)
    np.testing.assert_allclose(kept.map.inverse(kept.map(at)), at, atol=1e-9)
    slope = (kept.map(at + 1e-6) - kept.map(at - 1e-6)) / 2e-6
    np.testing.assert_allclose(np.exp(kept.map.log_slope(at)), slope, rtol=1e-5)


def test_promised_levels_hold_against_an_adversary():
    calibrator, base, inside, steps = OnlineCalibrator(coverages=0.8), Normal([0.0], 1.0), 0, 40
    for _ in range(steps):
        low, high = calibrator.transform(base).interval(0.8)[0]
        y = float(high) + 1 if np.isfinite(high) else 0.0
        inside += low <= y <= high
        calibrator.update(base, [y])
    moved = calibrator.common_.guarantee.places - [0.1, 0.9]
    assert 1 - inside / steps - 0.2 == pytest.approx((moved[1] - moved[0]) / (RATE * steps))
    assert inside > 0


def test_a_promised_end_where_no_outcome_is_believed_is_infinite():
    calibrator, base = OnlineCalibrator(coverages=(0.5, 0.9)).update(Normal([0.0], 1.0), [0.1]), Normal([0.0], 1.0)
    stream = calibrator.common_
    stream.law = lambda outer=None: AffineMap(slope=1e-12)  # quantiles at 1.64e12 and at .67e12
    assert calibrator.transform(base).interval(0.9).tolist() == [[-np.inf, np.inf]]
    assert np.abs(calibrator.transform(base).interval(0.5)) == pytest.approx(norm.ppf(0.75) * 1e12)
    places = stream.guarantee.places.copy()
    calibrator.update(base, [5e12])  # below the infinite end, above the other
    moved = (stream.guarantee.places - places) / RATE
    assert moved == pytest.approx([0.05, 0.25, 0.75, 0.95 - 1])


def test_outcomes_in_the_middle_do_not_lie_inside_for_ever():
    calibrator, base, inside, steps = OnlineCalibrator(coverages=(0.5, 0.9)), Normal([0.0], 1.0), np.zeros(2), 90
    for row in range(steps):
        ends = np.array([calibrator.transform(base).interval(c)[0] for c in (0.5, 0.9)])
        y = float(ends[0, 1]) if row % 5 == 2 else ends[0].mean()
        inside += (ends[:, 0] <= y) & (y <= ends[:, 1])
        calibrator.update(base, [y])
    kept = calibrator.common_.guarantee
    moved = kept.places - kept.levels
    assert inside / steps - [0.5, 0.9] == pytest.approx((moved[[1, 0]] - moved[[2, 3]]) / (RATE * steps))
    kept.places = np.array([0.1, 0.6, 0.4, 0.9])
    low, high = calibrator.transform(Normal([0.0, 5.0], [1.0, 2.0])).interval(0.5).T
    assert np.all(high < low) and low - high == pytest.approx([0.0, 0.0], abs=1e-9)


def test_probabilities_of_classes(rng, tmp_path):
    x = rng.normal(0, 1.5, 400)
    y = np.where(rng.random(400) < expit(x), "yes", "no")
    calibrator = OnlineCalibrator(kind="probabilities")
    p = expit(2.5 * x + 0.5)
    assert calibrator.transform(p[:3])[:, 1] == pytest.approx(p[:3])
    calibrator.update(p, y, groups=x > 0, ids=np.arange(400))
    at = np.array([-1.0, 0.0, 1.0])
    made = calibrator.transform(expit(2.5 * at + 0.5))
    assert made[:, 1] == pytest.approx(expit(at), abs=0.12) and made.sum(axis=1) == pytest.approx(1)
    save(calibrator, tmp_path / "classes")
    again = load(tmp_path / "classes")
    for each in (calibrator, again):
        assert each.update([0.9], ["no"], groups=[True]).new_rows_ == 1
    assert np.array_equal(again.transform(p, groups=x > 0), calibrator.transform(p, groups=x > 0))
    three = np.array([[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.01, 0.01, 0.98]])
    labels = rng.permuted(np.tile([[0, 0, 0, 1], [1, 1, 1, 2], [2, 2, 2, 0]], (1, 40)), axis=1)
    many = OnlineCalibrator(kind="probabilities").update(np.tile(three, (160, 1)), labels.T.ravel())
    assert many.transform(three).diagonal() == pytest.approx([0.75] * 3, abs=0.08)
