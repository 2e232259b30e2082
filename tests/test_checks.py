"""Input checks: what is read as numbers, and what is refused with which words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from calibrant import (
    Laplace,
    Mixture,
    Normal,
    QuantileCalibrator,
    Recalibrated,
    ScaleCalibrator,
    concatenate,
    metrics,
)
from calibrant._checks import number, probabilities, sample_weights, to_array


def test_ragged_lists_are_named():
    with pytest.raises(ValueError, match="`loc` must be an array of numbers; its rows have different lengths"):
        Normal([[1.0, 2.0], [1.0]], 1.0)


def test_tensors_of_any_float_type_and_with_gradients():
    torch = pytest.importorskip("torch")
    for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        values = torch.tensor([0.5, 2.0], dtype=kind, requires_grad=True)
        assert to_array(values, "y").tolist() == [0.5, 2.0]
    assert to_array(torch.tensor([1, 2]), "y").tolist() == [1.0, 2.0]


def test_numbers_within_bounds():
    assert number(np.float32(0.5), "rate", least=0, below=1) == 0.5 and number(0, "rate", least=0) == 0.0
    for value in (1, 1.5, -0.1, np.nan, True, "0.5", None, [0.5]):
        with pytest.raises(ValueError, match="`rate` must be a number of at least 0 and below 1; got "):
            number(value, "rate", least=0, below=1)
    with pytest.raises(ValueError, match="`rate` must be a number above 2; got 2"):
        number(2, "rate", above=2)
    with pytest.raises(ValueError, match="`rate` must be a number; got inf"):
        number(np.inf, "rate")


@pytest.mark.parametrize("weight", [1e300, 1e308])
def test_weights_that_are_no_number_of_rows(weight):
    with pytest.raises(ValueError, match=r"`sample_weight` must add up to a number of rows, 1e\+15 at most"):
        sample_weights(np.full(4, weight), 4)
    with pytest.raises(ValueError, match="Weights are frequencies"):
        metrics.nll(np.zeros(4), Normal(np.zeros(4), 1.0), sample_weight=np.full(4, weight))


def test_shares_are_not_frequencies(rng):
    law, y = Normal(np.zeros(50), 1.0), rng.normal(size=50)
    with pytest.warns(UserWarning, match=r"adds up to 1 over 50 rows.*Multiply them by the number of rows"):
        QuantileCalibrator().fit(law, y, sample_weight=np.full(50, 1 / 50))
    with pytest.raises(ValueError, match="must add up to a number of rows"):
        QuantileCalibrator().fit(law, y, sample_weight=np.full(50, 1e-300))


@pytest.mark.parametrize("far", [1e120, 1e300])  # whose square is finite, and is not
def test_outcomes_in_another_unit(far):
    law = Normal(np.zeros(3), 1.0)
    for calibrator in (QuantileCalibrator(), QuantileCalibrator("beta"), ScaleCalibrator()):
        with pytest.raises(
            ValueError, match=r"within 1e\+100 predicted deviations .* first y\[1\] = " + re.escape(str(far))
        ):
            calibrator.fit(law, [0.0, far, 1.0])


def test_arguments_in_the_wrong_order():
    with pytest.raises(TypeError, match=r"`y_true` must be numbers; got forecasts \(Normal\). Arguments in the wrong"):
        metrics.crps(Normal([0.0, 1.0], 1.0), [0.0, 1.0])
    with pytest.raises(TypeError, match="`y` must be numbers; got None"):
        Normal([0.0, 1.0], 1.0).cdf(None)


@pytest.mark.parametrize("size", [-1, 2.5, None, "two", True])
def test_counts_are_whole_numbers(size):
    law = Normal([0.0, 1.0, 2.0], 1.0)
    mixed = Mixture([law, law])
    calls = {
        "size": (lambda: law.sample(size), lambda: mixed.sample(size)),
        "lags": () if size is None else (lambda: metrics.knueppel_test(np.zeros(3), law, lags=size),),
        "members": () if size is None else (lambda: metrics.crps_decomposition(np.zeros(3), law, members=size),),
        "n_bins": (
            lambda: metrics.ence(np.zeros(3), law, n_bins=size),
            lambda: metrics.threshold_reliability(np.zeros(3), law, n_bins=size),
            lambda: ScaleCalibrator("bins", n_bins=size).fit(law, np.zeros(3)),
        ),
    }
    for name, several in calls.items():
        for call in several:
            with pytest.raises(ValueError, match=f"`{name}` must be a whole number of at least"):
                call()


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 90.0, np.nan])
@pytest.mark.parametrize("others", [0, 200])
def test_levels_are_inside_their_ends_few_and_many(level, others):
    levels = [0.5] * others + [level, 0.9]
    with pytest.raises(ValueError, match=rf"strictly between 0 and 1; 1 of {others + 2} values is not"):
        probabilities(levels, "levels")
    if level in (0.0, 1.0):
        np.testing.assert_array_equal(probabilities(levels, "levels", open_ends=False), levels)


def test_one_coverage_is_one_number():
    law = Normal([0.0, 1.0], 1.0)
    for call in (law.interval, lambda c: metrics.interval_score([0.0, 1.0], law, coverage=c)):
        for several in ([0.5, 0.9], [0.5]):
            with pytest.raises(ValueError, match="`coverage` must be one number"):
                call(several)
    with pytest.raises(ValueError, match=r"`levels` must be 1-dimensional; got shape \(1, 2\)"):
        law.quantiles([[0.1, 0.9]])


@pytest.mark.parametrize("rows", [1.5, "a", None, [0.0, 1.0], np.zeros((2, 2), dtype=int)])
def test_rows_are_whole_numbers(rows):
    for law in (Normal([0.0, 1.0], 1.0), concatenate([Normal([0.0], 1.0), Laplace([1.0], 1.0)])):
        with pytest.raises(IndexError, match="rows must be a slice, a mask or whole numbers"):
            law[rows]


def test_laws_of_what_is_none():
    with pytest.raises(TypeError, match="`map` must be a Map; got NoneType"):
        Recalibrated(Normal([0.0], 1.0), None)
    with pytest.raises(TypeError, match="`laws` must be distributions; got float"):
        concatenate([Normal([0.0], 1.0), 1.0])
