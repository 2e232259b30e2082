"""Candidates, the trial they are tried in, and what comes of it, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibrant import (
    AutoCalibrator,
    DensityCalibrator,
    GroupedCalibrator,
    Normal,
    PlattCalibrator,
    Poisson,
    QuantileCalibrator,
    ScaleCalibrator,
    SmoothIsotonicCalibrator,
    TemperatureCalibrator,
    compare,
    metrics,
)
from calibrant.adapters.class_scores import ClassScores
from calibrant.metrics.catalogue import Measured
from calibrant.select.candidates import METHODS, default_candidates, kind_of, named, task_of
from calibrant.select.comparison import Comparison
from calibrant.select.methods import method, methods_for
from calibrant.select.none import NoCalibrator
from calibrant.select.reading import read_forecasts
from calibrant.select.trial import Trial

LAWS = Normal(np.zeros(3), 1.0)


def scores(classes: int = 2, kind: str = "probabilities") -> ClassScores:
    return ClassScores(np.full((4, classes), 1 / classes), kind)


# ---- candidates ----
def test_who_competes():
    assert list(default_candidates(LAWS)) == ["quantile", "scale", "density", "gp-beta", "stack"]
    grouped = list(default_candidates(LAWS, grouped=True))
    assert (
        grouped[:4] == ["quantile", "quantile by group", "scale", "scale by group"] and "stack by group" not in grouped
    )
    assert list(default_candidates(np.zeros(3))) == ["residual"]
    two = ["temperature", "platt", "beta", "smooth-isotonic", "isotonic", "venn-abers"]
    assert list(default_candidates(scores())) == two
    assert list(default_candidates(scores(3))) == [*two[:3], "vector", "dirichlet", *two[3:]]
    assert list(default_candidates(scores(3, "margins"))) == ["platt", *two[3:]]


def test_none_competes_where_forecasts_are_usable():
    assert next(iter(named(None, LAWS))) == "none" and isinstance(named(None, scores())["none"], NoCalibrator)
    assert "none" not in named(None, scores(kind="margins")) and "none" not in named(None, np.zeros(3))
    both = named({"s": ScaleCalibrator(), "g": GroupedCalibrator(ScaleCalibrator())}, LAWS, grouped=True)
    assert list(both) == ["none", "s", "s by group", "g"]
    listed = named([ScaleCalibrator(), ScaleCalibrator("coverage"), QuantileCalibrator()], LAWS)
    assert list(listed) == ["none", "ScaleCalibrator()", "ScaleCalibrator(method='coverage')", "QuantileCalibrator"]


def test_kinds_and_tasks():
    assert [kind_of(item) for item in (LAWS, np.zeros(2), scores())] == ["distributions", "points", "scores"]
    assert task_of([PlattCalibrator()]) == "classification" == task_of({"a": GroupedCalibrator(PlattCalibrator())})
    assert task_of([ScaleCalibrator()]) == "auto" == task_of(None)
    assert (
        list(methods_for("scores"))[:2] == ["auto", "temperature"] and list(methods_for("distributions"))[-1] == "auto"
    )
    name, made = method("AUTO", "scores")
    assert name == "auto" and isinstance(made, AutoCalibrator) and made.task == "classification"
    assert method("auto", "distributions")[1].task == "regression"
    with pytest.raises(ValueError, match="method 'plat' is not known, 'platt' perhaps; these are: auto, temperature"):
        method("plat", "scores")
    assert set(METHODS) == {"distributions", "points", "scores"}


def test_what_plain_arrays_are():
    p, labels = np.array([0.2, 0.7, 0.4]), np.array(["a", "b", "a"])
    assert isinstance(read_forecasts(p, labels), ClassScores)
    assert isinstance(read_forecasts(p, [0, 1, 0]), ClassScores)
    assert isinstance(
        read_forecasts(np.zeros((3, 5)) + np.arange(5), [0.3, 1.2, 2.0]),
        type(read_forecasts(np.zeros((3, 5)) + np.arange(5), None, "regression")),
    )
    assert read_forecasts(LAWS, labels, "classification") is LAWS
    assert isinstance(read_forecasts([0.0, 1.0, 0.4], [0, 1, 0]), ClassScores)  # certain ones too
    assert read_forecasts(p * 9, [0, 1, 0], scores_are="margins").kind == "margins"
    with pytest.raises(TypeError, match="neither class scores nor distributions"):
        read_forecasts(object(), [0.5])


# ---- comparison ----
def comparison(loss, error, names=("none", "a", "b"), **more):
    return Comparison(names, np.array(loss), np.array(error), **more)


def test_losses_and_errors_by_hand():
    losses, weights = np.array([[1.0, 3.0, 2.0], [0.0, 1.0, 2.0]]), np.array([1.0, 1.0, 2.0])
    found = Comparison.of(("none", "a"), losses, weights, 8.0)
    assert found.loss.tolist() == [2.0, 1.25]
    differences = np.array([1.0, 2.0, 0.0, 0.0])
    assert found.error.tolist() == pytest.approx([np.sqrt(differences.var() / 8), 0.0])


def test_forecasts_that_are_no_numbers_never_win():
    losses = np.array([[1.0, 1.2], [np.nan, 0.1], [0.5, 0.6]])
    found = replace(Comparison.of(("none", "a", "b"), losses, np.ones(2), 2.0), ranks=(0, 1, 2))
    assert found.chosen == found.best == "b" and found.loss[1] == np.inf
    silent = replace(Comparison.of(("none", "a"), np.full((2, 2), np.nan), np.ones(2), 2.0), ranks=(0, 1))
    assert silent.chosen == "none" and np.isnan(silent.loss).all()


def test_change_needs_a_reason():
    assert comparison([2.0, 1.9, 1.95], [0.05, 0.0, 0.1]).chosen == "a"
    near = comparison([2.0, 1.9, 1.95], [0.1, 0.0, 0.1])
    assert near.chosen == "none" and near.best == "a"
    assert near.recommendation == "Leave the forecasts as they are: a is only 0.1 better, within one standard error."
    first = comparison([1.0, 1.9, 1.95], [0.0, 0.1, 0.1]).recommendation
    assert first == "Leave the forecasts as they are: no candidate is better."
    taken = comparison([2.0, 1.9, 1.5], [0.1, 0.1, 0.0]).recommendation
    assert taken == "Take b: its loss of 1.5 is the least, 0.5 below that of the forecasts as they are."
    assert comparison([2.0, 1.9], [0.5, 0.0], ("a", "b")).recommendation == "Take b: its loss of 1.9 is the least."


def test_the_front():
    def table(nll, square):
        return {"nll": Measured(nll, 0, nll, nll), "anderson_darling": Measured(square, 0, square, square)}

    pairs = [(3.0, 9.0), (1.0, 2.0), (2.0, 1.0)]
    found = comparison([3.0, 1.0, 2.0], [0.1, 0, 0.1], measures=tuple(table(*pair) for pair in pairs))
    assert found.front.tolist() == [False, True, True] and "* no other is better in both NLL and A²" in str(found)
    assert not comparison([3.0, 1.0, 2.0], [0.1, 0, 0.1]).front.any()
    lines = str(found).splitlines()[:4]
    assert len({len(line) for line in lines}) == 1 and lines[1].startswith("a*") and lines[3].startswith("none")
    equal = comparison([1.0, 1.0, 1.0], [0, 0, 0], measures=tuple(table(1.0, 1.0) for _ in range(3)))
    assert equal.front.all()


def test_seeds_of_automatic_folds():
    assert AutoCalibrator(cv=4)._folds() == 4 and AutoCalibrator(cv=4, random_state=3)._folds() == (4, 1, 3)
    assert AutoCalibrator(cv=(4, 2), random_state=3)._folds() == (4, 2, 3)
    assert AutoCalibrator(cv=(4, 2, 9), random_state=3)._folds() == (4, 2, 9)


# ---- trial ----
def test_repetitions_are_no_new_rows(rng):
    y = rng.normal(size=40)
    trial = Trial.of(Normal(np.zeros(40), 1.0), y, sample_weight=np.full(40, 2.0), cv=(4, 3))
    assert len(trial.splits) == 12 and len(trial.tested) == 120 and trial.n_tested == pytest.approx(80)


def test_rows_without_outcome_or_weight_are_left_out(rng):
    y, w = rng.normal(size=30), np.ones(30)
    y[3], w[5] = np.nan, 0
    with pytest.warns(UserWarning, match="1 of 30 rows have no outcome"):
        trial = Trial.of(Normal(np.zeros(30), 1.0), y, sample_weight=w)
    assert len(trial) == 28 and not {3, 5} & set(trial.rows.tolist())
    np.testing.assert_array_equal(trial.y, y[trial.rows])


def test_the_rarest_class():
    p = ClassScores(np.column_stack([1 - np.linspace(0.1, 0.9, 12), np.linspace(0.1, 0.9, 12)]))
    trial = Trial.of(p, np.array(["a"] * 9 + ["b"] * 3), sample_weight=np.repeat([1.0, 4.0], [9, 3]))
    assert trial.rarest() == 9 and trial.task == "classification" and trial.classes.tolist() == ["a", "b"]
    assert Trial.of(LAWS, [0.0, 1.0, 2.0], cv=2).rarest() == 3


def test_columns_are_sorted_by_their_labels():
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    trial = Trial.of(ClassScores(p, classes=["yes", "no"]), ["yes", "no", "yes", "no"], cv=2)
    assert trial.classes.tolist() == ["no", "yes"]
    made = trial.out_of_fold({"none": NoCalibrator(), "t": TemperatureCalibrator()}).made["none"]
    np.testing.assert_allclose(made.values, p[trial.rows[trial.tested]][:, ::-1])
    loss = trial.evaluated(made).log_loss
    assert loss.mean() == pytest.approx(metrics.log_loss(["yes", "no", "yes", "no"], p, classes=["yes", "no"]))


def test_counts_are_scored_by_mass(rng):
    law, y = Poisson(np.linspace(1, 5, 50)), rng.poisson(np.linspace(1, 5, 50)).astype(float)
    trial = Trial.of(law, y)
    assert trial.on_atom.all()
    assert trial.evaluated(law[trial.rows[trial.tested]]).nll.mean() == pytest.approx(metrics.nll(y, law))
    assert not Trial.of(Normal(y, 1.0), y + 0.5).on_atom.any()
    assert Trial.of(np.arange(9.0), np.arange(9.0) % 2).on_atom is None


def test_candidates_that_cannot_be_fitted(rng):
    y = np.arange(40.0)
    trial = Trial.of(Normal(y, 1.0), y)  # no residuals at all
    found = trial.out_of_fold({"none": NoCalibrator(), "scale": ScaleCalibrator(), "q": QuantileCalibrator()})
    assert list(found.made) == ["none", "q"] and found.left_out["scale"].startswith("residuals must vary")
    with pytest.raises(ValueError, match="residuals must vary"):
        trial.out_of_fold({"none": NoCalibrator(), "scale": ScaleCalibrator()})


def test_groups_are_those_of_the_rows(rng):
    groups = np.repeat(["a", "b"], 30)
    y = np.where(groups == "a", 1.0, 5.0) * rng.standard_normal(60)
    trial = Trial.of(Normal(np.zeros(60), 1.0), y, groups=groups, cv=3)
    assert (trial.groups == groups[trial.rows]).all()
    fitted = trial.fitted(GroupedCalibrator(ScaleCalibrator(), strength=0))
    own = {name: np.sqrt(np.mean(np.square(y[groups == name]))) for name in ("a", "b")}
    assert trial.made_by(fitted).std() == pytest.approx([own[name] for name in trial.groups], rel=0.05)


def test_none_learns_how_many_rows_there_were():
    made = NoCalibrator().fit(LAWS, [0.0, 1.0, 2.0])
    assert made.n_rows_ == 3 and made.transform(LAWS) is LAWS
    assert NoCalibrator().fit(scores(), [0, 1, 0, 1]).transform(scores()).tolist() == [[0.5, 0.5]] * 4


def test_of_near_equals_the_simplest_is_taken():
    found = comparison([2.0, 1.503, 1.5], [0.1, 0.004, 0.0], ranks=(0, 1, 2))
    assert found.chosen == "a" and found.best == "b"
    assert found.recommendation == (
        "Take a: its loss of 1.503 is within one standard error and 0.005 of the least, that of b, and it is simpler, "
        "0.497 below that of the forecasts as they are."
    )
    assert comparison([2.0, 1.503, 1.5], [0.1, 0.002, 0.0], ranks=(0, 1, 2)).chosen == "b"  # beyond its noise
    assert comparison([2.0, 1.53, 1.5], [0.1, 0.1, 0.0], ranks=(0, 1, 2)).chosen == "b"  # noise or not, that is dear
    assert comparison([2.0, 1.503, 1.5], [0.1, 0.004, 0.0], ranks=(0, 2, 1)).chosen == "b"
    assert comparison([2.0, 1.5, 1.5], [0.1, 0.0, 0.0], ranks=(0, 1, 1)).chosen == "a"
    with pytest.raises(ValueError, match="a rank for each name"):
        comparison([2.0, 1.5, 1.5], [0.1, 0.0, 0.0], ranks=(0, 1))._check_sound()


def test_a_staircase_does_not_win_by_a_hair():
    """Where a curve with two parameters is right, neither isotonic regression nor its like is taken."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        odds = rng.normal(0.0, 1.5, 400)
        y = rng.random(400) < 1 / (1 + np.exp(-odds))
        p = 1 / (1 + np.exp(-2 * odds - 0.5))
        found.append(compare(p, y, {"staircase": SmoothIsotonicCalibrator(), "curve": PlattCalibrator()}))
    assert {each.chosen for each in found} == {"curve"} and "staircase" in {each.best for each in found}


def test_folds_do_not_look_back(monkeypatch, rng):
    """What calibrators do on average is measured on the folds; each fit need not try it on halves of its own."""
    from calibrant.calibration import pit_watch

    looks = []
    monkeypatch.setattr(pit_watch, "pit_distances", lambda *_: looks.append(1) or (0.0, 0.0))
    mu = rng.normal(size=120)
    trial = Trial.of(Normal(mu, 1.0), mu + rng.normal(size=120), cv=2)
    trial.out_of_fold({"density": DensityCalibrator()})
    assert not looks
    trial.fitted(DensityCalibrator())
    assert looks
