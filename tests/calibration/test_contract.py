"""What calibrators declare, and what the signatures of others tell."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import (
    AutoCalibrator,
    DensityCalibrator,
    GroupedCalibrator,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
)
from calibrant.calibration.contract import (
    KINDS,
    Takes,
    as_forecasts,
    check_calibrator,
    fit_with,
    takes_of,
    transform_with,
)


class Foreign:
    """Another library's, that takes groups and classes."""

    def fit(self, scores, y, sample_weight=None, classes=None, groups=None, time=None):
        self.given = {"sample_weight": sample_weight, "classes": classes, "groups": groups, "time": time}
        return self

    def transform(self, scores, groups=None):
        return scores, groups


def test_signatures_tell_of_others():
    taken = takes_of(Foreign())
    assert taken == Takes(KINDS, frozenset({"classes", "groups"}), frozenset({"groups"}))  # no time for transform


def test_only_what_is_taken_is_given():
    made = fit_with(Foreign(), [0.5], [1], sample_weight=[2.0], classes=[0, 1], groups=["a"], time=[3], X=[[1]])
    assert made.given == {"sample_weight": [2.0], "classes": [0, 1], "groups": ["a"], "time": None}
    assert transform_with(made, [0.5], groups=["a"], classes=[0, 1]) == ([0.5], ["a"])
    assert fit_with(Foreign(), [0.5], [1], groups=None).given["groups"] is None
    law = Normal([0.0, 1.0], 1.0)
    assert fit_with(ScaleCalibrator(), law, [1.0, 3.0], groups=["a", "b"], classes=None).n_rows_ == 2


def test_declared():
    assert takes_of(ScaleCalibrator()) == Takes(("distributions",))
    assert takes_of(ResidualCalibrator()).forecasts == ("points", "distributions")
    assert takes_of(PlattCalibrator()) == Takes(("scores",), frozenset({"classes"}))
    grouped = takes_of(GroupedCalibrator(QuantileCalibrator()))
    assert grouped == Takes(("distributions",), frozenset({"groups"}), frozenset({"groups"}))
    auto = takes_of(AutoCalibrator())
    assert auto.beside == {"classes", "groups"} and not auto.needs and auto.forecasts == ("distributions", "scores")
    assert takes_of(AutoCalibrator([PlattCalibrator()])).forecasts == ("scores",)
    assert takes_of(AutoCalibrator(task="regression")).forecasts == ("distributions",)
    assert Takes().also("X") == Takes(("distributions",), frozenset({"X"}))


def test_forecasts_between_calibrators():
    p = np.array([[0.2, 0.8]])
    scores = as_forecasts(p, ["b", "a"])
    assert scores.kind == "probabilities" and scores.classes.tolist() == ["b", "a"] and as_forecasts(p) is p


def test_what_is_no_calibrator():
    for item in (ScaleCalibrator, 3, "scale"):
        with pytest.raises(TypeError, match="`calibrator` must have fit and transform, like QuantileCalibrator"):
            check_calibrator(item)


def test_numbers_that_are_not_known_are_sound():
    few = DensityCalibrator().fit(Normal(np.zeros(12), 1.0), np.linspace(-1, 1, 12))
    assert np.isnan(few.pit_distances_).all()
    few._check_sound()  # too few rows to look back at


class Transformer:
    """Made like scikit-learn's: what it learns from is called X."""

    def fit(self, X, y, sample_weight=None):
        return self

    def transform(self, X):
        return X


class Seeing(Transformer):
    """Another library's, that sees features."""

    def fit(self, scores, y, sample_weight=None, X=None):
        self.seen = X
        return self

    def transform(self, scores, X=None):
        return X


def test_features_reach_those_only_that_take_them():
    assert takes_of(Transformer()).beside == set() and takes_of(Seeing()).beside == {"X"}
    assert transform_with(fit_with(Transformer(), [0.5], [1], X=[[1]]), [0.5], X=[[1]]) == [0.5]
    assert transform_with(fit_with(Seeing(), [0.5], [1], X=[[1]]), [0.5], X=[[2]]) == [[2]]
