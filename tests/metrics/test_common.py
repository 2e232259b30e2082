"""What holds for every measure of predictive laws: weights are frequencies, order is irrelevant, bad input is told."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble
from tests.metrics import class_measures

MEANS = {
    "nll": metrics.nll,
    "crps": metrics.crps,
    "threshold_weighted_crps": lambda y, d, **k: metrics.threshold_weighted_crps(y, d, low=2.0, **k),
    "dawid_sebastiani": metrics.dawid_sebastiani,
    "pinball_loss": metrics.pinball_loss,
    "interval_score": metrics.interval_score,
    "weighted_interval_score": metrics.weighted_interval_score,
    "coverage": lambda y, d, **k: metrics.coverage(y, d, coverage=0.5, **k),
    "sharpness": metrics.sharpness,
    "mae": metrics.mae,
    "mse": metrics.mse,
    "mape": metrics.mape,
}
OTHERS = {
    "calibration_curve": metrics.calibration_curve,
    "calibration_error": metrics.calibration_error,
    "mean_absolute_calibration_error": metrics.mean_absolute_calibration_error,
    "miscalibration_area": metrics.miscalibration_area,
    "calibration_error_counts": lambda y, d, **k: metrics.calibration_error(y, d, weights="counts", **k),
    "calibration_error_debiased": lambda y, d, **k: metrics.calibration_error(y, d, debiased=True, **k),
    "distribution_calibration_error": metrics.distribution_calibration_error,
    "distribution_multicalibration_error": metrics.distribution_multicalibration_error,
    "marginal_calibration": lambda y, d, **k: metrics.marginal_calibration(y, d, points=[1, 3, 4.5], **k),
    "marginal_calibration_error": metrics.marginal_calibration_error,
    "threshold_reliability": metrics.threshold_reliability,
    "ence": metrics.ence,
    "anderson_darling": metrics.anderson_darling,
    "anderson_darling_test": metrics.anderson_darling_test,
    "cramer_von_mises_test": metrics.cramer_von_mises_test,
    "ks_test": metrics.ks_test,
    "knueppel_test": lambda y, d, **k: metrics.knueppel_test(y, d, lags=0, **k),
    "nll_decomposition": lambda y, d, **k: metrics.nll_decomposition(y, d, d, **k),
    "crps_decomposition": metrics.crps_decomposition,
    "pinball_decomposition": metrics.pinball_decomposition,
    "expectile_decomposition": metrics.expectile_decomposition,
    "murphy_curve": lambda y, d, **k: metrics.murphy_curve(y, d, thetas=[1, 3, 4.5], **k),
    "summary": metrics.summary,
}
MEASURES = MEANS | OTHERS
UNWEIGHTED = {"pit": metrics.pit}
OF_FEATURES = {"bias_by_feature"}  # test_bias.py
OF_PEERS = {"energy_score", "adversarial_group_calibration"}  # test_peers_measures.py
OF_POINTS = {"mean_error", "mean_ratio", "relative_mse", "error_tolerance", "point_summary"}  # test_point*.py
OF_SETS = {"set_coverage", "set_size"}  # test_sets.py
TAKE_POINTS = {
    "mae",
    "mse",
    "mape",
    "pinball_decomposition",
    "expectile_decomposition",
    "murphy_curve",
}  # a pair is no law to them
NEED_MORE = {"calibration_error_debiased", "knueppel_test"}  # than one row


def numbers(result):
    """Whatever a measure returns, as one flat array."""
    if dataclasses.is_dataclass(result) and not isinstance(result, metrics.Summary):
        fields = (getattr(result, f.name) for f in dataclasses.fields(result))
        return np.concatenate([np.ravel(v).astype(float) for v in fields if not isinstance(v, str)])
    if isinstance(result, metrics.Summary):
        return np.array(list(result.values()))
    return np.ravel(np.asarray(result, dtype=float))


def continuous(rng, n=60):
    mu, sigma = rng.normal(3, 1, n), np.exp(0.5 * rng.normal(size=n))
    return mu + 1.4 * sigma * rng.normal(size=n), Normal(mu, sigma)


def discrete(rng, n=60):
    members = rng.poisson(4.0, (n, 12)) + 1.0
    return members[np.arange(n), rng.integers(0, 12, n)], Ensemble(members, kind="discrete")


LAWS = {"continuous": continuous, "discrete": discrete}
RANDOMISED = {"anderson_darling_test", "cramer_von_mises_test", "ks_test", "knueppel_test"}
CASES = [(m, law) for m in MEASURES for law in LAWS if not (law == "discrete" and m in RANDOMISED)]


def test_every_public_function_is_covered():
    functions = {n for n in metrics.__all__ if not isinstance(getattr(metrics, n), type)}
    of_classes = {*class_measures.PROBABILITIES, *class_measures.LABELS, *class_measures.AROUND_OTHERS}
    elsewhere = of_classes | OF_POINTS | OF_SETS | OF_FEATURES | OF_PEERS | {"calibration_floor"}
    assert functions - elsewhere <= set(MEASURES) | set(UNWEIGHTED)


@pytest.mark.parametrize(("measure", "law"), CASES)
def test_weight_2_is_the_row_twice(measure, law, rng):
    y, dist = LAWS[law](rng)
    weight = rng.integers(0, 4, len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    weighted = numbers(MEASURES[measure](y, dist, sample_weight=weight))
    repeated = numbers(MEASURES[measure](y[rows], dist[rows]))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)
    assert not np.allclose(weighted, numbers(MEASURES[measure](y, dist)), rtol=1e-6)


@pytest.mark.parametrize(("measure", "law"), CASES)
def test_the_order_of_rows_does_not_matter(measure, law, rng):
    y, dist = LAWS[law](rng)
    rows = rng.permutation(len(y))
    one, other = (numbers(MEASURES[measure](*pair)) for pair in ((y, dist), (y[rows], dist[rows])))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_unit_weights_change_nothing(measure, rng):
    y, dist = continuous(rng)
    weighted, plain = MEASURES[measure](y, dist, sample_weight=np.ones(len(y))), MEASURES[measure](y, dist)
    np.testing.assert_allclose(numbers(weighted), numbers(plain), rtol=1e-12)


@pytest.mark.parametrize("measure", MEANS)
def test_the_mean_of_the_rows_is_the_value(measure, rng):
    y, dist = continuous(rng)
    rows = MEANS[measure](y, dist, per_row=True)
    assert rows.shape == y.shape
    assert MEANS[measure](y, dist) == pytest.approx(rows.mean(), rel=1e-12)
    assert isinstance(MEANS[measure](y, dist), float)
    with pytest.raises(ValueError, match="`sample_weight` must be None with per_row=True"):
        MEANS[measure](y, dist, per_row=True, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("measure", MEASURES | UNWEIGHTED)
class TestBadInput:
    def call(self, measure, *args, **kwargs):
        return (MEASURES | UNWEIGHTED)[measure](*args, **kwargs)

    def test_missing_outcomes(self, measure, rng):
        y, dist = continuous(rng)
        y[[3, 7]] = np.nan, np.inf
        with pytest.raises(ValueError, match=r"`y_true` must be finite; 2 of 60 values .* y_true\[3\] = nan"):
            self.call(measure, y, dist)

    def test_lengths(self, measure, rng):
        y, dist = continuous(rng)
        with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 59 for 60 forecasts"):
            self.call(measure, y[:-1], dist)

    def test_no_rows(self, measure, rng):
        _, dist = continuous(rng)
        with pytest.raises(ValueError, match="`y_true` must have at least one row; it is empty"):
            self.call(measure, [], dist[:0])

    def test_shapes(self, measure, rng):
        y, dist = continuous(rng)
        with pytest.raises(ValueError, match=r"`y_true` must be 1-dimensional; got shape \(30, 2\)"):
            self.call(measure, y.reshape(30, 2), dist)

    def test_kinds_of_arrays_agree_and_are_not_modified(self, measure, rng):
        y, dist = continuous(rng)
        expected = numbers(self.call(measure, y, dist))
        frozen = y.copy()
        frozen.flags.writeable = False
        strided = np.column_stack([y, y])[:, 0]
        for other in (y.tolist(), frozen, strided, y[:, None]):
            np.testing.assert_array_equal(numbers(self.call(measure, other, dist)), expected)


@pytest.mark.parametrize("measure", MEASURES)
def test_bad_weights(measure, rng):
    y, dist = continuous(rng)
    with pytest.raises(ValueError, match="`sample_weight` must be non-negative; 1 of 60 values is not"):
        MEASURES[measure](y, dist, sample_weight=np.where(np.arange(60) == 5, -1.0, 1.0))
    with pytest.raises(ValueError, match="`sample_weight` must have one entry per forecast; got 3 for 60"):
        MEASURES[measure](y, dist, sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match="`sample_weight` must not be all zero"):
        MEASURES[measure](y, dist, sample_weight=np.zeros(60))


@pytest.mark.parametrize("measure", [m for m in MEASURES if m not in NEED_MORE | TAKE_POINTS])
def test_one_row_and_other_forms_of_forecasts(measure):
    one = numbers(MEASURES[measure]([0.3], Normal([0.0], 2.0)))
    np.testing.assert_array_equal(numbers(MEASURES[measure]([0.3], ([0.0], [2.0]))), one)  # (mean, std)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_units(measure, scale, rng):
    y, dist = continuous(rng)
    result = numbers(MEASURES[measure](y * scale, Normal(dist.loc * scale, dist.scale * scale)))
    assert result.size
