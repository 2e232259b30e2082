"""Candidates that leave a trial before it is over."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from calibrant import AutoCalibrator, Normal, QuantileCalibrator, ScaleCalibrator, compare, metrics
from calibrant.select.candidates import named
from calibrant.select.comparison import Comparison
from calibrant.select.race import leaving, raced, settled
from calibrant.select.trial import Trial


class Stretch(QuantileCalibrator):
    """Forecasts so many times as wide, whatever the outcomes."""

    fits: ClassVar[list[float]] = []

    def __init__(self, by=1.0):
        self.by = by

    def fit(self, forecasts, y, *, sample_weight=None):
        self.fits.append(self.by)
        if self.by < 0:
            raise ValueError("never fits")
        self.n_rows_ = len(y)
        return self

    def transform(self, forecasts):
        return Normal(forecasts.loc, self.by * forecasts.scale)


@pytest.fixture
def narrow(rng):
    mu = rng.normal(size=400)
    return Normal(mu, 1.0), mu + 2 * rng.standard_normal(400)


def fits_of(trial, *widths):
    Stretch.fits.clear()
    items = {f"by {width:g}": Stretch(width) for width in widths}
    return raced(trial, named(items, trial.forecasts), list(items)), {
        width: Stretch.fits.count(width) for width in widths
    }


def test_who_is_behind_leaves_and_who_is_far_ahead_ends_the_trial(narrow):
    law, y = narrow
    trial = Trial.of(law, y)
    found, fits = fits_of(trial, 2.0, 4.0, 1.1)
    assert fits == {2.0: 1, 4.0: 1, 1.1: 1} and found.chosen == "by 2"
    assert found.tried == pytest.approx((0.2, 0.2, 0.2, 0.2))
    first = trial.splits[0][1]
    wide = Normal(trial.forecasts.loc[first], 4.0)
    assert found.loss[found.names.index("by 4")] == pytest.approx(metrics.nll(trial.y[first], wide))


def test_losses_of_those_that_left_are_differences_from_the_best_on_common_rows(narrow):
    law, y = narrow
    trial = Trial.of(law, y)
    found, fits = fits_of(trial, 2.0, 2.1, 1.3)
    best_width = float(found.best.removeprefix("by "))
    assert fits[1.3] == 1 and best_width in (2.0, 2.1)
    for name, width in (("by 1.3", 1.3), ("by 2", 2.0), ("by 2.1", 2.1)):
        rows = np.concatenate([test for _, test in trial.splits[: fits[width]]])
        mine, best = (
            metrics.nll(trial.y[rows], Normal(trial.forecasts.loc[rows], w), per_row=True) for w in (width, best_width)
        )
        k = found.names.index(name)
        assert found.loss[k] - found.loss.min() == pytest.approx((mine - best).mean(), abs=1e-12)
        assert found.error[k] == pytest.approx((mine - best).std() / np.sqrt(len(rows)), abs=1e-12)
        assert found.tried[k] == pytest.approx(len(rows) / 400)
    assert found.names == ("none", "by 2", "by 2.1", "by 1.3") and "of rows" in str(found)


def test_quick_ones_are_compared_as_ever(narrow):
    law, y = narrow
    auto = AutoCalibrator([ScaleCalibrator(), QuantileCalibrator()]).fit(law, y)
    whole = compare(law, y, [ScaleCalibrator(), QuantileCalibrator()])
    np.testing.assert_allclose(auto.comparison_.loss, whole.loss, rtol=1e-12)
    np.testing.assert_allclose(auto.comparison_.error, whole.error, rtol=1e-9)
    assert auto.comparison_.tried == (1.0, 1.0, 1.0) and auto.best_ == whole.chosen


def test_many_small_folds_are_a_few_rounds_and_no_verdict_on_a_handful_of_rows(narrow):
    law, y = narrow
    few = Trial.of(law[:60], y[:60], cv=60)
    _, fits = fits_of(few, 4.0, 2.0)
    assert fits[4.0] == 24  # rounds of 12 rows each; the first says nothing yet
    _, fits = fits_of(Trial.of(law, y, cv=(5, 4)), 4.0, 2.0)
    assert fits[4.0] == 4


def test_one_that_cannot_be_fitted_is_left_out_unless_it_is_all_that_was_asked_for(narrow):
    trial = Trial.of(*narrow)
    found, _ = fits_of(trial, -1.0, 2.0)
    assert found.left_out == {"by -1": "never fits"} and "by -1" not in found.names
    with pytest.raises(ValueError, match="never fits"):
        fits_of(trial, -1.0)


def test_who_leaves_by_hand():
    names, ranks, costly = ("none", "a", "b", "c", "d"), (0, 3, 4, 4, 4), "abcd"
    losses, errors = np.array([1.0, 0.90, 0.91, 0.88, 0.93]), np.array([0.05, 0.015, 0.01, 0.0, 0.03])
    table = Comparison(names, losses, errors, ranks=ranks)
    assert leaving(table, costly, 1) == {"b"}  # 0.03 behind, which is more than twice 0.01
    assert leaving(table, costly, 2) == {"b", "d"}  # d is behind a, which is simpler
    assert leaving(table, "acd", 2) == {"d"}
    assert leaving(table, costly, 4) == {"a", "b", "d"}  # a quarter of four stays
    assert not settled(table, costly, ["none", "a", "c"])
    assert settled(table, costly, ["none", "c"]) and not settled(table, costly, ["none", "a"])
    near = replace(table, error=np.array([0.07, 0.015, 0.01, 0.0, 0.03]))
    assert not settled(near, costly, ["none", "c"])  # none is within two standard errors


def test_the_stack_races_and_class_scores_do_not(narrow, monkeypatch):
    law, y = narrow
    seen = []

    def spy(trial, items, costly):
        seen.append(costly)
        return raced(trial, {"none": items["none"]}, [])

    monkeypatch.setattr("calibrant.select.auto.raced", spy)
    AutoCalibrator().fit(law, y)
    AutoCalibrator().fit(np.linspace(0.1, 0.9, 100), np.arange(100) % 2)
    assert seen == [["gp-beta", "stack"], []]


def test_without_a_race_all_forecast_all_rows(narrow):
    law, y = narrow
    auto = AutoCalibrator({"scale": ScaleCalibrator()}, race=False).fit(law, y)
    assert auto.comparison_.tried == () and "of rows" not in str(auto.comparison_)
    with pytest.raises(ValueError, match="`race` must be one of"):
        AutoCalibrator(race="yes").fit(law, y)
