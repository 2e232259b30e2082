"""Binary calibrators: beta, logistic, isotonic, binning."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from calibrant.links import BetaLink, BinningLink, IsotonicLink, LogisticLink, Trials, binned
from calibrant.links.binning import count_events, most_probable_trust
from calibrant.links.linear import LinearProblem, Prior

LINKS = [BetaLink, LogisticLink, IsotonicLink, BinningLink]
every = pytest.mark.parametrize("link", LINKS)
TRUE = BetaLink(np.array([1.6]), np.array([0.6]), np.array([0.4]))


def draw(n, seed=0, truth=TRUE):
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 1.5, n)
    return x, (rng.random(n) < np.exp(truth.log_probability(x[:, None])[:, 0])).astype(float)


def by_scikit(features, events):
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10).fit(features, events)
    return model.predict_proba(features)[:, 1]


def test_beta_formula():
    s = np.array([[0.1], [0.7]])
    expected = expit(1.6 * np.log(s) - 0.6 * np.log1p(-s) + 0.4)
    assert np.allclose(np.exp(TRUE.log_probability(logit(s))), expected, rtol=1e-12)


def test_beta_without_penalty_is_a_logistic_regression_on_two_logs():
    x, events = draw(5000)
    theirs = by_scikit(np.column_stack([log_expit(x), -log_expit(-x)]), events)
    ours = BetaLink.fit(Trials.of_column(x, events), penalty=1e-9).log_probability(x[:, None])[:, 0]
    assert np.allclose(np.exp(ours), theirs, atol=1e-6)


def test_logistic_without_penalty_is_a_logistic_regression():
    x, events = draw(5000)
    ours = LogisticLink.fit(Trials.of_column(x, events), penalty=1e-9).log_probability(x[:, None])[:, 0]
    assert np.allclose(np.exp(ours), by_scikit(expit(x)[:, None], events), atol=1e-6)


def test_beta_recovers_known_parameters():
    x, events = draw(200_000)
    fitted = BetaLink.fit(Trials.of_column(x, events))
    assert (fitted.a[0], fitted.b[0], fitted.m[0]) == pytest.approx((1.6, 0.6, 0.4), abs=0.08)


def test_beta_stays_increasing_unless_told_otherwise():
    x, events = draw(3000, truth=BetaLink(np.array([-0.8]), np.array([-0.5]), np.array([0.0])))
    trials = Trials.of_column(x, events)
    bounded, free = BetaLink.fit(trials, penalty=0.1), BetaLink.fit(trials, penalty=0.1, nonnegative=False)
    assert bounded.a[0] == 0 and bounded.b[0] == 0
    assert free.a[0] == pytest.approx(-0.8, abs=0.3) and free.b[0] == pytest.approx(-0.5, abs=0.3)
    assert bounded.log_odds(np.array([[-np.inf], [np.inf]])) == pytest.approx(np.full((2, 1), bounded.m[0]))


@every
def test_no_events_and_hardly_any_expected_changes_hardly_anything(link):
    x = np.random.default_rng(0).normal(-12, 0.5, 500)
    changed = link.fit(Trials.of_column(x, np.zeros(500)), penalty=1.0).log_odds(x[:, None])[:, 0] - x
    allowed = 0.6 if link is LogisticLink else 0.02  # constant log odds are the nearest of that family
    assert abs(changed.mean()) < allowed


@every
def test_no_link_leaves_the_open_interval_or_is_not_finite(link):
    x, events = draw(200)
    for outcome in (events, np.zeros(200), np.ones(200), (x > 0).astype(float)):  # the last one is separated
        fitted = link.fit(Trials.of_column(x, outcome))
        far = fitted.log_odds(np.array([[-700.0], [-30.0], [0.0], [30.0]]))
        assert np.isfinite(far).all() and np.all(fitted.log_probability(np.array([[40.0]])) <= 0)


@pytest.mark.parametrize("link", [BetaLink, IsotonicLink, BinningLink])  # the identity is not a logistic function
def test_evidence_trusts_forecasts_that_are_right(link):
    gaps = []
    for seed in range(20):
        x, events = draw(300, seed, BetaLink(np.ones(1), np.ones(1), np.zeros(1)))
        fitted = np.exp(link.fit(Trials.of_column(x, events)).log_probability(x[:, None])[:, 0])
        p = expit(x)
        gaps.append(np.mean(p * np.log(p / fitted) + (1 - p) * np.log((1 - p) / (1 - fitted))))
    assert np.mean(gaps) < 0.003  # maximum likelihood of three parameters: 0.005


@every
def test_better_than_the_raw_forecast(link):
    x, events = draw(4000)
    new, outcome = draw(20_000, seed=1)

    def loss(log_odds):
        return np.mean(np.logaddexp(0, log_odds) - outcome * log_odds)

    gain = loss(new) - loss(link.fit(Trials.of_column(x, events)).log_odds(new[:, None])[:, 0])
    possible = loss(new) - loss(TRUE.log_odds(new[:, None])[:, 0])
    assert gain > {BetaLink: 0.9, BinningLink: 0.9, IsotonicLink: 0.65, LogisticLink: 0.6}[link] * possible
    if link is IsotonicLink:
        plain = IsotonicRegression(out_of_bounds="clip").fit(x, events).predict(new)
        assert gain > loss(new) - loss(logit(np.clip(plain, 1e-3, 1 - 1e-3)))


@every
def test_weight_two_is_the_row_twice(link):
    x, events = draw(400)
    w = np.random.default_rng(1).integers(1, 4, 400)
    weighted = link.fit(Trials.of_column(x, events, w.astype(float)), penalty=1.0).log_odds(x[:, None])
    repeated = link.fit(Trials.of_column(np.repeat(x, w), np.repeat(events, w)), penalty=1.0).log_odds(x[:, None])
    assert np.allclose(weighted, repeated, atol=1e-7)


def test_sums_lose_nothing_to_large_weights():
    """Loss, gradient and Hessian in exact arithmetic; logits of 0, sure forecasts, weights of 1e14."""
    mp = pytest.importorskip("mpmath").mp.clone()
    mp.dps = 60
    x = np.array([-30.0, -29.0, -1.5, 0.0, -0.0, 0.7, 28.0, 30.0])
    rows = np.full(8, 1e14)
    events = rows * np.array([0, 0, 0.25, 0.5, 0.75, 0.5, 1, 1])
    prior = Prior(np.zeros((1, 1)), np.zeros((1, 1, 1)))
    problem = LinearProblem([Trials(x[None], rows[None], events[None])], lambda logits: (logits,), prior)
    theta = np.array([[1.0]])
    found = [part.item() for part in problem.evaluate(theta, 0.0)]
    p = [1 / (1 + mp.exp(-mp.mpf(v))) for v in x]
    w, e, v = ([mp.mpf(float(each)) for each in column] for column in (rows, events, x))
    exact = [
        -sum(e[i] * mp.log(p[i]) + (w[i] - e[i]) * mp.log(1 - p[i]) for i in range(8)),
        sum((w[i] * p[i] - e[i]) * v[i] for i in range(8)),
        sum(w[i] * p[i] * (1 - p[i]) * v[i] ** 2 for i in range(8)),
    ]
    assert np.allclose(found, [float(each) for each in exact], rtol=1e-14)
    sure = LinearProblem([Trials(x[None, -2:], rows[None, -2:], events[None, -2:])], lambda logits: (logits,), prior)
    loss = -sum(e[i] * mp.log(p[i]) for i in (6, 7))
    assert np.isclose(sure.evaluate(theta, 0.0)[0].item(), float(loss), rtol=1e-13)  # was right to one digit


def test_isotonic_blocks_are_scikit_learns():
    x, events = draw(300)
    link = IsotonicLink.fit(Trials.of_column(x, events), penalty=1e-12)
    theirs = IsotonicRegression().fit_transform(x, events)
    inner = (theirs > 0) & (theirs < 1)
    levels = np.unique(theirs[inner])
    assert np.allclose([np.abs(expit(link.values[0]) - level).min() for level in levels], 0, atol=1e-9)


def test_binning_counts_by_hand():
    x = logit(np.array([0.1, 0.1, 0.5, 0.5]))
    trials = Trials.of_column(x, np.array([1.0, 0.0, 1.0, 1.0]))
    edges, seen, expected = count_events(trials, 2)
    assert edges[0] == pytest.approx([logit(0.5)])  # half of the 1.2 expected events is reached at 0.5, the last value
    assert seen[0] == pytest.approx([3, 0]) and expected[0] == pytest.approx([1.2, 0])
    more = Trials.of_column(logit(np.array([0.2, 0.2, 0.3])), np.array([1.0, 0.0, 1.0]))
    edges, seen, expected = count_events(more, 2)
    assert edges[0] == pytest.approx([0.5 * (logit(0.2) + logit(0.3))])
    assert seen[0] == pytest.approx([1, 1]) and expected[0] == pytest.approx([0.4, 0.3])
    link = BinningLink(np.array([[logit(0.3)]]), np.log([[(1 + 2) / (0.2 + 2), (2 + 2) / (1.0 + 2)]]))
    assert np.exp(link.log_probability(x[:, None]))[[0, 2], 0] == pytest.approx([0.1 * 3 / 2.2, 0.5 * 4 / 3])


def test_trust_falls_with_what_is_wrong():
    rng = np.random.default_rng(0)
    e = np.full(200, 20.0)
    right, wrong = rng.poisson(e), rng.poisson(e * rng.gamma(3, 1 / 3, 200))
    assert most_probable_trust(right, e) > 100
    assert 1.5 < most_probable_trust(wrong, e) < 6


def test_bins_hold_all_rows_and_fit_almost_as_well_as_they_do():
    rng = np.random.default_rng(0)
    x = rng.normal(-2, 2, (20_000, 3))
    which = rng.integers(0, 3, 20_000)
    w = rng.uniform(0.5, 2, 20_000)
    blocks = [(x[i : i + 4096], which[i : i + 4096], w[i : i + 4096]) for i in range(0, 20_000, 4096)]
    trials = binned(blocks, 3)
    exact = Trials.one_of_many(x, which, w)
    assert np.allclose(trials.rows.sum(axis=1), w.sum())
    assert np.allclose((trials.rows * trials.logits).sum(axis=1), w @ x)
    assert np.allclose(trials.events.sum(axis=1), np.bincount(which, w))
    assert np.allclose((trials.events * trials.logits).sum(axis=1), (exact.events * x.T).sum(axis=1))
    whole, few, polished = (
        BetaLink.fit(exact, penalty=1.0),
        BetaLink.fit(trials, penalty=1.0),
        BetaLink.fit(trials, penalty=1.0, exact=[exact]),
    )
    p = [np.exp(link.log_probability(x)) for link in (whole, few, polished)]
    assert np.abs(p[1] - p[0]).max() < 2e-4
    assert np.abs(p[2] - p[0]).max() < 1e-8
