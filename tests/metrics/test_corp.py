from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import log_loss, mean_pinball_loss

from calibrant import Normal, Poisson, metrics
from calibrant.distributions.integrals.expectiles import expectile
from calibrant.numerics.rising import rising_expectiles, rising_quantiles

WEIGHTS = {"plain": np.ones(40, dtype=int), "weighted": np.arange(40) % 3 + 1}


def best_rising(x, y, functional):
    """The max-min formula: of the functionals of all stretches of forecasts around a forecast."""
    known = np.unique(x)
    value = [[functional(y[(x >= a) & (x <= b)]) if a <= b else np.nan for b in known] for a in known]
    rising = [max(min(value[a][b] for b in range(k, len(known))) for a in range(k + 1)) for k in range(len(known))]
    return np.array(rising)[np.searchsorted(known, x)]


def parts(loss, x, y, functional):
    """Miscalibration, discrimination and uncertainty as defined."""
    best, same = best_rising(x, y, functional), np.full(len(y), functional(y))
    return loss(x) - loss(best), loss(same) - loss(best), loss(same)


@pytest.fixture(params=[0.1, 0.5, 0.8])
def level(request):
    return request.param


@pytest.fixture(params=WEIGHTS)
def case(request, rng):
    x = rng.integers(0, 15, 40) / 5  # some forecasts are tied
    return x, np.round(0.6 * x + rng.normal(size=40), 1), WEIGHTS[request.param]


def test_pinball_loss(case, level):
    x, y, weight = case
    given = metrics.pinball_decomposition(y, x, level=level, sample_weight=weight)
    x, y = np.repeat(x, weight), np.repeat(y, weight)
    expected = parts(
        lambda q: mean_pinball_loss(y, q, alpha=level),
        x,
        y,
        lambda some: np.quantile(some, level, method="inverted_cdf"),
    )
    assert given.score == pytest.approx(mean_pinball_loss(y, x, alpha=level), rel=1e-12)
    np.testing.assert_allclose((given.miscalibration, given.discrimination, given.uncertainty), expected, rtol=1e-9)
    assert given.score == pytest.approx(given.miscalibration - given.discrimination + given.uncertainty, rel=1e-12)
    assert given.potential == pytest.approx(given.score - given.miscalibration)


def test_expectile_loss(case, level):
    x, y, weight = case
    given = metrics.expectile_decomposition(y, x, level=level, sample_weight=weight)
    x, y = np.repeat(x, weight), np.repeat(y, weight)

    def loss(e):
        return np.mean([2 * (1 - level if a <= b else level) * (a - b) ** 2 for a, b in zip(y, e, strict=True)])

    expected = parts(loss, x, y, lambda some: stats.expectile(some, level))
    np.testing.assert_allclose((given.miscalibration, given.discrimination, given.uncertainty), expected, rtol=1e-9)
    assert given.score == pytest.approx(loss(x), rel=1e-12)
    if level == 0.5:
        assert given.score == pytest.approx(metrics.mse(y, x)) and given.uncertainty == pytest.approx(np.var(y))


def test_log_loss(case):
    x, y, weight = case
    p, events = (1 + x) / 5, y > 0.7
    given = metrics.log_loss_decomposition(events, p, sample_weight=weight)
    p, events = np.repeat(p, weight), np.repeat(events, weight)
    expected = parts(lambda q: log_loss(events, np.clip(q, 1e-15, 1 - 1e-15)), p, events.astype(float), np.mean)
    np.testing.assert_allclose((given.miscalibration, given.discrimination, given.uncertainty), expected, rtol=1e-9)
    assert given.score == pytest.approx(log_loss(events, p), rel=1e-12)


def test_an_impossible_class_that_came_is_infinite_miscalibration():
    given = metrics.log_loss_decomposition(["no", "yes", "yes"], [0.0, 0.0, 0.9])
    assert given.score == given.miscalibration == np.inf
    assert given.discrimination == pytest.approx(given.uncertainty - 2 / 3 * np.log(2))
    with pytest.raises(ValueError, match="log_loss_decomposition is for two classes; got 3"):
        metrics.log_loss_decomposition([0, 1, 2], np.eye(3))


def test_the_quantiles_and_expectiles_of_laws_are_decomposed(rng):
    mu = rng.normal(size=200)
    y, law = mu + rng.normal(size=200), Normal(mu, 1.0)
    assert metrics.pinball_decomposition(y, law, level=0.9) == metrics.pinball_decomposition(
        y, mu + stats.norm.ppf(0.9), level=0.9
    )
    by_law = metrics.expectile_decomposition(y, law, level=0.9)
    assert by_law.score == pytest.approx(metrics.expectile_decomposition(y, mu + 0.86159, level=0.9).score, rel=1e-4)
    with pytest.raises(ValueError, match="`level` must be strictly between 0 and 1"):
        metrics.pinball_decomposition(y, law, level=1.0)


def test_what_recalibration_mends_is_miscalibration(rng):
    x = rng.normal(size=4000)
    y = x + rng.normal(size=4000)
    right = metrics.pinball_decomposition(y, x + stats.norm.ppf(0.8), level=0.8)
    wrong = metrics.pinball_decomposition(y, x, level=0.8)  # the medians
    assert right.potential == pytest.approx(stats.norm.pdf(stats.norm.ppf(0.8)), abs=0.02)
    assert right.miscalibration < 0.01
    assert wrong.miscalibration == pytest.approx(stats.norm.pdf(0) - stats.norm.pdf(stats.norm.ppf(0.8)), abs=0.02)
    assert wrong.discrimination == pytest.approx(right.discrimination, rel=1e-12)  # the order is all it sees


def test_expectiles_of_laws():
    k = np.arange(80.0)
    for level in (0.03, 0.5, 0.9):
        by_weights = [stats.expectile(k, level, weights=stats.poisson(m).pmf(k)) for m in (0.2, 9.0)]
        np.testing.assert_allclose(expectile(Poisson([0.2, 9.0]), level), by_weights, rtol=1e-9)


@pytest.mark.parametrize("fit", [rising_quantiles, rising_expectiles])
def test_rising_values_are_only_pooled_where_they_fall(fit):
    y = np.array([1.0, 2.0, 5.0, 3.0, 8.0])
    np.testing.assert_allclose(fit(np.arange(5), y, np.ones(5), 0.5)[[0, 1, 4]], [1, 2, 8])
    np.testing.assert_allclose(
        fit(np.zeros(5, dtype=int), y, np.ones(5), 0.5), np.median(y) if fit is rising_quantiles else y.mean()
    )
