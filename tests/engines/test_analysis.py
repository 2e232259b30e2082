from __future__ import annotations

import numpy as np
import pytest

from calibrant import Normal, QuantileCalibrator, ScaleCalibrator
from calibrant.engines import analyse


@pytest.mark.filterwarnings("ignore:.*probabilistic calibration.*:UserWarning")
def test_a_candidate_that_cannot_be_fitted_is_left_out_and_named():
    y = np.arange(60.0)
    law = Normal(y, 1.0)
    result = analyse(law, y, candidates={"scale": ScaleCalibrator(), "quantile": QuantileCalibrator()})
    assert list(result.stages) == ["none", "quantile"]
    assert result.notes[0].startswith("scale was left out: residuals must vary")
    with pytest.raises(ValueError, match="residuals must vary"):
        analyse(law, y, candidates={"scale": ScaleCalibrator()})
    with pytest.raises(ValueError, match="at least two different rows; all are copies of one"):
        analyse(Normal(np.zeros(60), 1.0), np.zeros(60))


def test_the_rule_and_the_numbers(rng):
    mu = rng.normal(size=600)
    y = mu + 2 * rng.standard_normal(600)
    result = analyse(Normal(mu, 1.0), y, candidates={"scale": ScaleCalibrator(), "quantile": QuantileCalibrator()})
    assert result.chosen == result.comparison.best and result.comparison.names == ("none", "scale", "quantile")
    assert result.measures["none"]["coverage_90"].value == pytest.approx(np.mean(np.abs(y - mu) < 1.645), abs=0.01)
    for table in result.measures.values():
        assert all(found.low <= found.value <= found.high for found in table.values())


def test_nothing_is_changed_without_a_reason(rng):
    mu = rng.normal(size=600)
    result = analyse(
        Normal(mu, 1.0),
        mu + rng.standard_normal(600),
        candidates={"scale": ScaleCalibrator(), "q": QuantileCalibrator()},
    )
    assert result.chosen == "none" and result.calibrator is None and "no calibrator" in result.verdict


def test_groups_of_ten_rows_are_looked_at(rng):
    mu, groups = rng.normal(size=300), np.repeat(["large", "ten", "nine"], [281, 10, 9])
    found = analyse(Normal(mu, 1.0), mu + rng.normal(size=300), groups=groups, candidates={"scale": ScaleCalibrator()})
    assert {group.name for group in found.groups} >= {"large", "ten"} and "nine" not in {g.name for g in found.groups}
    assert any(note.startswith("1 groups have fewer than 10 rows") for note in found.notes)
