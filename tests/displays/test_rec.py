from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from calibrant import Normal, metrics
from calibrant.displays import RECDisplay


@pytest.fixture
def case(rng):
    x = rng.normal(0, 2, 300)
    return x + rng.normal(0, 1, 300), x


def test_the_curve_as_defined(case, rng) -> None:
    (y, x), w = case, rng.integers(0, 3, 300)
    for weight in (np.ones(300), w):
        display = RECDisplay.from_predictions(y, x, sample_weight=weight)
        for tolerance, share in zip(display.tolerances, display.shares, strict=True):
            within = sum(weight * (np.abs(y - x) <= tolerance)) / sum(weight)
            assert share == pytest.approx(within, rel=1e-12)
        assert display.area == pytest.approx(metrics.mae(y, x, sample_weight=weight))
        over = np.sum(np.diff(display.tolerances) * (1 - display.shares[:-1]))
        assert over == pytest.approx(display.area)
        mean = np.average(y, weights=weight)
        assert display.null_area == pytest.approx(np.average(np.abs(y - mean), weights=weight))


def test_laws_give_their_medians(case) -> None:
    y, x = case
    law = RECDisplay.from_predictions(y, Normal(x, 2.0))
    np.testing.assert_allclose(law.shares, RECDisplay.from_predictions(y, x).shares)


def test_many_rows_are_thinned(rng) -> None:
    y, x = rng.normal(size=(2, 20_000))
    display = RECDisplay.from_predictions(y, x)
    assert len(display.shares) == 2048 and display.shares[-1] == 1
    assert display.area == pytest.approx(np.abs(y - x).mean())


def test_drawing(case) -> None:
    y, x = case
    first = RECDisplay.from_predictions(y, 0.5 * x, name="before").plot()
    assert first.null_ is not None and first.line_.get_label() == f"before: mean absolute error {first.area:.4g}"
    np.testing.assert_array_equal(first.line_.get_xdata(), first.tolerances)
    second = RECDisplay.from_predictions(y, x).plot(ax=first.ax_, name="after", linestyle=":")
    assert second.null_ is None and len(first.ax_.lines) == 3
    assert second.line_.get_color() != first.line_.get_color() and second.line_.get_linestyle() == ":"
    assert first.ax_.get_xlabel() == "Tolerance" and first.ax_.get_ylim() == (0, 1.02)


def test_from_estimator(case) -> None:
    y, x = case
    model = LinearRegression().fit(x[:, None], y)
    display = RECDisplay.from_estimator(model, x[:, None], y)
    assert display.name == "LinearRegression"
    assert display.area == pytest.approx(metrics.mae(y, model.predict(x[:, None])))


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="one entry per forecast; got 1 for 2"):
        RECDisplay.from_predictions([1.0], [1.0, 2.0])
