"""Sets of classes: the published scores, coverage by simulation, and what is given."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone

from calibrant import ConformalSets, load, metrics, save
from calibrant.classification.conformal_sets import adaptive_scores


def problem(rng, n, classes=4):
    """Overconfident probabilities and labels."""
    x = rng.normal(0, 1.2, (n, classes))
    y = (softmax(x, axis=1).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return softmax(1.7 * x, axis=1), y


def published(p, k, u, penalty, free):
    """Angelopoulos et al. (2021): rho_x(y) + u pi_x(y) + lambda (o_x(y) - k_reg)^+, class by class."""
    rho = sum(other for other in p if other > p[k])
    o = sum(1 for other in p if other >= p[k])
    return rho + u * p[k] + penalty * max(o - free, 0)


def test_adaptive_scores_as_published(rng):
    p = rng.dirichlet(np.ones(5), 30)
    p[:10] = np.round(p[:10] * 4) / 4  # ties
    u = rng.random(30)
    for penalty, free in ((0.0, 0), (0.1, 2)):
        expected = [[published(row, k, one, penalty, free) for k in range(5)] for row, one in zip(p, u, strict=True)]
        np.testing.assert_allclose(adaptive_scores(p, u, penalty, free), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("score", ["lac", "aps", "raps"])
@pytest.mark.parametrize("level", [0.7, 0.9, 0.99])
def test_sets_as_published(score, level, rng):
    p, y = problem(rng, 29)
    new, _ = problem(rng, 12)
    penalty = 0.2 if score == "raps" else 0.0

    def of(row, k):
        return 1 - row[k] if score == "lac" else published(row, k, 0.0, penalty, 1)

    scores = sorted(of(row, k) for row, k in zip(p, y, strict=True))
    place = math.ceil(round(level * 30, 9))
    limit = np.inf if place > 29 else scores[place - 1]
    expected = [[of(row, k) <= limit + 1e-12 for k in range(4)] for row in new]
    found = ConformalSets(score, penalty=0.2, free_classes=1).fit(p, y).predict_sets(new, level)
    assert found.dtype == bool and found.tolist() == expected and found.all() == (level == 0.99)


@pytest.mark.parametrize(
    "sets",
    [
        ConformalSets(),
        ConformalSets("aps", randomised=True),
        ConformalSets("raps", randomised=True, free_classes=1),
    ],
)
def test_coverage_is_that_of_the_ranks(sets, rng):
    share = []
    for _ in range(100):
        p, y = problem(rng, 19)
        new, real = problem(rng, 50)
        held = sets.set_params(random_state=rng).fit(p, y, classes=range(4)).predict_sets(new, 0.9)
        share.append(metrics.set_coverage(real, held, classes=range(4)))
    assert np.mean(share) == pytest.approx(18 / 20, abs=3 * np.std(share) / np.sqrt(100))


@pytest.mark.parametrize("score", ["aps", "raps"])
def test_sets_without_draws_hold_what_they_say_and_are_not_empty(score, rng):
    """Given the rows of fit and new ones together, coverage is a rank's, or how often the likeliest class is right."""
    share, right = [], []
    for _ in range(200):
        p, y = problem(rng, 19)
        new, real = problem(rng, 50)
        held = ConformalSets(score, free_classes=1).fit(p, y, classes=range(4)).predict_sets(new, 0.9)
        share.append(metrics.set_coverage(real, held, classes=range(4)))
        right.append(np.mean(new.argmax(axis=1) == real))
        assert held[np.arange(50), new.argmax(axis=1)].all()
    assert np.mean(right) < 0.7
    assert np.mean(share) == pytest.approx(18 / 20, abs=3 * np.std(share) / np.sqrt(200))


def test_sure_classifiers_get_sets_of_one(rng):
    p, y = problem(rng, 4000)
    sure = p.max(axis=1) > 0.9
    sets = ConformalSets("aps").fit(p[sure], y[sure])
    held = sets.predict_sets(p[sure], 0.5)
    np.testing.assert_array_equal(held.argmax(axis=1), p[sure].argmax(axis=1))
    assert (held.sum(axis=1) == 1).all()
    assert ", or what the likeliest class has if that is more, if no two other scores are equal," in sets.guarantee_


def test_coverage_in_each_class_and_group(rng):
    p, y = problem(rng, 4000)
    new, real = problem(rng, 20_000)
    plain, own = (metrics.set_coverage(real, ConformalSets(by=by).fit(p, y).predict_sets(new), by_class=True)
                  for by in (None, "class"))  # fmt: skip
    p[:, 0] *= 0.05  # a class that is forecast too low
    p, low = p / p.sum(axis=1, keepdims=True), new * np.array([0.05, 1, 1, 1])
    low /= low.sum(axis=1, keepdims=True)
    by_class = ConformalSets(by="class").fit(p, y).predict_sets(low)
    assert metrics.set_coverage(real, ConformalSets().fit(p, y).predict_sets(low), by_class=True)[0] < 0.75
    np.testing.assert_allclose(metrics.set_coverage(real, by_class, by_class=True), 0.9, atol=0.025)
    np.testing.assert_allclose([plain, own], 0.9, atol=0.025)
    groups, names = np.tile(["a", "b"], 2000), np.array(["a", "b", "new"])
    by_group = ConformalSets(by="groups").fit(np.where(groups[:, None] == "a", p, 0.25), y, groups=groups)
    held = by_group.predict_sets([[0.0, 0.0, 0.0, 1.0], [0.25] * 4, [1.0, 0.0, 0.0, 0.0]], groups=names)
    assert not held[0].all() and held[1:].all() and set(by_group.scores_) == {"a", "b"}


def test_whatever_people_have(rng):
    p, y = problem(rng, 200, 3)
    names = np.array(["cat", "dog", "cow"])
    frame = pd.DataFrame(p, columns=names)
    expected = ConformalSets("aps").fit(p, y).predict_sets(p, 0.8)
    turned = ConformalSets("aps").fit(frame, names[y])
    np.testing.assert_array_equal(turned.predict_sets(frame[["cow", "cat", "dog"]], 0.8), expected)
    np.testing.assert_array_equal(ConformalSets("aps").fit(p.tolist(), y.tolist()).predict_sets(p, 0.8), expected)
    logits = ConformalSets("aps", scores_are="logits").fit(np.log(p), y)
    np.testing.assert_array_equal(logits.predict_sets(np.log(p), 0.8), expected)
    w = rng.integers(0, 4, 200)
    one = ConformalSets().fit(p, y, sample_weight=w)
    many = ConformalSets().fit(np.repeat(p, w, axis=0), np.repeat(y, w))
    np.testing.assert_array_equal(one.predict_sets(p), many.predict_sets(p))
    margins = ConformalSets(scores_are="margins").fit(p[:, 1] - 0.5, y == 1)
    assert margins.predict_sets([-0.5, 0.5]).shape == (2, 2)
    drawn = ConformalSets("aps", randomised=True, random_state=3).fit(p, y)
    np.testing.assert_array_equal(drawn.predict_sets(p), clone(drawn).fit(p, y).predict_sets(p))


@pytest.mark.parametrize("by", [None, "class", "groups"])
def test_is_saved_and_loaded(by, rng, tmp_path):
    p, y = problem(rng, 80)
    beside = {"groups": np.tile([1, 2], 40)} if by == "groups" else {}
    sets = ConformalSets("raps", by=by).fit(p, y, **beside)
    save(sets, tmp_path / "file")
    loaded = load(tmp_path / "file")
    np.testing.assert_array_equal(loaded.predict_sets(p, **beside), sets.predict_sets(p, **beside))
    assert loaded.guarantee_ == sets.guarantee_ and loaded.n_rows_ == 80


BAD = {
    "score": ({"score": "best"}, {}, "`score` must be one of"),
    "randomised": ({"randomised": True}, {}, "`randomised` is for 'aps' and 'raps'"),
    "penalty": ({"penalty": -1}, {}, "`penalty` must be a number of at least 0"),
    "groups": ({}, {"groups": ["a"] * 20}, "`groups` were given, but ranks are not by group"),
    "no groups": ({"by": "groups"}, {}, "`groups` must be given"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_values_are_named(case, rng):
    settings, beside, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        ConformalSets(**settings).fit(*problem(rng, 20), **beside)
