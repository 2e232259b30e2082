"""Joint calibration of probability vectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from calibrant import metrics
from calibrant.metrics.classes import kernel_calibration
from calibrant.metrics.tests.null_laws import quadratic_form_sf
from experiments.swapped import forecasts, rejected


def h(y_i, p_i, y_j, p_j, kernel, width):
    """Widmann et al. (2019): (e_i - p_i)' (e_j - p_j) k(p_i, p_j), written out."""
    d = np.sqrt(sum((a - b) ** 2 for a, b in zip(p_i, p_j, strict=True)))
    k = np.exp(-d / width) if kernel == "laplacian" else np.exp(-(d**2) / (2 * width**2))
    return k * sum(((y_i == c) - p_i[c]) * ((y_j == c) - p_j[c]) for c in range(len(p_i)))


def literal(y, p, kernel, width, debiased):
    n = len(y)
    pairs = [(i, j) for i in range(n) for j in range(n) if not (debiased and i == j)]
    return sum(h(y[i], p[i], y[j], p[j], kernel, width) for i, j in pairs) / len(pairs)


@pytest.mark.parametrize("kernel", ["laplacian", "gaussian"])
@pytest.mark.parametrize("debiased", [False, True])
class TestValue:
    def test_against_the_definition(self, kernel, debiased, rng):
        p, y = rng.dirichlet([2, 3, 1], 25), rng.integers(0, 3, 25)
        p[3], p[7] = p[0], p[1]
        found = metrics.kernel_calibration_error(y, p, kernel=kernel, bandwidth=0.4, debiased=debiased)
        assert found == pytest.approx(literal(y, p, kernel, 0.4, debiased), rel=1e-10)
        width = np.sqrt(np.mean([np.sum((a - b) ** 2) for a in p for b in p]))
        found = metrics.kernel_calibration_error(y, p, kernel=kernel, debiased=debiased)
        assert found == pytest.approx(literal(y, p, kernel, width, debiased), rel=1e-10)

    def test_two_classes(self, kernel, debiased, rng):
        q, y = rng.random(20), rng.integers(0, 2, 20)
        found = metrics.kernel_calibration_error(y, q, kernel=kernel, bandwidth=0.3, debiased=debiased)
        assert found == pytest.approx(literal(y, np.column_stack([1 - q, q]), kernel, 0.3, debiased), rel=1e-10)

    def test_parts_of_many_vectors(self, kernel, debiased, rng, monkeypatch):
        """Pairs within parts only: unbiased, and near the mean over all pairs."""
        y, p = forecasts(rng, 2000)
        how = {"kernel": kernel, "debiased": debiased}
        whole = metrics.kernel_calibration_error(y, p, **how)
        monkeypatch.setattr(kernel_calibration, "MOST_PAIRS", 400_000)
        assert metrics.kernel_calibration_error(y, p, **how) == pytest.approx(whole, abs=6e-4)


def test_the_floor_is_what_labels_drawn_from_the_vectors_give(rng):
    p = rng.dirichlet([2, 3, 1], 60)
    floor = metrics.kernel_calibration_floor(p)
    assert metrics.noise_floor(metrics.kernel_calibration_error, p, n_draws=200) == pytest.approx(floor, rel=0.1)

    def debiased(y, p):
        return metrics.kernel_calibration_error(y, p, debiased=True)

    assert metrics.noise_floor(debiased, p, n_draws=200) == pytest.approx(0, abs=0.1 * floor)
    assert metrics.kernel_calibration_floor(p[:, 0]) == pytest.approx(np.sum(2 * p[:, 0] * (1 - p[:, 0])) / 60**2)
    w = rng.integers(1, 4, 60)
    repeated = metrics.kernel_calibration_floor(np.repeat(p, w, axis=0))
    assert metrics.kernel_calibration_floor(p, sample_weight=w) == pytest.approx(repeated)


class TestTest:
    def test_sees_what_single_classes_hide(self):
        y, p = forecasts(np.random.default_rng(0), 5000)
        floor = metrics.noise_floor(metrics.ece, p, n_draws=10)
        assert metrics.ece(y, p) < 1.5 * floor
        wise = {"kind": "class-wise"}
        assert metrics.ece(y, p, **wise) < 1.5 * metrics.noise_floor(
            lambda y, p: metrics.ece(y, p, **wise), p, n_draws=30
        )
        assert metrics.kernel_calibration_test(y, p).pvalue < 1e-4
        assert metrics.kernel_calibration_error(y, p, debiased=True) > 5 * metrics.kernel_calibration_floor(p)

    def test_power_and_size(self):
        """The table of experiments/swapped.py, with fewer draws of fewer rows."""
        assert rejected(2000, 5, 0.1) >= 0.8
        assert rejected(200, 30, 0.0) <= 0.14

    @pytest.mark.parametrize("kernel", ["laplacian", "gaussian"])
    def test_p_values_are_uniform_if_calibrated(self, kernel, rng):
        p = np.repeat(rng.dirichlet([2, 3, 1, 1], 30), 6, axis=0)
        found = []
        for _ in range(120):
            y = (rng.random(180)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
            found.append(metrics.kernel_calibration_test(y, p, kernel=kernel).pvalue)
        assert kstest(found, "uniform").pvalue > 0.01
        assert np.mean(found) == pytest.approx(0.5, abs=0.07)

    def test_null_law_of_few_vectors_by_drawing_labels(self, rng):
        """All vectors are landmarks: the statistic is the error itself, and its law that of labels drawn again."""
        p = np.repeat(rng.dirichlet([2, 3, 1], 12), 40, axis=0)
        draws = [(rng.random(480)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1) for _ in range(300)]
        errors = np.array([metrics.kernel_calibration_error(y, p) for y in draws])
        y = draws[int(np.argsort(errors)[270])]
        result = metrics.kernel_calibration_test(y, p)
        floor = metrics.kernel_calibration_floor(p)
        assert result.statistic == pytest.approx(metrics.kernel_calibration_error(y, p) / floor, rel=1e-6)
        assert result.pvalue == pytest.approx(0.1, abs=0.04)

    def test_statistic_is_about_one(self):
        y, p = forecasts(np.random.default_rng(1), 1000, 0.0)
        assert metrics.kernel_calibration_test(y, p).statistic == pytest.approx(1, abs=0.7)

    def test_nothing_to_test(self):
        result = metrics.kernel_calibration_test([0, 1], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], classes=[0, 1, 2])
        assert np.isnan(result.pvalue)
        assert np.isnan(metrics.kernel_calibration_error([0], [[0.5, 0.5]], classes=[0, 1], debiased=True))

    def test_memory_is_linear(self, rng):
        import tracemalloc

        y, p = forecasts(rng, 20_000)
        tracemalloc.start()
        metrics.kernel_calibration_test(y, p)
        assert tracemalloc.get_traced_memory()[1] < 120e6  # an n × n table is 3.2 GB
        tracemalloc.stop()

    def test_refusals(self, rng):
        y, p = forecasts(rng, 20)
        for function in (metrics.kernel_calibration_error, metrics.kernel_calibration_test):
            with pytest.raises(ValueError, match="`kernel` must be one of 'laplacian', 'gaussian'; got 'cosine'"):
                function(y, p, kernel="cosine")
            with pytest.raises(ValueError, match="`bandwidth` must be positive; got -1"):
                function(y, p, bandwidth=-1)
        with pytest.raises(
            ValueError, match="up to 128 classes; got 200. Compare kernel_calibration_error with its fl"
        ):
            metrics.kernel_calibration_test(
                rng.integers(0, 200, 50), rng.dirichlet(np.ones(200), 50), classes=range(200)
            )


class TestQuadraticForms:
    @pytest.mark.parametrize("freedom", [1, 2, 5, 40])
    def test_chi_squares(self, freedom):
        x = np.linspace(0.2, 4, 15) * freedom
        found = [quadratic_form_sf(value, np.ones(freedom)) for value in x]
        np.testing.assert_allclose(found, chi2.sf(x, freedom), rtol=0.05)

    def test_any_weights_by_drawing(self, rng):
        weights = np.array([1, 0.5, 0.3, 0.3, 0.1] + [0.02] * 20)
        drawn = np.square(rng.standard_normal((40_000, 25))) @ weights
        for share in (0.9, 0.5, 0.1, 0.01):
            x = float(np.quantile(drawn, 1 - share))
            assert quadratic_form_sf(x, weights) == pytest.approx(share, rel=0.12)
        mean = float(weights.sum())
        around = [quadratic_form_sf(mean * (1 + step), weights) for step in (-1e-4, 0.0, 1e-4)]
        assert around[0] > around[1] > around[2] and around[0] - around[2] < 1e-3
        assert quadratic_form_sf(0.0, weights) == 1.0 and quadratic_form_sf(1e5, weights) < 1e-300
