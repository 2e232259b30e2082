"""Input checks: what is read as numbers, and what is refused with which words."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Normal, QuantileCalibrator, ScaleCalibrator, metrics
from calibrant._checks import sample_weights, to_array


def test_ragged_lists_are_named():
    with pytest.raises(ValueError, match="`loc` must be an array of numbers; its rows have different lengths"):
        Normal([[1.0, 2.0], [1.0]], 1.0)


def test_tensors_of_any_float_type_and_with_gradients():
    torch = pytest.importorskip("torch")
    for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        values = torch.tensor([0.5, 2.0], dtype=kind, requires_grad=True)
        assert to_array(values, "y").tolist() == [0.5, 2.0]
    assert to_array(torch.tensor([1, 2]), "y").tolist() == [1.0, 2.0]


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


def test_outcomes_in_another_unit():
    law = Normal(np.zeros(3), 1.0)
    for calibrator in (QuantileCalibrator(), QuantileCalibrator("beta"), ScaleCalibrator()):
        with pytest.raises(ValueError, match=r"within 1e\+100 predicted deviations .* first y\[1\] = 1e\+300"):
            calibrator.fit(law, [0.0, 1e300, 1.0])
