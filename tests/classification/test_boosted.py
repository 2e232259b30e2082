from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit, logit, softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from calibrant import (
    BetaCalibrator,
    BoostedClassCalibrator,
    CalibratedClassifier,
    Chain,
    GroupedCalibrator,
    PlattCalibrator,
    load,
    save,
)
from calibrant.adapters.class_scores import ClassScores
from calibrant.classification.boosted.lines import FOLDS, lines_of
from calibrant.classification.boosted.objective import ClassLikelihood, probabilities_of
from calibrant.classification.boosted.starts import Problem, Start, begun, held_out
from tests.store.test_calibrators import forged


# ---- the likelihood ----
@pytest.fixture(params=[2, 4])
def labelled(rng, request):
    classes = request.param
    width = 1 if classes == 2 else classes
    start, said = rng.normal(0, 2, (2, 60, width))
    return ClassLikelihood(start, rng.integers(0, classes, 60), rng.uniform(0.5, 2, 60)), said, classes


def literal(rows, said):
    """Minus the log of the probability of each label."""
    z = rows.start + said
    p = softmax(np.column_stack([np.zeros(len(z)), z]) if z.shape[1] == 1 else z, axis=1)
    return -np.log([p[i, c] for i, c in enumerate(rows.codes)]), p


def test_losses_are_minus_log_probabilities(labelled):
    rows, said, _ = labelled
    losses, p = literal(rows, said)
    assert rows.losses(said) == pytest.approx(losses)
    assert rows.mean(said) == pytest.approx(np.sum(rows.weights * losses) / rows.weights.sum())
    assert probabilities_of(rows.start + said) == pytest.approx(p)
    part = rows[np.array([3, 5])]
    assert part.losses(said[[3, 5]]) == pytest.approx(losses[[3, 5]])


def test_losses_do_not_overflow():
    far = ClassLikelihood(np.array([[1e4, 0.0, -1e4]] * 2), np.array([0, 2]), np.ones(2))
    assert far.losses(np.zeros((2, 3))).tolist() == [0.0, 2e4]
    two = ClassLikelihood(np.array([[1e4], [1e4]]), np.array([1, 0]), np.ones(2))
    assert two.losses(np.zeros((2, 1))).tolist() == [0.0, 1e4]


def test_slopes_and_curvatures_are_those_of_differences(labelled):
    rows, said, classes = labelled
    slope, curvature = rows.slopes(said)
    for k in range(said.shape[1]):
        step = 1e-4 * np.eye(said.shape[1])[k]
        low, middle, high = (rows.losses(said + sign * step) for sign in (-1, 0, 1))
        assert slope[:, k] == pytest.approx((high - low) / 2e-4, abs=1e-6)
        factor = 1.0 if classes == 2 else classes / (classes - 1)
        assert curvature[:, k] == pytest.approx(factor * (high - 2 * middle + low) / 1e-8, abs=1e-5)


def test_shares_undo_shrinkage(rng):
    z = rng.normal(0, 2, (20_000, 1))
    rows = ClassLikelihood(np.zeros_like(z), (rng.random(20_000) < expit(z[:, 0])).astype(int), np.ones(20_000))
    assert rows.best_share(z / 1.5, 1.0, 2.0)[0] == pytest.approx(1.5, abs=0.06)
    assert rows.best_share(3 * z, 1.0, 2.0)[0] == 1.0 and rows.best_share(-z, 0.0, 1.0)[0] == 0.0
    share, loss = rows.best_share(0.2 * z, 1.0, 2.0)
    assert share == 2.0 and loss == pytest.approx(rows.mean(0.4 * z))


# ---- lines and folds ----
def test_copies_are_one_line_in_one_fold(rng):
    x, codes = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    twice = np.repeat(np.arange(100), 3)
    lines = lines_of(x[twice], codes[twice], np.ones(300), 0)
    assert len(lines.row) == 100 and lines.weight.tolist() == [3.0] * 100 and lines.n_rows == 100
    assert [np.bincount(codes[twice[lines.row]][lines.fold == k], minlength=2).tolist() for k in range(FOLDS)] == [
        pytest.approx(np.bincount(codes) / FOLDS, abs=1) for _ in range(FOLDS)
    ]


def test_rows_that_disagree_are_no_copies(rng):
    x, codes = rng.integers(0, 2, (1000, 1)).astype(float), rng.integers(0, 2, 1000)
    lines = lines_of(x, codes, np.ones(1000), 0)
    assert lines.n_rows == 1000 and len(lines.row) == 4 * FOLDS
    for line in np.unique(lines.row):
        own = lines.weight[lines.row == line]
        assert own.max() - own.min() <= 1 and own.sum() == np.sum((x == x[line])[:, 0] & (codes == codes[line]))
        assert sorted(lines.fold[lines.row == line]) == list(range(FOLDS))


def test_no_weight_counts_for_too_much():
    x, codes = np.arange(60.0)[:, None], np.arange(60) % 2
    lines = lines_of(x, codes, np.full(60, 1e9), 0)
    assert lines.weight.tolist() == [10.0] * 60 and lines.n_rows == 60


def test_very_many_lines_are_sampled(rng, monkeypatch):
    from calibrant.classification.boosted import starts

    monkeypatch.setattr(starts, "MOST_SEEN", 50)
    monkeypatch.setattr(starts, "MOST_LOOKED", 10)
    p, codes = rng.random(400), np.arange(400) % 10 // 9
    lines = lines_of(p[:, None], codes, np.ones(400), 0)
    problem = Problem(ClassScores(np.column_stack([1 - p, p])), codes, lines, 1e-12)
    for k, part in enumerate(held_out(problem, 0)):
        assert len(part.train) == 50 and len(part.test) == 10
        assert (lines.fold[part.test] == k).all() and (lines.fold[part.train] != k).all()
        assert (np.diff(part.test) > 0).all() and len(set(part.train.tolist())) == 50
        assert codes[lines.row[part.train]].sum() == 5 and codes[lines.row[part.test]].sum() == 1
    assert not problem.is_small
    assert problem._replace(codes=np.arange(400) % 20 // 19).is_small


def test_unseen_lines_are_forecast_by_maps_that_have_not_seen_them(rng):
    p, codes = rng.random(200), rng.integers(0, 2, 200)
    lines = lines_of(p[:, None], codes, np.ones(200), 0)
    problem = Problem(ClassScores(np.column_stack([1 - p, p])), codes, lines, 1e-12)
    held = held_out(problem, 0)
    start = Start("beta", [problem.fitted("beta", part.train) for part in held], 0.25)
    found = problem.unseen(start, held)
    for k in range(FOLDS):
        train, test = lines.row[lines.fold != k], lines.row[lines.fold == k]
        literal = logit(BetaCalibrator().fit(p[train], codes[train]).transform(p[test])[:, 1])
        assert found.start[lines.fold == k, 0] == pytest.approx(0.75 * logit(p[test]) + 0.25 * literal)
        assert np.array_equal(found.codes[lines.fold == k], codes[test])
    assert begun(None, 0.25, problem.scores, 1e-12)[:, 0] == pytest.approx(logit(p))


# ---- the calibrator ----
@pytest.fixture
def segment(rng):
    """Probabilities that are right, but in the north, where the log odds are 1.5 too low."""
    pytest.importorskip("lightgbm")

    def draw(n):
        frame = pd.DataFrame({"region": rng.choice(["north", "south", "east", "west"], n), "price": rng.normal(size=n)})
        frame.loc[rng.random(n) < 0.1, "price"] = np.nan
        x = rng.normal(size=n)
        truth = expit(x + 1.5 * (frame["region"] == "north").to_numpy())
        return frame, expit(x), (rng.random(n) < truth).astype(int)

    return draw


@pytest.fixture
def three(rng):
    """Three classes, of which the last is e^1.5 times as likely where x > 0."""
    pytest.importorskip("lightgbm")

    def draw(n):
        z, x = rng.normal(0, 1.2, (n, 3)), rng.normal(size=(n, 1))
        truth = softmax(z + np.outer(x[:, 0] > 0, [0, 0, 1.5]), axis=1)
        return x, softmax(z, axis=1), (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), truth

    return draw


def test_a_segment_is_repaired(segment):
    X, p, y = segment(1500)
    cal = BoostedClassCalibrator().fit(p, y, X=X)
    new, q, truth = segment(6000)
    made = cal.transform(q, X=new)
    north = (new["region"] == "north").to_numpy()
    for rows in (north, ~north):
        assert made[rows, 1].mean() == pytest.approx(truth[rows].mean(), abs=0.03)
    right = expit(logit(q) + 1.5 * north)
    alone = BetaCalibrator().fit(p, y).transform(q)
    lost, lost_alone = (log_loss(truth, m) - log_loss(truth, right) for m in (made, alone))
    assert lost < 0.012 and lost_alone > 0.03
    assert cal.n_rounds_ > 0 and cal.gain_ > 0.02 and 1 <= cal.stretch_ <= 2 and cal.forest_.n_outputs == 1
    assert made.shape == (6000, 2) and np.allclose(made.sum(axis=1), 1)


def test_the_equation(segment):
    X, p, y = segment(800)
    cal = BoostedClassCalibrator(60).fit(2 * p / 3, y, X=X)
    s = logit(2 * p / 3)
    mapped = logit(cal.map_.transform(2 * p / 3)[:, 1])
    code = X["region"].map({name: k for k, name in enumerate(["east", "north", "south", "west"])})
    seen = (np.column_stack([code, X["price"], s]) - cal.centres_) / cal.spreads_
    literal = expit(s + cal.share_ * (mapped - s) + cal.stretch_ * cal.forest_(seen)[:, 0])
    assert cal.n_rounds_ > 0 and cal.start_ == "beta" and 0 < cal.share_ <= 1
    assert cal.transform(2 * p / 3, X=X)[:, 1] == pytest.approx(literal)


def test_three_classes(three):
    X, p, y, _ = three(1500)
    cal = BoostedClassCalibrator(100).fit(p, np.array(["a", "b", "c"])[y], X=X)
    new, q, _, truth = three(4000)
    made = cal.transform(q, X=new)

    def lost(m):
        return np.mean(np.sum(truth * np.log(truth / m), axis=1))

    assert cal.forest_.n_outputs == 3 and cal.classes_.tolist() == ["a", "b", "c"]
    assert lost(made) < 0.015 and lost(q) > 0.06
    assert made.shape == (4000, 3) and np.allclose(made.sum(axis=1), 1)


def test_where_nothing_is_wrong_little_is_done(segment):
    rounds, costs = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, X = rng.normal(size=2300), rng.normal(size=(2300, 3))
        p = expit(x)
        y = (rng.random(2300) < p).astype(int)
        cal = BoostedClassCalibrator(40).fit(p[:300], y[:300], X=X[:300])
        made = cal.transform(p[300:], X=X[300:])[:, 1]
        rounds.append(cal.n_rounds_)
        costs.append(np.mean(p[300:] * np.log(p[300:] / made) + (1 - p[300:]) * np.log((1 - p[300:]) / (1 - made))))
    assert np.count_nonzero(rounds) <= 2 and np.mean(costs) < 0.006


def test_few_rows_are_the_map(segment, rng):
    p, w = rng.random(30), rng.integers(1, 4, 30)
    y = (rng.random(30) < p).astype(int)
    cal = BoostedClassCalibrator().fit(p, y, X=np.zeros((30, 1)), sample_weight=w)
    assert cal.n_rounds_ == 0 and cal.start_ == "beta" and cal.share_ == 1 and len(cal.forest_) == 0
    other = BetaCalibrator().fit(p, y, sample_weight=w)
    assert cal.transform(p, X=np.zeros((30, 1))) == pytest.approx(other.transform(p))
    lone = np.r_[1, np.zeros(99, dtype=int)]
    alone = BoostedClassCalibrator().fit(rng.random(100), lone, X=rng.normal(size=(100, 1)))
    assert alone.n_rounds_ == 0 and alone.transform([0.5], X=[[0.0]])[0, 1] < 0.1


def test_scores_that_are_right_stay(segment):
    rng = np.random.default_rng(4)
    p = np.tile(np.arange(1, 10) / 10, 100)
    y = np.concatenate([np.arange(100) < 100 * q for q in p[:9]]).reshape(9, 100).T.ravel()
    cal = BoostedClassCalibrator(20).fit(p, y, X=rng.normal(size=(900, 2)))
    made = cal.transform(p, X=rng.normal(size=(900, 2)))
    assert cal.n_rounds_ == 0 and made[:, 1] == pytest.approx(p, abs=0.01)


def test_order_of_rows_and_copies(segment, rng):
    X, p, y = segment(500)
    w, order = rng.integers(1, 4, 500), rng.permutation(500)
    plain = BoostedClassCalibrator(60).fit(p, y, X=X, sample_weight=w)
    said = plain.transform(p, X=X)
    moved = BoostedClassCalibrator(60).fit(p[order], y[order], X=X.iloc[order], sample_weight=w[order])
    rows = np.repeat(np.arange(500), w)
    copies = BoostedClassCalibrator(60).fit(p[rows], y[rows], X=X.iloc[rows])
    assert plain.n_rounds_ > 0
    for other in (moved, copies):
        np.testing.assert_allclose(other.transform(p, X=X), said, rtol=0, atol=1e-10)


def test_the_same_every_time_with_any_threads(segment):
    X, p, y = segment(400)
    first, other, third = (
        BoostedClassCalibrator(20, n_jobs=n, random_state=seed).fit(p, y, X=X).transform(p, X=X)
        for n, seed in ((None, 7), (2, 7), (None, 8))
    )
    assert np.array_equal(first, other) and not np.array_equal(first, third)


@pytest.mark.parametrize(
    "kind",
    [
        pl.DataFrame,
        lambda X: X.astype({"region": "category"}),
        lambda X: X.to_numpy().tolist(),
        lambda X: pl.DataFrame(X).with_columns(pl.col("region").cast(pl.Categorical)),
    ],
)
def test_any_kind_of_table(segment, kind):
    X, p, y = segment(500)
    plain, other = (BoostedClassCalibrator(20).fit(p, y, X=table) for table in (X, kind(X)))
    assert plain.n_rounds_ > 0
    assert np.array_equal(plain.transform(p[:40], X=X[:40]), other.transform(p[:40], X=kind(X[:40])))


def test_single_precision_logits_and_missing_labels(segment):
    X, p, y = segment(600)
    p = (np.round(p * 1024) / 1024).clip(1 / 1024, 1023 / 1024)
    plain = BoostedClassCalibrator(20).fit(p, y, X=X)
    said = plain.transform(p, X=X)
    assert plain.n_rounds_ > 0
    assert np.array_equal(BoostedClassCalibrator(20).fit(p.astype("f4"), y, X=X).transform(p, X=X), said)
    logits = BoostedClassCalibrator(20, scores_are="logits").fit(logit(p), y, X=X)
    assert logits.transform(logit(p), X=X) == pytest.approx(said)
    holes = np.where(np.arange(600) % 9 == 0, np.nan, y)
    with pytest.warns(UserWarning, match="67 of 600 rows have no label"):
        some = BoostedClassCalibrator(20).fit(p, holes, X=X)
    kept = ~np.isnan(holes)
    whole = BoostedClassCalibrator(20).fit(p[kept], y[kept], X=X[kept])
    assert np.array_equal(some.transform(p, X=X), whole.transform(p, X=X))


def test_few_different_features_and_many_rows(segment, rng):
    region = rng.integers(0, 3, 5000)
    y = (rng.random(5000) < np.array([0.2, 0.5, 0.9])[region]).astype(int)
    cal = BoostedClassCalibrator().fit(np.full(5000, 0.5), y, X=region[:, None])
    made = cal.transform([0.5] * 3, X=[[0], [1], [2]])[:, 1]
    assert made == pytest.approx([y[region == k].mean() for k in range(3)], abs=0.02)


# ---- with others ----
def test_behind_a_classifier(rng, tmp_path):
    pytest.importorskip("lightgbm")
    frame = pd.DataFrame({"size": rng.normal(size=900), "kind": pd.Categorical(rng.choice(["a", "b", "c"], 900))})
    odds = frame["size"] * np.where(frame["kind"] == "b", -2.0, 2.0)
    y = np.where(rng.random(900) < expit(odds), "yes", "no")

    class Sizes(LogisticRegression):
        def fit(self, X, y):
            return super().fit(X[["size"]], y)

        def predict_proba(self, X):
            return super().predict_proba(X[["size"]])

    model = CalibratedClassifier(Sizes(), BoostedClassCalibrator(60), cv=3).fit(frame, y)
    made = model.predict_proba(frame)
    assert model.calibrator_.table_.names == ("size", "kind") and model.calibrator_.n_rounds_ > 0
    assert log_loss(y, made) < log_loss(y, Sizes().fit(frame, y).predict_proba(frame)) - 0.15
    save(model.calibrator_, tmp_path / "a.calibrant")
    scores = model.estimator_.predict_proba(frame)
    assert np.array_equal(load(tmp_path / "a.calibrant").transform(scores, X=frame), made)
    numbers = CalibratedClassifier(RandomForestClassifier(10, random_state=0), BoostedClassCalibrator(20), cv=3)
    assert numbers.fit(frame[["size"]].to_numpy(), y).predict(frame[["size"]].to_numpy()).shape == (900,)


def test_by_groups_and_in_chains(segment, tmp_path):
    X, p, y = segment(600)
    for calibrator, beside in (
        (GroupedCalibrator(BoostedClassCalibrator(20)), {"groups": X["region"] == "north", "X": X}),
        (Chain([PlattCalibrator(), BoostedClassCalibrator(20)]), {"X": X}),
    ):
        calibrator.fit(p, y, **beside)
        save(calibrator, tmp_path / "a.calibrant")
        before, after = (each.transform(p, **beside) for each in (calibrator, load(tmp_path / "a.calibrant")))
        assert np.array_equal(before, after) and log_loss(y, before) < log_loss(y, p)


# ---- errors ----
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"n_leaves": 9}, "`n_leaves` must be at most 8; got 9"),
        ({"n_rounds": 5}, "`n_rounds` must be a whole number of at least 20"),
        ({"rate": 1.0}, "`rate` must be a number above 0 and below 1"),
        ({"min_rows": 0}, "`min_rows` must be"),
        ({"n_jobs": -1}, "`n_jobs` must be"),
        ({"clip": 0.5}, "`clip` must be"),
    ],
)
def test_bad_parameters(changes, text):
    with pytest.raises(ValueError, match=text):
        BoostedClassCalibrator(**changes).fit([0.2, 0.7], [0, 1], X=[[1.0], [2.0]])


def test_bad_input(segment):
    X, p, y = segment(60)
    with pytest.raises(ValueError, match="`X` must be given.*None\\? Use BetaCalibrator"):
        BoostedClassCalibrator().fit(p, y)
    with pytest.raises(ValueError, match="`X` must have one row per forecast; got 59 for 60"):
        BoostedClassCalibrator().fit(p, y, X=X[:59])
    with pytest.raises(ValueError, match="got margins. Chain"):
        BoostedClassCalibrator(scores_are="margins").fit(p, y, X=X)
    many = np.full((101, 101), 1 / 101)
    with pytest.raises(ValueError, match="at most 100 classes to be boosted; got 101"):
        BoostedClassCalibrator().fit(many, np.arange(101), X=np.zeros((101, 1)))
    cal = BoostedClassCalibrator(20).fit(p, y, X=X)
    with pytest.raises(ValueError, match="`X` must be given"):
        cal.transform(p)
    with pytest.raises(ValueError, match="`X` must have the 2 columns of the fit; it has 3"):
        cal.transform(p, X=X.assign(more=1.0))


# ---- files ----
@pytest.mark.parametrize("classes", [2, 3])
def test_loaded_without_lightgbm(segment, three, tmp_path, monkeypatch, classes):
    X, p, y = segment(500) if classes == 2 else three(500)[:3]
    cal = BoostedClassCalibrator(20).fit(p, y, X=X)
    save(cal, tmp_path / "a.calibrant")
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    again = load(tmp_path / "a.calibrant")
    assert cal.n_rounds_ > 0 and repr(again) == repr(cal) and sorted(vars(again)) == sorted(vars(cal))
    assert np.array_equal(again.transform(p, X=X), cal.transform(p, X=X))


@pytest.mark.parametrize(
    ("part", "name", "value", "text"),
    [
        ("forest_", "n_outputs", 3, "trees must be on its features and for its classes"),
        ("forest_", "n_outputs", 0, "counts must be counts"),
        ("table_", "categories", {"tuple": [None, None]}, "trees must be on its features"),
        (None, "share_", {"float": "nan"}, "NaN"),
        (None, "stretch_", {"float": "inf"}, "must be finite"),
        (None, "share_", 3.0, "between 0 and 1"),
        (None, "map_", 7, "at a map of them"),
        (None, "nearest_", 0.7, "at the scores"),
    ],
)
def test_forged_files_are_refused(segment, tmp_path, part, name, value, text):
    path = tmp_path / "a.calibrant"
    X, p, y = segment(120)
    save(BoostedClassCalibrator(20).fit(p, y, X=X), path)

    def change(told, _):
        state = told["state"]["state"]
        (state if part is None else state[part]["state"])[name] = value

    forged(path, change)
    with pytest.raises(ValueError, match=text):
        load(path)
