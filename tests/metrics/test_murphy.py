from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

from calibrant import Normal, metrics
from calibrant.displays import MurphyDisplay


def elementary(x, y, theta, kind, level):
    """Ehm et al. (2016): (1{y < x} - a)(1{θ < x} - 1{θ < y}) of quantiles; with φ = (. - θ)+ of expectiles."""
    if kind == "quantile":
        return ((y < x) - level) * (float(theta < x) - float(theta < y))
    return abs((y < x) - level) * (max(y - theta, 0) - max(x - theta, 0) - (y - x) * (theta < x))


@pytest.fixture
def case(rng):
    y = np.round(rng.normal(5, 2, 50), 1)
    return y, np.round(y + rng.normal(0, 1, 50), 1), rng.integers(0, 3, 50)


@pytest.mark.parametrize(("name", "level"), [("mean", None), ("median", None), ("quantile", 0.9), ("expectile", 0.2)])
def test_the_curve_as_published(name, level, case):
    y, x, w = case
    thetas = np.unique(np.concatenate([y, x, np.linspace(-3, 13, 40)]))  # ties with outcomes and forecasts too
    kind = {"mean": "expectile", "median": "quantile"}.get(name, name)
    expected = [
        np.average([elementary(a, b, t, kind, level or 0.5) for a, b in zip(x, y, strict=True)], weights=w)
        for t in thetas
    ]
    curve = metrics.murphy_curve(y, x, functional=name, level=level, thetas=thetas, sample_weight=w)
    np.testing.assert_allclose(curve.scores, expected, atol=1e-13)
    np.testing.assert_array_equal(curve.thetas, thetas)


def test_the_area_is_the_loss(case):
    y, x, _ = case
    thetas = np.linspace(-3, 13, 16_001)
    area = {k: metrics.murphy_curve(y, x, thetas=thetas, **o).scores.sum() / 1000 for k, o in OPTIONS.items()}
    assert area["mean"] == pytest.approx(metrics.mse(y, x) / 4, rel=1e-3)
    assert area["quantile"] == pytest.approx(metrics.pinball_loss(y, quantiles=x[:, None], levels=[0.3]), rel=1e-3)


OPTIONS = {"mean": {}, "quantile": {"functional": "quantile", "level": 0.3}}


def test_laws_and_large_numbers(case):
    y, x, _ = case
    law = metrics.murphy_curve(y, Normal(x, 1.0), functional="quantile", level=0.9)
    point = metrics.murphy_curve(y, x + stats.norm.ppf(0.9), functional="quantile", level=0.9)
    np.testing.assert_allclose(law.scores, point.scores, atol=1e-13)
    far = metrics.murphy_curve(y + 1e9, x + 1e9, thetas=np.linspace(0, 10, 9) + 1e9)
    np.testing.assert_allclose(far.scores, metrics.murphy_curve(y, x, thetas=np.linspace(0, 10, 9)).scores, atol=1e-6)


def excess(spread, theta):
    """E(Z - θ)+ of a normal Z with mean 0."""
    return spread * stats.norm.pdf(theta / spread) - theta * stats.norm.sf(theta / spread)


def test_a_forecaster_who_knows_more_is_better_at_every_threshold(rng):
    known, hidden, noise = rng.normal(size=(3, 20_000))
    y = known + hidden + noise
    display = MurphyDisplay.from_predictions(y, {"more": known + hidden, "less": known}, thetas=30)
    assert (display.scores[0] <= display.scores[1] + 1e-3).all()
    assert display.losses == pytest.approx([1, 2], rel=0.05)
    for scores, spread in zip(display.scores, (2**0.5, 1.0), strict=True):  # x ~ N(0, spread²), y ~ N(0, 3), E(y|x) = x
        expected = 0.5 * (excess(3**0.5, display.thetas) - excess(spread, display.thetas))
        np.testing.assert_allclose(scores, expected, atol=0.01)


def test_drawing(case):
    y, x, w = case
    both = MurphyDisplay.from_predictions(y, {"x": x, "mean": np.full(50, 5.0)}, sample_weight=w).plot()
    curve = metrics.murphy_curve(y, x, thetas=both.thetas, sample_weight=w)
    np.testing.assert_array_equal(both.lines_[0].get_ydata(), curve.scores)
    assert both.lines_[0].get_label() == f"x: squared error {metrics.mse(y, x, sample_weight=w):.4g}"
    third = MurphyDisplay.from_estimator(LinearRegression().fit(x[:, None], y), x[:, None], y)
    third.plot(ax=both.ax_, linestyle=":")
    assert len(both.ax_.lines) == 3 and len({line.get_color() for line in both.ax_.lines}) == 3
    assert third.lines_[0].get_label().startswith("LinearRegression: squared error ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"functional": "mode"}, "`functional` must be one of 'mean', 'median', 'quantile', 'expectile'; got 'mode'"),
        ({"functional": "quantile"}, '`level` must be given with functional="quantile" or "expectile", only; got None'),
        ({"level": 0.5}, "`level` must be given with .* only; got 0.5"),
        ({"functional": "expectile", "level": 90}, "`level` must be strictly between 0 and 1; .* Percent"),
        ({"thetas": [1.0, 1.0]}, r"`thetas` must be increasing; 1 of 2 values is not, first thetas\[1\] = 1.0"),
        ({"thetas": 0}, "`thetas` must be a whole number of at least 1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        metrics.murphy_curve([1.0, 2.0], [1.0, 2.0], **options)
    with pytest.raises(ValueError, match=message):
        MurphyDisplay.from_predictions([1.0, 2.0], [1.0, 2.0], **options)
