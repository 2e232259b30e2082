"""Scaling the spread."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import laplace, norm

from calibrant import Gamma, Laplace, Normal, ScaleCalibrator, StudentT


def test_closed_form():
    cal = ScaleCalibrator().fit(Normal([0.0, 1.0, 2.0], [1.0, 2.0, 1.0]), [1.0, 5.0, 4.0])  # z = 1, 2, 2
    assert cal.factor_ == pytest.approx(np.sqrt((1 + 4 + 4) / 3))
    law = cal.transform(Normal([7.0], [2.0]))
    assert isinstance(law, Normal) and law.scale[0] == pytest.approx(2 * cal.factor_)
    weighted = ScaleCalibrator().fit(Normal([0.0, 1.0], 1.0), [1.0, 3.0], sample_weight=[3, 1])
    assert weighted.factor_ == pytest.approx(np.sqrt((3 * 1 + 4) / 4))


def test_laplace_factor_is_the_mean_absolute_deviation(rng):
    y = laplace(0, 2.5).rvs(400, random_state=0)
    assert ScaleCalibrator().fit(Laplace(np.zeros(400), 1.0), y).factor_ == pytest.approx(np.abs(y).mean(), rel=1e-6)


@pytest.mark.parametrize("law", [Normal, Laplace, lambda m, s: StudentT(m, s, 4.0)])
def test_coverage_is_what_was_asked_for(law, rng):
    y = 3 * rng.standard_t(5, 999)
    cal = ScaleCalibrator("coverage", coverage=0.8).fit(law(np.zeros(999), 1.0), y)
    low, high = cal.transform(law(np.zeros(999), 1.0)).interval(0.8).T
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.8, abs=0.002)


@pytest.mark.parametrize(("coverage", "deciding"), [(0.5, 6.0), (0.7, 8.0), (0.99, 10.0)])
def test_coverage_counts_one_row_more(coverage, deciding, rng):
    """Of 10 rows: half of 11 is 5.5, so the 6th smallest decides; 7.7 gives the 8th; 10.89 the largest there is."""
    y = rng.permutation(np.arange(1.0, 11.0)) * rng.choice([-1.0, 1.0], 10)
    cal = ScaleCalibrator("coverage", coverage=coverage)
    reach = 0.5 + coverage / 2
    assert cal.fit(Normal(np.zeros(10), 1.0), y).factor_ == pytest.approx(deciding / norm.ppf(reach))
    assert cal.fit(Laplace(np.zeros(10), 2.0), y).factor_ == pytest.approx(deciding / laplace.ppf(reach, scale=2.0))


def test_coverage_counts_weights():
    cal = ScaleCalibrator("coverage", coverage=0.5)
    cal.fit(Normal(np.zeros(3), 1.0), [1.0, -2.0, 3.0], sample_weight=[5, 1, 4])  # 5.5 of 5 + 1 + 4
    assert cal.factor_ == pytest.approx(2.0 / norm.ppf(0.75))


def test_bins_are_pulled_to_the_common_factor_by_ten_rows():
    y, scale = [2.0, -2.0, 2.0, 20.0, -20.0], [1.0, 1.0, 1.0, 5.0, 5.0]  # z² = 4, 4, 4, 16, 16
    cal = ScaleCalibrator("bins", n_bins=2).fit(Normal(np.zeros(5), scale), y)
    common = (3 * 4 + 2 * 16) / 5
    assert cal.factor_ == pytest.approx(np.sqrt(common)) and cal.edges_ == pytest.approx([3.0])
    assert cal.factors_ == pytest.approx(np.sqrt([(3 * 4 + 10 * common) / 13, (2 * 16 + 10 * common) / 12]))
    assert cal.transform(Normal([0.0, 0.0], [2.9, 3.1])).scale == pytest.approx(cal.factors_ * [2.9, 3.1])
    weighted = ScaleCalibrator("bins", n_bins=2).fit(Normal([0.0, 0.0], [1.0, 5.0]), [2.0, 20.0], sample_weight=[3, 2])
    assert weighted.factors_ == pytest.approx(cal.factors_)


def test_student_t_stays_student_t(rng):
    y = 3 * rng.standard_t(4, 20_000)
    law = ScaleCalibrator().fit(StudentT(np.zeros(20_000), 1.0, 4.0), y).transform(StudentT([1.0], 1.0, 4.0))
    assert isinstance(law, StudentT) and law.scale[0] == pytest.approx(3, rel=0.03)


def test_bins_undo_exaggerated_differences(rng):
    true = np.exp(rng.normal(0, 0.5, 20_000))
    claimed = true**2
    y = true * rng.standard_normal(20_000)
    cal = ScaleCalibrator("bins", n_bins=20).fit(Normal(np.zeros(20_000), claimed), y)
    after = cal.transform(Normal(np.zeros(20_000), claimed)).scale
    before = np.std(np.log(claimed / true))
    assert np.std(np.log(after / true)) < 0.25 * before
    assert len(cal.factors_) == 20 and cal.factors_[0] > 3 * cal.factors_[-1]


def test_other_laws_keep_their_support(rng):
    y = rng.gamma(1.0, 4.0, 3000)
    law = ScaleCalibrator().fit(Gamma(np.full(3000, 4.0), 1.0), y).transform(Gamma([4.0], 1.0))
    assert law.ppf([1e-9])[0] > 0 and law.std()[0] > 2.2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "best"}, "`method` must be one of"),
        ({"coverage": 90}, "Percent"),
        ({"n_bins": 0}, "`n_bins` must be"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        ScaleCalibrator(**settings).fit(Normal([0.0], 1.0), [1.0])


def test_perfect_predictions_are_an_error():
    with pytest.raises(ValueError, match="residuals must vary"):
        ScaleCalibrator().fit(Normal([1.0, 2.0], 1.0), [1.0, 2.0])
