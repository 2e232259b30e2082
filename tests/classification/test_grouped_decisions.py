"""Class weights by group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from calibrant import (
    CalibratedClassifier,
    DecisionCalibrator,
    GroupedCalibrator,
    GroupedDecisions,
    PlattCalibrator,
    load,
    save,
)

ROWS = 30_000
SHIFT = {"low": -1.5, "right": 0.0, "high": 1.5}


@pytest.fixture
def regions(rng):
    """Scores whose log odds are off by another number in each region."""
    group = rng.choice(list(SHIFT), ROWS)
    x = rng.normal(0, 1.5, ROWS)
    y = rng.random(ROWS) < expit(x)
    return expit(x + np.array([SHIFT[name] for name in group])), y, group


def distance(predicted, real):
    """Of proportions, as the chapter compares them."""
    return abs(np.mean(predicted) - np.mean(real))


def test_proportions_agree_in_every_group(regions):
    p, y, group = regions
    half = np.arange(ROWS) < ROWS / 2
    local = GroupedDecisions().fit(p[half], y[half], groups=group[half]).predict(p[~half], groups=group[~half])
    whole = DecisionCalibrator().fit(p[half], y[half]).predict(p[~half])
    for name, shift in SHIFT.items():
        mine = group[~half] == name
        assert distance(local[mine], y[~half][mine]) < 0.04
        assert distance(whole[mine], y[~half][mine]) > 0.1 or shift == 0
    assert distance(whole, y[~half]) < 0.03  # as a whole nothing seems wrong
    assert np.mean(local == y[~half]) > np.mean(whole == y[~half]) + 0.03


@pytest.mark.parametrize("objective", ["proportions", "accuracy", "macro", "cost"])
@pytest.mark.parametrize("classes", [2, 3])
def test_without_strength_each_group_has_its_own(objective, classes, rng):
    p = rng.dirichlet(np.ones(classes), 400)
    y, group, w = rng.integers(0, classes, 400), rng.integers(0, 2, 400), rng.integers(1, 3, 400)
    y[:classes], group[:classes] = np.arange(classes), 0
    costs = 1 - np.eye(classes) + np.triu(np.ones((classes, classes)), 1) if objective == "cost" else None
    decision = DecisionCalibrator(objective, cost_matrix=costs)
    model = GroupedDecisions(decision, strength=0).fit(p, y, groups=group, sample_weight=w)
    for name in (0, 1):
        mine = group == name
        alone = clone(decision).fit(p[mine], y[mine], sample_weight=w[mine], classes=np.arange(classes))
        start = model.common_.log_weights_
        reached = clone(decision).fit(np.exp(start) * p[mine], y[mine], sample_weight=w[mine], classes=range(classes))
        given = model.predict(p[mine], groups=group[mine])
        np.testing.assert_array_equal(given, reached.predict(np.exp(start) * p[mine]))
        if classes == 2:
            assert reached.path_[-1] == pytest.approx(alone.path_[-1], abs=1e-12)


def test_strength_pulls_to_the_common_weights(regions):
    p, y, group = regions
    free, held = (GroupedDecisions(strength=s).fit(p, y, groups=group) for s in (0, 1000))
    common = DecisionCalibrator().fit(p, y).log_weights_
    for name in SHIFT:
        n = np.sum(group == name)
        np.testing.assert_allclose(free.common_.log_weights_, common)
        change = (held.log_weights_[name] - common) / (free.log_weights_[name] - common)
        np.testing.assert_allclose(change, n / (n + 1000), rtol=1e-9)


def test_small_and_unknown_groups_get_the_common_weights(rng):
    p, y = rng.random(204), rng.random(204) < 0.3
    group = np.repeat(["big", "tiny"], [200, 4])
    model = GroupedDecisions().fit(p, y, groups=group)
    assert list(model.log_weights_) == ["big"]
    np.testing.assert_array_equal(model.predict(p, groups=["new"] * 204), model.common_.predict(p))
    one_class = np.where(group == "tiny", True, y)
    assert list(GroupedDecisions(strength=0).fit(p, one_class, groups=group).log_weights_) == ["big", "tiny"]


def test_weights_are_frequencies_and_missing_labels_are_left_out(rng):
    p, y, group, w = rng.random(300).round(2), rng.integers(0, 2, 300), rng.integers(0, 3, 300), rng.integers(0, 3, 300)
    weighted = GroupedDecisions().fit(p, y, groups=group, sample_weight=w)
    repeated = GroupedDecisions().fit(np.repeat(p, w), np.repeat(y, w), groups=np.repeat(group, w))
    for name in range(3):
        np.testing.assert_allclose(weighted.log_weights_[name], repeated.log_weights_[name], atol=1e-12)
    np.testing.assert_allclose(weighted.report_.after.counts, repeated.report_.after.counts)
    with pytest.warns(UserWarning, match="1 of 300 rows have no label"):
        GroupedDecisions().fit(p, np.where(np.arange(300) == 5, np.nan, y), groups=group)


def test_reports_saves_and_reads_frames(regions, tmp_path):
    p, y, group = regions
    names = np.array(["no", "yes"])
    frame = pd.DataFrame({"yes": p, "no": 1 - p})
    model = GroupedDecisions().fit(frame, names[y.astype(int)], groups=pd.Series(group))
    assert model.report_.after.accuracy > model.report_.before.accuracy
    plain = GroupedDecisions().fit(p, y, groups=group)
    np.testing.assert_array_equal(model.predict(frame, groups=group) == "yes", plain.predict(p, groups=group))
    save(model, tmp_path / "file")
    loaded = load(tmp_path / "file")
    np.testing.assert_array_equal(loaded.predict(frame, groups=group), model.predict(frame, groups=group))


def test_errors(rng):
    p, y = rng.random(20), np.arange(20) % 2
    with pytest.raises(NotFittedError):
        GroupedDecisions().predict(p, groups=y)
    with pytest.raises(ValueError, match="`groups` must be given"):
        GroupedDecisions().fit(p, y)
    with pytest.raises(ValueError, match="`strength` must be at least 0; got -1"):
        GroupedDecisions(strength=-1).fit(p, y, groups=y)
    with pytest.raises(TypeError, match="`decision` must be a DecisionCalibrator; got PlattCalibrator"):
        GroupedDecisions(PlattCalibrator()).fit(p, y, groups=y)
    with pytest.raises(TypeError, match="must have fit and transform"):  # decisions are no forecasts
        GroupedCalibrator(DecisionCalibrator()).fit(p, y, groups=y)


@pytest.mark.parametrize("calibrator", [PlattCalibrator(), GroupedCalibrator(PlattCalibrator())])
def test_on_top_of_a_classifier(regions, calibrator):
    p, y, group = (column[:3000] for column in regions)
    X = np.log(p / (1 - p))[:, None]
    model = CalibratedClassifier(LogisticRegression(), calibrator, decision=GroupedDecisions()).fit(X, y, groups=group)
    given = model.predict(X, groups=group)
    by_hand = model.decision_.predict(model.predict_proba(X, group if calibrator.takes.needs else None), groups=group)
    assert (given == by_hand).all() and set(model.decision_.log_weights_) == set(SHIFT)
    for name in SHIFT:
        assert distance(given[group == name], y[group == name]) < 0.04


def test_groups_must_be_given(regions):
    p, y, _ = (column[:300] for column in regions)
    with pytest.raises(ValueError, match="groups"):
        CalibratedClassifier(LogisticRegression(), decision=GroupedDecisions()).fit(p[:, None], y)


def test_who_learns_decisions_by_group():
    with pytest.raises(TypeError, match="GroupedDecisions"):
        GroupedCalibrator(DecisionCalibrator()).fit([0.1, 0.9], [0, 1], groups=[0, 1])
