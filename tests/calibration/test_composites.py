"""Calibrators made of calibrators, in every order: columns keep their labels, forecasts their kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from calibrant import (
    AutoCalibrator,
    BinningCalibrator,
    CalibratedClassifier,
    Chain,
    DecisionCalibrator,
    GroupedCalibrator,
    Normal,
    PlattCalibrator,
    PointCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    TemperatureCalibrator,
    compare,
    load,
    metrics,
    save,
)
from calibrant.maps import AffineMap

N = 600
OF_CLASSES = {
    "auto": AutoCalibrator([PlattCalibrator()]),
    "auto, task": AutoCalibrator([PlattCalibrator()], task="classification"),
    "grouped": GroupedCalibrator(PlattCalibrator()),
    "grouped auto": GroupedCalibrator(AutoCalibrator([PlattCalibrator()], task="classification")),
    "grouped chain": GroupedCalibrator(Chain([PlattCalibrator(), TemperatureCalibrator()])),
    "chain": Chain([TemperatureCalibrator(), PlattCalibrator()]),
    "chain of chains": Chain([Chain([PlattCalibrator()]), TemperatureCalibrator()]),
    "chain, auto first": Chain([AutoCalibrator([PlattCalibrator()], task="classification"), TemperatureCalibrator()]),
    "chain, auto last": Chain([PlattCalibrator(), AutoCalibrator([TemperatureCalibrator()])]),
    "chain, grouped first": Chain([GroupedCalibrator(PlattCalibrator()), TemperatureCalibrator()]),
    "auto of grouped": AutoCalibrator({"g": GroupedCalibrator(PlattCalibrator())}),
}
OF_LAWS = {
    "auto": AutoCalibrator([ScaleCalibrator()]),
    "grouped auto": GroupedCalibrator(AutoCalibrator([ScaleCalibrator()], task="regression")),
    "grouped chain": GroupedCalibrator(Chain([ScaleCalibrator(), QuantileCalibrator()])),
    "chain, grouped": Chain([GroupedCalibrator(ScaleCalibrator()), QuantileCalibrator()]),
    "chain, auto": Chain([AutoCalibrator([ScaleCalibrator()]), QuantileCalibrator()]),
}


@pytest.fixture
def classes(rng):
    odds = rng.normal(0, 1.5, N)
    p = expit(2 * odds)
    return p, np.where(rng.random(N) < expit(odds), "yes", "no"), rng.choice(["a", "b"], N)


def fitted(calibrator, forecasts, y, groups):
    extra = {"groups": groups} if "groups" in calibrator.takes.beside else {}
    made = clone(calibrator).fit(forecasts, y, **extra)
    return made, (lambda X, rows=slice(None): made.transform(X, **{key: value[rows] for key, value in extra.items()}))


@pytest.mark.parametrize("name", OF_CLASSES)
def test_columns_follow_the_labels(name, classes, tmp_path):
    p, y, groups = classes
    for labels in (["no", "yes"], ["yes", "no"]):
        columns = {"no": 1 - p, "yes": p}
        frame = pd.DataFrame({f"p_{label}": columns[label] for label in labels})
        made, transform = fitted(OF_CLASSES[name], frame, y, groups)
        after = transform(frame)
        assert made.classes_.tolist() == labels
        assert metrics.log_loss(y, after, classes=labels) < metrics.log_loss(y, frame, classes=labels) - 0.05
        turned = frame[frame.columns[::-1]]  # named columns find their places
        np.testing.assert_allclose(transform(turned), after)
        save(made, tmp_path / "c.calibrant")
        again = load(tmp_path / "c.calibrant")
        extra = {"groups": groups[:9]} if "groups" in made.takes.beside else {}
        np.testing.assert_array_equal(again.transform(frame[:9], **extra), after[:9])


@pytest.mark.parametrize("name", OF_LAWS)
def test_laws(name, rng):
    mu, groups = rng.normal(size=N), rng.choice(["a", "b"], N)
    y = mu + 2 * rng.standard_normal(N)
    _, transform = fitted(OF_LAWS[name], Normal(mu, 1.0), y, groups)
    assert transform(Normal(mu, 1.0)).std().mean() == pytest.approx(2.0, abs=0.2)
    _, transform = fitted(OF_LAWS[name], (mu, np.ones(N)), y, groups)  # plain columns too
    assert transform((mu, np.ones(N))).std().mean() == pytest.approx(2.0, abs=0.2)


def test_points_by_group(rng):
    x, groups = rng.normal(size=N), rng.choice(["a", "b"], N)
    y = np.where(groups == "a", 3.0, -1.0) + x + 0.1 * rng.standard_normal(N)
    made = GroupedCalibrator(PointCalibrator()).fit(x, y, groups=groups)
    assert np.abs(made.transform(x, groups=groups) - y).mean() < 0.4 < np.abs(x - y).mean()
    law = Chain([GroupedCalibrator(ResidualCalibrator())]).fit(x, y, groups=groups).transform(x, groups=groups)
    assert metrics.coverage(y, law) == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("calibrator", [PlattCalibrator(), BinningCalibrator(5)])
def test_more_rows_with_columns_in_another_order(calibrator, classes):
    p, y, _ = classes
    frame = pd.DataFrame({"p_yes": p, "p_no": 1 - p})
    one = clone(calibrator).partial_fit(frame[:300], y[:300]).partial_fit(frame[300:], y[300:])
    two = clone(calibrator).partial_fit(frame[:300], y[:300]).partial_fit(frame[["p_no", "p_yes"]][300:], y[300:])
    np.testing.assert_array_equal(one.transform(frame), two.transform(frame))


def test_groups_that_fit_did_not_have(classes):
    p, y, groups = classes
    with pytest.raises(ValueError, match="`groups` were given, but fit had none"):
        AutoCalibrator([PlattCalibrator()]).fit(p, y).transform(p, groups=groups)


@pytest.mark.parametrize("decision", [None, DecisionCalibrator()])
def test_classifiers_by_group(classes, decision):
    p, y, groups = classes
    X = np.column_stack([p, groups == "a"])
    model = CalibratedClassifier(LogisticRegression(), GroupedCalibrator(PlattCalibrator()), decision=decision, cv=3)
    model.fit(X, y, groups=groups)
    assert model.predict_proba(X, groups=groups).shape == (N, 2) and set(model.predict(X, groups=groups)) <= {
        "yes",
        "no",
    }
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X, groups)), model.predict_proba(X, groups))
    with pytest.raises(ValueError, match="`groups` must be given"):
        model.predict_proba(X)


def test_names_of_candidates(classes):
    p, y, _ = classes
    with pytest.raises(ValueError, match='must not be called "none"'):
        compare(p, y, {"none": PlattCalibrator()})
    with pytest.raises(ValueError, match="`candidates` must differ"):
        compare(p, y, [PlattCalibrator(), PlattCalibrator()])
    with pytest.raises(TypeError, match="Arguments in the wrong order"):
        compare(y == "yes", Normal(p, 1.0))
    logits = compare(np.log(p / (1 - p)), y, [TemperatureCalibrator(scores_are="logits")])
    assert logits.loss[0] == pytest.approx(metrics.log_loss(y, p), rel=1e-6)


def test_few_rows_tell_nothing():
    y = np.arange(6.0) + np.array([1, -2, 2, 1, -1, 3])
    found = compare(Normal(np.arange(6.0), 1.0), y, [ScaleCalibrator()])
    assert found.chosen == "none" and "within one standard error" in found.recommendation
    with pytest.warns(UserWarning, match="too few to compare"):
        assert AutoCalibrator([ScaleCalibrator()]).fit(Normal(np.zeros(30), 1.0), np.zeros(30)).best_ == "none"
    auto = AutoCalibrator([PlattCalibrator()]).fit(np.linspace(0.1, 0.9, 60), np.arange(60) % 2)
    assert list(auto.comparison_.to_frame().columns) == ["loss", "error"]


def test_time_must_be_told_and_have_an_order(rng):
    law, y = Normal(np.zeros(60), 1.0), rng.normal(size=60)
    days = np.datetime64("2024-01-01") + np.arange(60)
    one = compare(law, y, [ScaleCalibrator()], time=days)
    two = compare(law, y, [ScaleCalibrator()], time=days.astype(str))
    np.testing.assert_array_equal(one.loss, two.loss)
    with pytest.raises(TypeError, match="texts such as 2024-01-31"):
        compare(law, y, [ScaleCalibrator()], time=[f"{k % 12 + 1}/2/2024" for k in range(60)])
    with pytest.raises(ValueError, match="`time` must be present; 1 of 60"):
        compare(law, y, [ScaleCalibrator()], time=np.where(np.arange(60) == 3, np.nan, np.arange(60.0)))
    with pytest.raises(ValueError, match="`cv` must be one number with `time`"):
        compare(law, y, [ScaleCalibrator()], time=days, cv=(3, 4))


def test_rounded_copies_are_still_copies(rng):
    """Each row ten times says no more than once, also where some forecasts came with two outcomes."""
    p = np.round(rng.random(150), 2)
    y = rng.random(150) < p
    once = compare(p, y, [BinningCalibrator(20)])
    often = compare(np.repeat(p, 10), np.repeat(y, 10), [BinningCalibrator(20)])
    assert often.loss[1] > once.loss[1] - 0.05


def test_a_chain_is_as_sound_as_its_links(rng):
    chain = Chain([ScaleCalibrator(), QuantileCalibrator()]).fit(Normal(np.zeros(50), 1.0), rng.normal(size=50))
    chain._check_forecasts()
    chain.calibrators_[1].map_ = forged = AffineMap()
    object.__setattr__(forged, "slope", np.nan)
    with pytest.raises(ValueError, match="its forecasts are no distributions"):
        chain._check_forecasts()
