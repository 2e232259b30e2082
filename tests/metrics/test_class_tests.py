"""Tests of calibration: statistics by hand, the right size, and power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import binomtest, chi2, norm
from sklearn.linear_model import LogisticRegression

from calibrant import metrics

TESTS = {
    "spiegelhalter": metrics.spiegelhalter_test,
    "hosmer_lemeshow": metrics.hosmer_lemeshow_test,
    "cox": metrics.cox_calibration,
}


def logit(p):
    return np.log(p / (1 - p))


@pytest.mark.parametrize("test", TESTS)
class TestLevels:
    def test_size(self, test):
        """Calibrated forecasts are rejected as often as the level says."""
        rng = np.random.default_rng(11)
        p = rng.beta(2, 2, 400)
        pvalues = np.array([TESTS[test](rng.random(400) < p, p).pvalue for _ in range(1000)])
        for level in (0.05, 0.2):
            assert binomtest(int((pvalues < level).sum()), 1000, level).pvalue > 0.01

    def test_power(self, test, rng):
        p = rng.beta(2, 2, 2000)
        y = rng.random(2000) < 0.25 + 0.5 * p
        assert TESTS[test](y, p).pvalue < 1e-3


class TestSpiegelhalter:
    def test_formula_of_two_classes(self, rng):
        p, w = rng.random(50), rng.integers(0, 3, 50)
        y = rng.random(50) < p
        up, down = w * (y - p) * (1 - 2 * p), w * (1 - 2 * p) ** 2 * p * (1 - p)
        result = metrics.spiegelhalter_test(y, p, sample_weight=w)
        assert result.statistic == pytest.approx(up.sum() / np.sqrt(down.sum()), rel=1e-12)
        assert result.pvalue == pytest.approx(2 * norm.sf(abs(result.statistic)), rel=1e-12)
        assert result.name == "Spiegelhalter"

    def test_size_of_three_classes(self):
        rng = np.random.default_rng(5)
        p = rng.dirichlet([1, 2, 3], 300)
        edges = np.cumsum(p, axis=1)[:, :-1]
        z = [
            metrics.spiegelhalter_test((rng.random(300)[:, None] > edges).sum(axis=1), p).statistic for _ in range(1000)
        ]
        assert np.mean(z) == pytest.approx(0, abs=0.1)
        assert np.std(z) == pytest.approx(1, abs=0.07)

    def test_overconfidence_is_above_0(self, rng):
        p = rng.random(1000)
        assert metrics.spiegelhalter_test(rng.random(1000) < 0.3 + 0.4 * p, p).statistic > 3
        assert metrics.spiegelhalter_test(rng.random(1000) < p, 0.3 + 0.4 * p).statistic < -3

    def test_nothing_uncertain(self):
        result = metrics.spiegelhalter_test([0, 1], [0.0, 1.0])
        assert np.isnan(result.statistic)
        assert np.isnan(result.pvalue)
        assert np.isnan(metrics.spiegelhalter_test([0, 1], [0.5, 0.5]).statistic)  # every outcome costs the same


class TestHosmerLemeshow:
    def test_by_hand(self):
        result = metrics.hosmer_lemeshow_test([0, 0, 1, 1], [0.1, 0.1, 0.6, 0.6], n_bins=2)
        assert result.statistic == pytest.approx(2 * 0.1**2 / 0.09 + 2 * 0.4**2 / 0.24)
        assert result.pvalue == pytest.approx(chi2.sf(result.statistic, 2))

    def test_fitted_forecasts_have_two_degrees_less(self):
        rng = np.random.default_rng(8)
        x = rng.normal(size=(400, 1))
        pvalues = []
        for _ in range(300):
            y = rng.random(400) < 1 / (1 + np.exp(-x[:, 0]))
            p = LogisticRegression(C=np.inf).fit(x, y).predict_proba(x)
            pvalues.append(metrics.hosmer_lemeshow_test(y, p, fitted=True).pvalue)
        assert binomtest(int((np.array(pvalues) < 0.2).sum()), 300, 0.2).pvalue > 0.01
        with pytest.raises(ValueError, match="must leave more bins than 2 where fitted=True; the forecasts fill 2"):
            metrics.hosmer_lemeshow_test([0, 1, 1], [0.1, 0.1, 0.6], fitted=True)

    def test_certain_forecasts(self):
        assert metrics.hosmer_lemeshow_test([0, 1, 1], [0.0, 1.0, 1.0]).pvalue == 1
        wrong = metrics.hosmer_lemeshow_test([1, 1, 1], [0.0, 1.0, 1.0])
        assert (wrong.statistic, wrong.pvalue) == (np.inf, 0)


class TestCox:
    def test_scikit_learn_agrees(self, rng):
        p, w = rng.random(300), rng.random(300)
        y = rng.random(300) < p**2
        model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(logit(p)[:, None], y, sample_weight=w)
        fit = metrics.cox_calibration(y, p, sample_weight=w)
        assert fit.slope == pytest.approx(model.coef_[0, 0], rel=1e-6)
        assert fit.intercept == pytest.approx(model.intercept_[0], rel=1e-6)

    def test_standard_errors_and_likelihood_ratio(self, rng):
        p = rng.random(200)
        y = rng.random(200) < p**2
        fit = metrics.cox_calibration(y, p)

        def loss(theta):
            line = theta[0] + theta[1] * logit(p)
            return np.sum(np.logaddexp(0, line) - y * line)

        def gradient(theta):
            return approx_fprime(theta, loss, 1e-5)

        at = np.array([fit.intercept, fit.slope])
        hessian = np.array([(gradient(at + step) - gradient(at - step)) / 2e-3 for step in 1e-3 * np.eye(2)])
        errors = np.sqrt(np.diag(np.linalg.inv(hessian)))
        assert (fit.intercept_error, fit.slope_error) == pytest.approx(tuple(errors), rel=1e-3)
        assert fit.statistic == pytest.approx(2 * (loss(np.array([0, 1])) - loss(at)), rel=1e-9)
        assert fit.pvalue == pytest.approx(chi2.sf(fit.statistic, 2), rel=1e-12)

    def test_known_parameters_come_back(self, rng):
        p = rng.beta(2, 2, 100_000)
        y = rng.random(len(p)) < 1 / (1 + np.exp(-(0.5 + 0.7 * logit(p))))
        fit = metrics.cox_calibration(y, p)
        assert abs(fit.slope - 0.7) < 3 * fit.slope_error < 0.05
        assert abs(fit.intercept - 0.5) < 3 * fit.intercept_error < 0.05

    @pytest.mark.parametrize(
        ("y", "p", "message"),
        [
            ([0, 1, 0], [0.4, 0.4, 0.4], "at least two different values: constant forecasts have no slope"),
            ([1, 1, 1], [0.4, 0.5, 0.6], "rows of both classes"),
            ([0, 0, 1], [0.4, 0.5, 0.6], "must not be separated by a threshold on `y_proba`: the slope is infinite"),
            ([1, 0, 0], [0.4, 0.5, 0.6], "must not be separated"),
            ([1, 0, 0, 1], [0.4, 0.4, 0.4, 0.6], "must not be separated"),
        ],
    )
    def test_no_slope(self, y, p, message):
        with pytest.raises(ValueError, match=message):
            metrics.cox_calibration(y, p)

    def test_certain_forecasts(self):
        fit = metrics.cox_calibration([0, 1, 0, 1, 0], [0.0, 1.0, 0.3, 0.2, 1.0])
        assert np.isfinite([fit.slope, fit.intercept, fit.slope_error, fit.statistic]).all()
