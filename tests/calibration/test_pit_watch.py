"""What a calibrator does to calibration on average, seen on unseen rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from calibrant import (
    DensityCalibrator,
    FlowCalibrator,
    GPBetaCalibrator,
    GPCCalibrator,
    Normal,
    Poisson,
    QuantileCalibrator,
    StackCalibrator,
    load,
    metrics,
    save,
)
from calibrant.calibration.pit_watch import (
    ConditionalCalibrator,
    distance_from_uniform,
    effective_rows,
    halves,
    unwatched,
)
from calibrant.distributions import Recalibrated
from calibrant.maps import AffineMap
from experiments.song2019.toy.toy import toy
from tests.regression.test_stack import on_the_toy as stack_on_the_toy
from tests.store.test_calibrators import forged


class Shift(ConditionalCalibrator):
    """Moves every score by a number, whatever the data."""

    def __init__(self, by: float = 0.0) -> None:
        self.by = by

    def _fit(self, forecasts, y, weights):
        self.seen_ = len(y)

    def _transform(self, forecasts):
        return Recalibrated(forecasts, AffineMap(self.by, 1.0))


class Overdoes(Shift):
    """Moves scores by a hundred times their mean: nothing on rows centred already, much on others."""

    def _fit(self, forecasts, y, weights):
        self.by = -100 * float(np.mean(forecasts.to_normal(y)))


def calibrated(seed, n):
    rng = np.random.default_rng(seed)
    mu, sigma = rng.normal(0, 2, n), np.exp(rng.normal(0, 0.5, n))
    return Normal(mu, sigma), mu + sigma * rng.standard_normal(n)


class TestDistance:
    def test_against_scipy(self, rng):
        p = rng.beta(2, 1, 50)
        assert distance_from_uniform(np.column_stack([p, p]), np.ones(50)) == pytest.approx(kstest(p, "uniform")[0])

    def test_by_hand(self):
        assert distance_from_uniform(np.array([[0.3, 0.3]]), np.ones(1)) == pytest.approx(0.7)
        assert distance_from_uniform(np.array([[0.8, 0.8]]), np.ones(1)) == pytest.approx(0.8)
        halved = np.array([[0.0, 0.5], [0.5, 1.0]])  # two atoms that fill [0, 1] are uniform, up to 9 points each
        assert distance_from_uniform(halved, np.ones(2)) == pytest.approx(1 / 36)
        assert distance_from_uniform(halved, np.array([3.0, 1.0])) == pytest.approx(0.25, abs=0.05)

    def test_weights_are_frequencies(self, rng):
        p, w = rng.random(30), rng.integers(0, 4, 30)
        again = np.repeat(p, w)
        assert distance_from_uniform(np.column_stack([p, p]), w) == pytest.approx(kstest(again, "uniform")[0])

    def test_rows_of_equal_weight(self):
        assert effective_rows(np.array([2.0, 2.0, 2.0])) == pytest.approx(3)
        assert effective_rows(np.array([0.5, 0.5])) == pytest.approx(1)
        assert effective_rows(np.array([1e9, 1.0, 1.0])) == pytest.approx(1)


def test_halves_are_equal_and_at_most_2000_rows():
    assert np.bincount(halves(101) + 1).tolist() == [0, 51, 50]
    assert np.bincount(halves(5000) + 1).tolist() == [3000, 1000, 1000]
    assert np.array_equal(halves(5000), halves(5000))


class TestWatching:
    def test_both_distances_and_a_warning(self):
        law, y = calibrated(0, 400)
        with pytest.warns(
            UserWarning, match=r"Shift made the probabilistic calibration worse.*StackCalibrator and Quant"
        ):
            cal = Shift(0.5).fit(law, y)
        before, after = (metrics.ks_test(y, d).statistic for d in (law, cal.transform(law)))
        assert cal.pit_distances_ == pytest.approx((before, after))  # nothing is learned, so halves do not matter
        assert after > before + 0.1

    def test_silent_where_it_helps_or_does_nothing(self):
        law, y = calibrated(0, 400)
        assert Shift(0.0).fit(law, y).pit_distances_[0] == Shift(0.0).fit(law, y).pit_distances_[1]
        wrong = Normal(law.loc - law.scale, law.scale)
        before, after = Shift(-1.0).fit(wrong, y).pit_distances_
        assert after < 0.1 < 0.3 < before

    def test_rows_are_unseen(self):
        """The mean of all rows is 0, those of the halves are not: what is learned from one is wrong for the other."""
        law, y = calibrated(1, 200)
        y = law.from_normal(law.to_normal(y) - law.to_normal(y).mean())
        z = law.to_normal(y)
        half = halves(200)[np.argsort(np.argsort(z))]
        expected = kstest(z - 100 * np.where(half == 0, z[half == 1].mean(), z[half == 0].mean()), "norm")[0]
        with pytest.warns(UserWarning, match="worse"):
            assert Overdoes().fit(law, y).pit_distances_[1] == pytest.approx(expected)

    @pytest.mark.parametrize("n", [1, 5, 39])
    def test_too_few_rows_say_nothing(self, n):
        law, y = calibrated(0, n)
        assert np.isnan(Shift(3.0).fit(law, y).pit_distances_).all()
        assert np.isnan(Shift(3.0).fit(law, y, sample_weight=np.full(n, 9)).pit_distances_).all()
        law, y = calibrated(0, 200)
        assert np.isnan(Shift(3.0).fit(law, y, sample_weight=np.full(200, 0.1)).pit_distances_).all()

    def test_not_watched(self):
        law, y = calibrated(0, 100)
        with unwatched():
            cal = Shift(1.0).fit(law, y)
        assert not hasattr(cal, "pit_distances_")
        with pytest.warns(UserWarning, match="worse"):
            Shift(1.0).fit(law, y)

    def test_weight_two_is_the_row_twice(self):
        law, y = calibrated(3, 150)
        w = np.random.default_rng(0).integers(0, 4, 150)
        many = np.repeat(np.arange(150), w)
        weighted = FlowCalibrator().fit(law, y, sample_weight=w).pit_distances_
        assert FlowCalibrator().fit(law[many], y[many]).pit_distances_ == pytest.approx(weighted, abs=1e-6)
        shuffled = np.random.default_rng(1).permutation(many)
        assert FlowCalibrator().fit(law[shuffled], y[shuffled]).pit_distances_ == pytest.approx(weighted, abs=1e-6)

    def test_counts(self, rng):
        rate = np.exp(rng.normal(2, 0.5, 600))
        before, after = FlowCalibrator().fit(Poisson(rate), rng.poisson(2 * rate)).pit_distances_
        assert after < 0.08 < 0.4 < before
        assert max(FlowCalibrator().fit(Poisson(rate), rng.poisson(rate)).pit_distances_) < 0.08


class TestTruth:
    """The halves tell what fresh rows tell."""

    @pytest.mark.filterwarnings("ignore:.*made the probabilistic:UserWarning")
    @pytest.mark.parametrize(
        "calibrator", [FlowCalibrator(), DensityCalibrator(), GPCCalibrator(), GPBetaCalibrator()], ids=str
    )
    def test_as_on_fresh_rows(self, calibrator):
        old, new = toy(3, fresh=2000)
        found = calibrator.fit(old.base, old.y).pit_distances_
        fresh = [metrics.ks_test(new.y, law).statistic for law in (new.base, calibrator.transform(new.base))]
        assert found == pytest.approx(fresh, abs=0.04)

    def test_two_regimes(self):
        """Segments blur the regimes; the stack mends the margin too."""
        old, _ = toy(0)
        with pytest.warns(UserWarning, match=r"DensityCalibrator made the probabilistic.*from 0\.0\d\d to 0\.1\d\d"):
            DensityCalibrator().fit(old.base, old.y)
        before, after = stack_on_the_toy(0).pit_distances_
        assert after < before < 0.06

    def test_a_stack_is_watched_as_a_whole(self):
        law, y = calibrated(0, 400)
        stack = StackCalibrator([Shift(0.5), QuantileCalibrator()]).fit(law, y)  # no word on what it does not use
        assert stack.weights_["shift"] < 0.05 and stack.pit_distances_[1] < stack.pit_distances_[0] + 0.02
        before, after = (metrics.ks_test(y, d).statistic for d in (law, stack.transform(law)))
        assert stack.pit_distances_ == pytest.approx((before, after), abs=0.03)


@pytest.mark.parametrize(("n", "draws"), [(50, 100), (100, 100), (1000, 25)])
def test_few_false_alarms(n, draws):
    """On forecasts that are right, larger growth is rare: about 1 % at 100 rows for a flow without caution."""
    grown = []
    with unwatched():
        for seed in range(draws):
            law, y = calibrated(seed, n)
            unseen = FlowCalibrator(penalty=1.0)._unseen(law, y, np.ones(n))
            before, after = (distance_from_uniform(pits, unseen.weights) for pits in unseen[:2])
            grown.append((after - before) * np.sqrt(n))
    assert np.mean(np.array(grown) > 1) <= 0.02


@pytest.mark.parametrize("each", [0.25, 1.0, 40.0])
def test_weights_are_shares(each):
    assert distance_from_uniform(np.array([[0.5, 0.5], [0.9, 0.9]]), np.full(2, each)) == pytest.approx(0.5)
    assert distance_from_uniform(np.array([[0.5, 0.5], [0.9, 0.9]]), each * np.array([1.0, 3.0])) == pytest.approx(0.65)


@pytest.mark.parametrize("calibrator", [StackCalibrator([QuantileCalibrator()]), FlowCalibrator()], ids=str)
def test_the_earlier_name(calibrator, tmp_path):
    """`marginal_`, by which Gneiting et al. mean another thing: in code, and in files."""
    law, y = calibrated(0, 60)
    calibrator.fit(law, y)
    assert calibrator.marginal_ is calibrator.pit_distances_
    save(calibrator, tmp_path / "file")

    def older(text, members):
        state = text["state"]["state"]
        state["marginal_"] = state.pop("pit_distances_")

    forged(tmp_path / "file", older)
    assert load(tmp_path / "file").pit_distances_ == pytest.approx(calibrator.pit_distances_)
