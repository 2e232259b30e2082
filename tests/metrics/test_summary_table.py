from __future__ import annotations

import numpy as np
import pytest

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble


@pytest.fixture
def case(rng):
    mu = rng.normal(size=400)
    return mu + rng.normal(size=400), Normal(mu, 1.0), Normal(mu, 0.4)


def test_values_are_those_of_the_measures(case):
    y, law, _ = case
    table = metrics.summary(y, law)
    expected = {
        "nll": metrics.nll(y, law),
        "crps": metrics.crps(y, law),
        "pinball_loss": metrics.pinball_loss(y, law),
        "coverage_50": metrics.coverage(y, law, coverage=0.5),
        "coverage_90": metrics.coverage(y, law, coverage=0.9),
        "coverage_99": metrics.coverage(y, law, coverage=0.99),
        "calibration_error": metrics.calibration_error(y, law),
        "calibration_floor": 1.65 / 400,
        "anderson_darling": metrics.anderson_darling(y, law),
        "mean_std": 1.0,
        "mae": metrics.mae(y, law),
        "rmse": np.sqrt(metrics.mse(y, law)),
        "ence": metrics.ence(y, law),
    }
    assert list(table) == list(expected)
    assert dict(table) == pytest.approx(expected, rel=1e-12)
    assert table.notes == {}


def test_forecasters_side_by_side(case):
    y, right, narrow = case
    table = metrics.summary(y, {"before": narrow, "after": right})
    assert table["crps"] == {"before": metrics.crps(y, narrow), "after": metrics.crps(y, right)}
    lines = str(table).splitlines()
    assert len({len(line) for line in lines}) == 1  # aligned
    assert lines[0].split() == ["before", "after"]
    assert lines[1].split() == ["nll", f"{metrics.nll(y, narrow):.4g}", f"{metrics.nll(y, right):.4g}"]
    frame = table.to_frame()
    assert frame.shape == (13, 2)
    assert frame.loc["mae", "after"] == metrics.mae(y, right)


def test_what_cannot_be_computed_is_missing_with_the_reason(rng):
    law = Ensemble([[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]], kind="discrete")
    table = metrics.summary([1.0, 5.0], law)
    assert np.isnan(table["ence"])
    assert "finite, positive variance" in table.notes["ence"]
    assert table["crps"] == pytest.approx(metrics.crps([1.0, 5.0], law))
    text = str(table)
    assert "ence: `dist` must be of finite, positive variance" in text
    assert any(line.split() == ["ence", "-"] for line in text.splitlines())
    both = metrics.summary([1.0, 5.0], {"a": law, "b": Normal([1.0, 5.0], 1.0)})
    assert list(both.notes) == ["ence of a"]
    assert np.isnan(both["ence"]["a"]) and both["ence"]["b"] == 1.0


def test_weights_are_frequencies(case, rng):
    y, law, _ = case
    weight = rng.integers(0, 3, 400)
    rows = np.repeat(np.arange(400), weight)
    weighted, repeated = metrics.summary(y, law, sample_weight=weight), metrics.summary(y[rows], law[rows])
    assert dict(weighted) == pytest.approx(dict(repeated), rel=1e-9)


def test_wrong_input_is_an_error_not_a_missing_value(case):
    y, law, _ = case
    with pytest.raises(ValueError, match="`y_true` must be finite"):
        metrics.summary(np.where(np.arange(400) == 3, np.nan, y), law)
    with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 5 for 400"):
        metrics.summary(y[:5], {"one": law})
