"""Thresholds and class weights for decisions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, fbeta_score, jaccard_score, matthews_corrcoef
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB

from calibrant.adapters.class_scores import ClassScores
from calibrant.classification.decision_report import Confusion
from calibrant.classification.decision_weights import Decisions, best_weight, decide
from calibrant.classification.decisions import DecisionCalibrator
from calibrant.classification.objectives import OBJECTIVES, make_objective
from calibrant.metrics.classes.labels import confusion


def costs_of(name, classes, seed=0):
    if name != "cost":
        return None
    costs = np.random.default_rng(seed).integers(1, 6, (classes, classes)).astype(float)
    np.fill_diagonal(costs, 0.0)
    return costs


def sample(n, classes, seed=0, digits=2):
    """Scores with ties that are off by class weights, labels and frequencies."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(classes, 0.7), n)
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(0, classes - 1)
    scores = np.round(p * rng.uniform(0.2, 3.0, classes), digits) + 10.0**-digits
    return scores, y, rng.integers(0, 4, n).astype(float)


# ---- the chapter's worked examples ----
def test_confusion_tables_of_the_chapter():
    # Bella et al. (2010): the text says rows are actual and columns predicted classes, but both tables are printed the
    # other way round (and head the second class "B"); the proportions it reads off them are those of this reading.
    printed = np.array([[20, 2, 3], [0, 30, 3], [0, 2, 40]])
    table = Confusion(np.array(["a", "b", "c"]), printed.T.astype(float))
    np.testing.assert_allclose(table.real_proportions * 100, [20, 34, 46])
    np.testing.assert_allclose(table.predicted_proportions * 100, [25, 33, 42])
    assert table.accuracy == pytest.approx(0.9)
    assert table.macro_accuracy == pytest.approx((1 + 30 / 34 + 40 / 46) / 3)

    table = Confusion(np.array(["a", "b"]), np.array([[60.0, 40.0], [2.0, 23.0]]))
    np.testing.assert_allclose(table.real_proportions * 125, [100, 25])
    np.testing.assert_allclose(table.predicted_proportions * 125, [62, 63])
    assert table.macro_accuracy == pytest.approx((0.6 + 0.92) / 2)


def test_the_chapters_second_table_is_repaired():
    """Scores that give the printed table at 1/2 give proportions of 100 to 25 at the threshold found."""
    rng = np.random.default_rng(0)
    real = np.repeat(["a", "a", "b", "b"], [60, 40, 2, 23])
    p = np.concatenate(
        [rng.uniform(0, 0.5, 60), rng.uniform(0.5, 1, 40), rng.uniform(0, 0.5, 2), rng.uniform(0.5, 1, 23)]
    )
    model = DecisionCalibrator().fit(p, real)
    np.testing.assert_allclose(model.report_.before.counts, [[60, 40], [2, 23]])
    np.testing.assert_allclose(model.report_.after.predicted_proportions, [0.8, 0.2])
    assert (model.predict(p) == "b").sum() == 25


def test_naive_bayes_products_of_the_chapter():
    """p(a|x) = 0.2 and p(b|x) = 0.05 need not add up to 1."""
    scores = np.array([[0.2, 0.05], [0.2, 0.1], [0.02, 0.1]])
    model = DecisionCalibrator("accuracy").fit(scores, ["a", "b", "b"])
    assert model.predict([[0.2, 0.05]]) == "a" and model.predict([[0.2, 0.1]]) == "b"
    assert DecisionCalibrator("accuracy", scores_are="positive").fit(
        scores[:, 1] / scores[:, 0], ["a", "b", "b"]
    ).threshold_ == pytest.approx(np.sqrt(0.25 * 0.5))
    assert model.threshold_ == pytest.approx(np.sqrt(0.125) / (1 + np.sqrt(0.125)))


# ---- exactness ----
def brute_force(c, rows, offsets, objective):
    """The best value over every weight that tells the rows apart."""
    others = np.delete(rows.scores + offsets, c, axis=1).max(axis=1)
    ratios = np.unique((others - rows.scores[:, c]).round(9))
    middles = np.concatenate([[ratios[0] - 1], 0.5 * (ratios[1:] + ratios[:-1]), [ratios[-1] + 1]])
    trials = [np.where(np.arange(len(offsets)) == c, b, offsets) for b in middles]
    return max(objective.value(rows.confusion(trial)) for trial in trials)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("seed", range(8))
def test_step_equals_brute_force(name, seed):
    scores, y, weights = sample(40, 3 + seed % 3, seed)
    rows = Decisions(np.log(scores), y, weights)
    objective = make_objective(name, costs_of(name, scores.shape[1]), np.bincount(y, weights, scores.shape[1]))
    offsets = np.random.default_rng(seed).normal(size=scores.shape[1])
    for c in range(scores.shape[1]):
        b, value = best_weight(c, rows, offsets, objective)
        reached = objective.value(rows.confusion(np.where(np.arange(len(offsets)) == c, b, offsets)))
        assert value == pytest.approx(reached, abs=1e-12)
        assert value == pytest.approx(brute_force(c, rows, offsets, objective), abs=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("seed", range(5))
def test_threshold_equals_brute_force(name, seed):
    scores, y, weights = sample(60, 2, seed)
    costs = costs_of(name, 2, seed)
    model = DecisionCalibrator(name, cost_matrix=costs).fit(scores, y, sample_weight=weights)
    objective = make_objective(name, costs, np.bincount(y, weights))
    ratio = scores[:, 1] / scores[:, 0]
    best = -np.inf
    for cut in [0.0, *(np.unique(ratio) * (1 + 1e-9))]:
        table = np.zeros((2, 2))
        np.add.at(table, (y, (ratio > cut).astype(int)), weights)
        best = max(best, objective.value(table))
    assert objective.value(model.report_.after.counts) == pytest.approx(best, abs=1e-12)
    p = scores[:, 1] / scores.sum(axis=1)
    np.testing.assert_array_equal(model.predict(scores), (p > model.threshold_).astype(int))


SCORES = {
    "f1": (lambda y, p, w: f1_score(y, p, sample_weight=w), "f1"),
    "matthews_corrcoef": (lambda y, p, w: matthews_corrcoef(y, p, sample_weight=w), "matthews_corrcoef"),
    "jaccard": (lambda y, p, w: jaccard_score(y, p, sample_weight=w), "jaccard"),
    "callable": (
        lambda y, p, w: fbeta_score(y, p, beta=2, sample_weight=w),
        lambda y_true, labels, sample_weight: fbeta_score(
            y_true, labels, beta=2, pos_label="yes", sample_weight=sample_weight
        ),
    ),
    "rows": (lambda y, p, w: f1_score(y, p, sample_weight=w), lambda y, p: f1_score(y, p, pos_label="yes")),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_labels_equal_brute_force(name):
    (measure, objective), (scores, y, weights) = SCORES[name], sample(30, 2, 3)
    labels = np.array(["no", "yes"])
    model = DecisionCalibrator(objective).fit(scores, labels[y], sample_weight=weights)
    p = scores[:, 1] / scores.sum(axis=1)
    best = max(measure(y, (p > cut).astype(int), weights) for cut in [0, *(np.unique(p)[:-1] * (1 + 1e-9))])
    reached = measure(y, (model.predict(scores) == "yes").astype(int), weights)
    assert reached == pytest.approx(best, rel=1e-12) and model.path_[-1] == pytest.approx(best, rel=1e-12)
    assert model.path_[0] == pytest.approx(measure(y, (p > 0.5).astype(int), weights), rel=1e-12)


def test_scores_of_more_classes_rise():
    scores, y, weights = sample(25, 3, 1)
    for name, average in (("f1", "macro"), ("f1_weighted", "weighted")):
        model = DecisionCalibrator(name).fit(scores, y, sample_weight=weights)
        after = f1_score(y, model.predict(scores), average=average, sample_weight=weights)
        assert model.path_[-1] == pytest.approx(after, rel=1e-12) and after > model.path_[0]
    np.testing.assert_array_equal(
        DecisionCalibrator("balanced_accuracy").fit(scores, y).log_weights_,
        DecisionCalibrator("macro").fit(scores, y).log_weights_,
    )


def test_callables_are_called_a_few_thousand_times(rng):
    p = rng.random(20_000)
    y = (rng.random(20_000) < p**2).astype(int)
    calls = []

    def score(y_true, labels, sample_weight):
        calls.append(len(y_true))
        tp, either = sample_weight[(y_true == 1) & (labels == 1)].sum(), sample_weight @ (y_true + labels)
        return 2 * tp / either if either else 0.0

    slow, fast = DecisionCalibrator(score).fit(p, y), DecisionCalibrator("f1").fit(p, y)
    assert len(calls) < 2000 and max(calls) <= 4
    assert slow.path_[-1] == pytest.approx(fast.path_[-1], rel=1e-3)


def test_rows_without_weights_must_be_whole():
    with pytest.raises(
        ValueError, match="`sample_weight` must be whole numbers, as `objective` takes no sample_weight"
    ):
        DecisionCalibrator(lambda y, p: (y == p).mean()).fit([0.2, 0.6, 0.7], [0, 1, 1], sample_weight=[1.0, 0.5, 1.0])


def one_against_two(ratios, y):
    """Rows that go to class 1 of three once its weight exceeds these ratios."""
    n = len(y)
    rows = Decisions(np.log(np.column_stack([ratios, np.ones(n), np.full(n, 1e-9)])), np.array(y), np.ones(n))
    return rows, make_objective("accuracy", None, np.bincount(y, minlength=3).astype(float))


def test_weight_at_the_geometric_mean():
    rows, objective = one_against_two([0.5, 2.0, 2.0, 8.0, 3.0, 3.0], [1, 1, 1, 0, 0, 0])
    b, value = best_weight(1, rows, np.zeros(3), objective)
    assert np.exp(b) == pytest.approx(np.sqrt(2.0 * 3.0)) and value == pytest.approx(1.0)
    rows, objective = one_against_two([2.0, 3.0], [1, 1])  # all flip: twice the largest
    assert np.exp(best_weight(1, rows, np.zeros(3), objective)[0]) == pytest.approx(6.0)
    rows, objective = one_against_two([0.2, 0.3], [0, 0])  # none flips: half the smallest
    assert np.exp(best_weight(1, rows, np.zeros(3), objective)[0]) == pytest.approx(0.1)


def test_ties_flip_together():
    """The logs of 0.1 x 3 and of 0.3 differ by rounding; parting the rows would be right, but no weight means it."""
    near = 0.1 * 3
    assert np.log(near) > np.log(0.3)
    rows, objective = one_against_two([0.3, near], [1, 0])
    b, value = best_weight(1, rows, np.zeros(3), objective)
    assert value == pytest.approx(0.5)
    decided = decide(rows.scores, np.array([0.0, b, 0.0]))
    assert decided[0] == decided[1]


def test_nearest_of_equally_good_weights():
    ratios, y = [0.25, 0.5, 2.0, 4.0, 8.0], [1, 0, 1, 0, 1]  # after 0, 1, 3, 5 flips: 2, 3, 3, 3 right
    rows, objective = one_against_two(ratios, y)
    for now, expected in ((0.3, np.sqrt(0.125)), (2.5, np.sqrt(8.0)), (30.0, 16.0)):
        b, _ = best_weight(1, rows, np.log([1.0, now, 1.0]), objective)
        assert np.exp(b) == pytest.approx(expected)
    stays, _ = best_weight(1, rows, np.log([1.0, 2.5, 1.0]), objective, now=0.6)
    assert np.exp(stays) == pytest.approx(2.5)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_objective_never_falls(name, classes):
    scores, y, weights = sample(400, classes, classes)
    costs = costs_of(name, classes)
    model = DecisionCalibrator(name, cost_matrix=costs).fit(scores, y, sample_weight=weights)
    assert (np.diff(model.path_) >= 0).all() and model.path_[-1] > model.path_[0]
    objective = make_objective(name, costs, np.bincount(y, weights))
    assert objective.value(model.report_.after.counts) == pytest.approx(model.path_[-1], abs=1e-12)
    kept = weights > 0
    np.testing.assert_allclose(
        confusion(y[kept], model.predict(scores)[kept], sample_weight=weights[kept]), model.report_.after.counts
    )


def test_proportions_agree():
    scores, y, _ = sample(3000, 6, 1, digits=6)
    report = DecisionCalibrator().fit(scores, y).report_
    before = np.abs(report.before.predicted_proportions - report.before.real_proportions).sum()
    assert before > 0.3
    assert np.abs(report.after.predicted_proportions - report.after.real_proportions).sum() <= 2 / 3000


def test_known_weights_are_recovered():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 20_000)
    y = (rng.random(20_000)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    wrong = p * [1.0, 5.0, 0.2]
    model = DecisionCalibrator("accuracy").fit(wrong, y)
    expected = np.array([1.0, 0.2, 5.0])
    np.testing.assert_allclose(model.weights_ / expected, 1.0, atol=0.15)
    cost = np.array([[0.0, 1.0], [4.0, 0.0]])  # Elkan (2001): the threshold is 1 / (1 + 4)
    two = rng.random(50_000)
    model = DecisionCalibrator("cost", cost_matrix=cost).fit(two, (rng.random(50_000) < two).astype(int))
    assert model.threshold_ == pytest.approx(0.2, abs=0.03)


def test_digits_naive_bayes_gains_five_points():
    X, y = load_digits(return_X_y=True)
    plain, weighted = [], []
    for seed in range(10):
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
        held_out = cross_val_predict(GaussianNB(), train, y_train, cv=5, method="predict_log_proba")
        model = DecisionCalibrator("accuracy", scores_are="logits").fit(held_out, y_train)
        scores = GaussianNB().fit(train, y_train).predict_log_proba(test)
        plain.append((scores.argmax(axis=1) == y_test).mean())
        weighted.append((model.predict(scores) == y_test).mean())
    assert np.mean(plain) < 0.85
    assert np.mean(weighted) >= 0.89


# ---- any scores, any labels, any weights ----
def test_no_underflow():
    logs = np.array([[-700.0, -740.0], [-1700.0, -1705.0], [-900.0, -901.0], [-800.0, -790.0]])
    model = DecisionCalibrator("accuracy", scores_are="logits").fit(logs, [0, 0, 1, 1])
    assert model.threshold_ == pytest.approx(-3.0) and model.report_.after.accuracy == 1.0


def test_kinds_of_scores_agree():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = (rng.random(200) < 1 / (1 + np.exp(1 - 2 * x))).astype(int)
    p = 1 / (1 + np.exp(-x))
    models = {
        "probabilities": (p, lambda t: np.log(t / (1 - t))),
        "positive": (np.exp(x), np.log),
        "logits": (x, lambda t: t),
        "margins": (x, lambda t: t),
    }
    cuts = []
    for kind, (scores, to_logit) in models.items():
        model = DecisionCalibrator("accuracy", scores_are=kind).fit(scores, y)
        cuts.append(to_logit(model.threshold_))
        wrapped = DecisionCalibrator("accuracy").fit(ClassScores(np.column_stack([-x, x]), "margins"), y)
        np.testing.assert_array_equal(
            model.predict(scores), wrapped.predict(ClassScores(np.column_stack([-x, x]), "margins"))
        )
    np.testing.assert_allclose(cuts, cuts[0], atol=1e-9)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("classes", [2, 4])
def test_weights_are_frequencies(name, classes):
    scores, y, weights = sample(80, classes, 5)
    y[:classes], weights[:classes] = np.arange(classes), 1.0
    model = DecisionCalibrator(name, cost_matrix=costs_of(name, classes))
    once = clone(model).fit(scores, y, sample_weight=weights)
    twice = np.repeat(np.arange(80), weights.astype(int))
    again = clone(model).fit(scores[twice], y[twice])
    np.testing.assert_allclose(once.log_weights_, again.log_weights_, atol=1e-12)
    np.testing.assert_allclose(once.report_.after.counts, again.report_.after.counts)


def test_zeros_constants_and_tiny_sets():
    model = DecisionCalibrator("accuracy").fit([[1.0, 0.0], [0.0, 1.0]], ["n", "y"])
    assert model.predict([[0.0, 0.3]]) == "y" and np.isfinite(model.threshold_)
    for name in ("accuracy", "proportions", "macro"):
        model = DecisionCalibrator(name).fit(np.full(6, 0.3), [0, 0, 0, 0, 1, 1])
        assert len(set(model.predict(np.full(6, 0.3)))) == 1
    scores, y, _ = sample(600, 26, 2)
    model = DecisionCalibrator("macro").fit(scores, y)
    assert model.report_.after.macro_accuracy >= model.report_.before.macro_accuracy
    zeros = scores.round(0)
    zeros[np.arange(600), y] += 1.0
    assert np.isfinite(DecisionCalibrator("accuracy").fit(zeros, y).log_weights_).all()


def test_frames_labels_and_missing_classes():
    scores, y, _ = sample(50, 3, 0)
    names = np.array(["x", "y", "z"])
    frame = pd.DataFrame(scores, columns=["x", "y", "z"])
    model = DecisionCalibrator("accuracy").fit(frame, names[y])
    assert set(model.predict(frame)) <= set(names)
    assert list(DecisionCalibrator("macro").fit(scores, np.minimum(y, 1)).classes_) == [0, 1, 2]  # no row of class 2
    with pytest.warns(UserWarning, match="1 of 50 rows have no label"):
        DecisionCalibrator().fit(scores, [None, *names[y[1:]]], classes=names)


def test_errors():
    scores, y, _ = sample(20, 3, 0)
    with pytest.raises(ValueError, match="at least two classes; all 20 labels are 0"):
        DecisionCalibrator().fit(scores, np.zeros(20, dtype=int))
    with pytest.raises(ValueError, match="`cost_matrix` must be given"):
        DecisionCalibrator("cost").fit(scores, y)
    with pytest.raises(ValueError, match="and only then"):
        DecisionCalibrator("accuracy", cost_matrix=np.eye(3)).fit(scores, y)
    with pytest.raises(ValueError, match=r"must be \(3, 3\)"):
        DecisionCalibrator("cost", cost_matrix=np.eye(2)).fit(scores, y)
    with pytest.raises(ValueError, match="first scores\\[0, 0\\] = -1.0. Log probabilities"):
        DecisionCalibrator().fit(np.full((20, 3), -1.0), y)
    with pytest.raises(ValueError, match="rows of `scores` must have a score above 0; 20 of 20"):
        DecisionCalibrator().fit(np.zeros((20, 3)), y)
    with pytest.raises(ValueError, match="must be finite"):
        DecisionCalibrator().fit(np.full((20, 3), np.nan), y)
    for name in ("f2", "r2", "neg_log_loss", 1, np.arange(3)):
        with pytest.raises(ValueError, match="`objective` must be .* 'matthews_corrcoef'.* or a score"):
            DecisionCalibrator(name).fit(scores, y)
    with pytest.raises(NotFittedError):
        DecisionCalibrator().predict(scores)
    with pytest.raises(ValueError, match="a column for each of the 3 classes; got 2"):
        DecisionCalibrator().fit(scores, y).predict(scores[:, :2])
