"""Each method against a literal transcription of what was published, with few rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, LeaveOneOut

from calibrant import CalibratedRegressor, ConformalCalibrator, Normal, Poisson, Quantiles, StudentT

N, LEVEL = 23, 0.8
PLAIN = {"map": "identity"}


@pytest.fixture
def data(rng):
    mu, sigma = rng.normal(0, 3, N), np.exp(rng.normal(0, 0.5, N))
    return mu, sigma, mu + 1.5 * sigma * rng.standard_t(3, N)


def rank(values, k):
    """The k-th smallest of some numbers, minus or plus infinity beyond them."""
    return -np.inf if k < 1 else np.inf if k > len(values) else sorted(values)[k - 1]


@pytest.mark.parametrize("level", [0.5, 0.8, 23 / 24, 0.96])
def test_split_for_points(data, level):
    mu, _, y = data
    q = rank(np.abs(y - mu), math.ceil(round(level * (N + 1), 9)))
    found = ConformalCalibrator().fit(mu, y).transform([1.0, 2.0]).interval(level)
    np.testing.assert_allclose(found, [[1 - q, 1 + q], [2 - q, 2 + q]], rtol=0, atol=1e-12)
    assert np.isfinite(q) == (level <= 23 / 24)


def test_normalised(data):
    mu, sigma, y = data
    q = rank(np.abs(y - mu) / sigma, math.ceil(LEVEL * (N + 1)))
    found = ConformalCalibrator(**PLAIN).fit((mu, sigma), y).transform(([1.0], [3.0])).interval(LEVEL)
    np.testing.assert_allclose(found, [[1 - 3 * q, 1 + 3 * q]], rtol=0, atol=1e-12)


def test_predictive_system(data):
    mu, sigma, y = data
    r, tail = (y - mu) / sigma, (1 - LEVEL) / 2
    low, high = rank(r, math.floor((N + 1) * tail)), rank(r, math.ceil((N + 1) * (1 - tail)))
    cal = ConformalCalibrator(score="signed", map="step").fit((mu, sigma), y)
    law = cal.transform(([1.0], [3.0]))
    np.testing.assert_allclose(law.interval(LEVEL), [[1 + 3 * low, 1 + 3 * high]], rtol=0, atol=1e-12)
    points = np.linspace(-10, 10, 41)[None, :]
    below = [(1 + 3 * r <= point).sum() / (N + 1) for point in points[0]]
    np.testing.assert_allclose(law.cdf(points)[0], below, rtol=0, atol=1e-12)
    assert law.interval(0.95).tolist() == [[-np.inf, np.inf]] and "either end" in cal.guarantee_.lower()


def test_conformalised_quantiles(data):
    """Romano, Patterson & Candès (2019): E = max(q_lo - y, y - q_hi), [q_lo - Q, q_hi + Q]."""
    mu, sigma, y = data
    table = mu[:, None] + sigma[:, None] * np.array([-1.0, 0.3, 1.8])
    levels = [0.1, 0.5, 0.9]
    scores = [max(row[0] - one, one - row[2]) for row, one in zip(table, y, strict=True)]
    q = rank(scores, math.ceil(LEVEL * (1 + 1 / N) * N))
    cal = ConformalCalibrator(score="cqr", coverage=[LEVEL, 0.5]).fit(Quantiles(levels, table), y)
    law = cal.transform(Quantiles(levels, [[0.0, 1.0, 5.0]]))
    np.testing.assert_allclose(law.interval(LEVEL), [[0 - q, 5 + q]], rtol=0, atol=1e-12)
    assert law.interval(0.5).shape == (1, 2)
    with pytest.raises(ValueError, match=r'one that score="cqr" was fitted for: 0.8, 0.5; got 0.9'):
        law.interval(0.9)


def test_covariate_shift(data, rng):
    """Tibshirani et al. (2019): the quantile of sum_i p_i(x) delta(s_i) + p_{n+1}(x) delta(inf)."""
    mu, sigma, y = data
    w, new = rng.gamma(2.0, size=N), np.array([0.1, 2.0, 30.0])
    s = np.abs(y - mu) / sigma
    law = ConformalCalibrator(**PLAIN).fit((mu, sigma), y, ratio=w).transform(Normal(np.zeros(3), 1.0), ratio=new)
    for own, (_, high) in zip(new, law.interval(LEVEL), strict=True):
        p = np.append(w, own) / (w.sum() + own)
        reached = [value for value in sorted(np.append(s, np.inf)) if p[np.append(s, np.inf) <= value].sum() >= LEVEL]
        assert high == pytest.approx(reached[0], abs=1e-12)
    assert np.isinf(law.interval(LEVEL)[2]).all()


@pytest.mark.parametrize(("cv", "n"), [(LeaveOneOut(), 9), (KFold(4), 23)])
def test_jackknife_plus(cv, n, rng):
    """Barber et al. (2021): q-{mu_{-k(i)}(x) - R_i} and q+{mu_{-k(i)}(x) + R_i}."""
    X = rng.normal(size=(n, 2))
    y, new = X[:, 0] + rng.normal(size=n), rng.normal(size=(3, 2))
    model = CalibratedRegressor(LinearRegression(), ConformalCalibrator(), cv=cv, ensemble=True).fit(X, y)
    law = model.predict_dist(new)
    for x, (low, high) in zip(new, law.interval(LEVEL), strict=True):
        lower, upper = [], []
        for train, test in cv.split(X):
            fold = LinearRegression().fit(X[train], y[train])
            for i in test:
                at, r = fold.predict(x[None])[0], abs(y[i] - fold.predict(X[i : i + 1])[0])
                lower.append(at - r)
                upper.append(at + r)
        assert low == pytest.approx(rank(lower, math.floor(round((1 - LEVEL) * (n + 1), 9))), abs=1e-12)
        assert high == pytest.approx(rank(upper, math.ceil(round(LEVEL * (n + 1), 9))), abs=1e-12)
    assert np.isinf(law.interval(0.99)).all() and "1 - 2(1 - c)" in law.guarantee
    assert law[:2].interval(LEVEL).tolist() == law.interval(LEVEL)[:2].tolist()


def test_counts_are_held_by_the_least_interval_that_holds_them(rng):
    rate = rng.uniform(1, 9, N)
    y = rng.poisson(rate).astype(float)
    found = ConformalCalibrator(**PLAIN).fit(Poisson(rate), y).transform(Poisson(rate)).interval(LEVEL)
    sizes = np.linspace(0, 4, 4001)
    low, high = (Poisson(rate).from_normal(side * sizes[None, :]) for side in (-1, 1))
    held = ((low <= y[:, None]) & (y[:, None] <= high)).sum(axis=0)
    least = np.argmax(held >= math.ceil(LEVEL * (N + 1)))
    np.testing.assert_array_equal(found, np.column_stack([low[:, least], high[:, least]]))
    assert ((found[:, 0] <= y) & (y <= found[:, 1])).sum() >= math.ceil(LEVEL * (N + 1))


def test_the_law_has_the_ranks_as_its_quantiles(data):
    mu, sigma, y = data
    cal = ConformalCalibrator(map="ecdf").fit(StudentT(mu, sigma, 4.0), y)
    s = np.sort(np.abs(StudentT(mu, sigma, 4.0).to_normal(y)))
    law = cal.transform(StudentT([0.0], 1.0, 4.0))
    levels = 0.5 + 0.5 * np.arange(1, N + 1) / (N + 1)
    expected = StudentT([0.0], 1.0, 4.0).from_normal(s[None, :])
    np.testing.assert_allclose(law.quantiles(levels), expected, rtol=1e-9)
    assert law.median()[0] == pytest.approx(0, abs=1e-9) and ndtri(levels[0]) > 0
