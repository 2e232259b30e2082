from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from calibrant import metrics
from calibrant.displays import ReliabilityDisplay
from calibrant.displays._envelope import rank_envelope
from calibrant.displays._reliability import frequencies
from calibrant.metrics.classes.forecasts import EventForecasts

Y, P = ["no", "yes", "no", "yes", "yes"], [0.1, 0.3, 0.3, 0.7, 1.0]


@pytest.fixture
def case(rng):
    p = rng.random(600)
    return rng.random(600) < p, p


def is_inside(display: ReliabilityDisplay) -> bool:
    observed = np.interp(display.band_forecast, display.forecast, display.observed)
    return bool(np.all((display.band_low <= observed + 1e-12) & (observed <= display.band_high + 1e-12)))


def test_bins_by_hand() -> None:
    display = ReliabilityDisplay.from_predictions(Y, P, n_bins=5)
    np.testing.assert_allclose(display.forecast, [0.1, 0.3, 0.7, 1.0])
    np.testing.assert_allclose(display.observed, [0, 0.5, 1, 1])
    np.testing.assert_allclose(display.counts, [1, 2, 0, 1, 1])  # p = 1 belongs to the last bin
    np.testing.assert_allclose(display.edges, [0, 0.2, 0.4, 0.6, 0.8, 1])
    assert display.error == pytest.approx((0.1 + 2 * 0.2 + 0.3 + 0) / 5)


def test_bins_are_scikit_learns(case) -> None:
    y, p = case
    for bins, strategy in ((10, "uniform"), ("mass", "quantile")):
        display = ReliabilityDisplay.from_predictions(y, p, n_bins=bins)
        observed, forecast = calibration_curve(y, p, n_bins=10, strategy=strategy)
        np.testing.assert_allclose(display.forecast, forecast, atol=1e-12)
        np.testing.assert_allclose(display.observed, observed, atol=1e-12)
        assert display.error == pytest.approx(metrics.ece(y, p, bins="mass" if bins == "mass" else "width", n_bins=10))


def test_pav_is_isotonic_regression(case) -> None:
    y, p = case
    p = p.round(2)
    display = ReliabilityDisplay.from_predictions(y, p, n_bins="pav")
    expected = IsotonicRegression().fit(p, y).predict(p)
    np.testing.assert_allclose(np.interp(p, display.forecast, display.observed), expected, atol=1e-12)
    assert display.error == pytest.approx(np.abs(expected - p).mean())
    assert len(display.forecast) < len(np.unique(p))


@pytest.mark.parametrize("bins", [10, "mass", "pav"])
@pytest.mark.parametrize("n", [60, 900])
def test_perfect_forecasters_stay_in_the_band_as_often_as_promised(bins, n, rng) -> None:
    p, draws = rng.beta(0.8, 1.5, n), 1000
    band = ReliabilityDisplay.from_predictions(rng.random(n) < p, p, n_bins=bins, coverage=0.9)  # the same for all
    inside, errors = 0, []
    for _ in range(draws):
        curve = frequencies(EventForecasts(p, rng.random(n) < p, None), bins)
        observed = np.interp(band.band_forecast, curve.forecast, curve.observed)
        inside += bool(np.all((band.band_low <= observed + 1e-12) & (observed <= band.band_high + 1e-12)))
        errors.append(curve.error)
    assert inside / draws > 0.9 - 0.03
    if n == 900:  # few rows leave no choice but more
        assert inside / draws == pytest.approx(0.9, abs=0.03)
    assert np.mean(errors) == pytest.approx(band.floor, abs=4 * np.std(errors) / np.sqrt(draws))


@pytest.mark.parametrize("bins", [10, "mass", "pav"])
def test_overconfident_forecasters_leave_the_band(bins, case) -> None:
    y, p = case
    sure = p**3 / (p**3 + (1 - p) ** 3)
    display = ReliabilityDisplay.from_predictions(y, sure, n_bins=bins)
    assert not is_inside(display) and display.error > 3 * display.floor
    at = display.band_forecast
    observed = np.interp(at, display.forecast, display.observed)
    above, below = observed > display.band_high, observed < display.band_low
    assert above[at < 0.4].any() and not below[at < 0.4].any()  # too often where they say seldom
    assert below[at > 0.6].any() and not above[at > 0.6].any()


@pytest.mark.parametrize("bins", [10, "mass", "pav"])
def test_weights_are_frequencies(bins, case, rng) -> None:
    (y, p), w = case, rng.integers(0, 4, 600)
    p = p.round(2)
    weighted = ReliabilityDisplay.from_predictions(y, p, n_bins=bins, sample_weight=w)
    repeated = ReliabilityDisplay.from_predictions(np.repeat(y, w), np.repeat(p, w), n_bins=bins)
    for name in ("forecast", "observed", "counts", "band_low", "band_high", "error", "floor"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9, atol=1e-12)


def test_one_class_and_the_most_probable_one() -> None:
    y, p = ["a", "b", "c", "b"], np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.5, 0.1, 0.4], [0.1, 0.8, 0.1]])
    top = ReliabilityDisplay.from_predictions(y, p, n_bins=2)
    np.testing.assert_allclose([top.forecast[0], top.observed[0]], [0.65, 0.75])
    second = ReliabilityDisplay.from_predictions(y, p, label="b", n_bins=2)
    np.testing.assert_allclose(second.forecast, [0.2, 0.75])
    np.testing.assert_allclose(second.observed, [0, 1])
    first = ReliabilityDisplay.from_predictions(Y, P, label="no", n_bins=2)
    np.testing.assert_allclose(first.forecast, [0.15, 0.9 - 0.1333333333333333], atol=1e-9)


def test_plot_draws_what_was_computed() -> None:
    display = ReliabilityDisplay.from_predictions(Y, P, n_bins=5, name="forest")
    assert display.plot() is display
    np.testing.assert_array_equal(display.line_.get_xydata(), np.column_stack([display.forecast, display.observed]))
    np.testing.assert_array_equal(display.histogram_.get_data().values, display.counts)
    np.testing.assert_array_equal(display.histogram_.get_data().edges, display.edges)
    corners = display.band_.get_paths()[0].vertices[:, 1]
    assert set(display.band_low) | set(display.band_high) <= set(corners)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == [f"forest: error {display.error:.3f}, floor {display.floor:.3f}"]
    assert display.counts_ax_ in display.ax_.child_axes and display.figure_ is display.ax_.figure


def test_two_models_share_the_axes() -> None:
    first = ReliabilityDisplay.from_predictions(Y, P).plot(name="before")
    second = ReliabilityDisplay.from_predictions(Y, P, n_bins="pav").plot(ax=first.ax_, linestyle="--")
    assert second.diagonal_ is None and second.counts_ax_ is first.counts_ax_
    assert first.line_.get_color() != second.line_.get_color() and second.line_.get_linestyle() == "--"
    assert len(first.ax_.lines) == 3 and len(first.ax_.child_axes) == 1
    figure, axes = plt.subplots(1, 2)
    third = ReliabilityDisplay.from_predictions(Y, P).plot(ax=axes[1])
    assert third.ax_ is axes[1] and third.figure_ is figure and not axes[0].lines


def test_from_estimator(rng) -> None:
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, "yes", "no")
    model = LogisticRegression().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, label="no")
    direct = ReliabilityDisplay.from_predictions(y == "no", model.predict_proba(X)[:, 0])
    np.testing.assert_allclose(display.observed, direct.observed)
    assert display.name == "LogisticRegression"
    with pytest.raises(TypeError, match=r"`model` must have predict_proba; LinearSVC does not. Wrap it: Calibrated"):
        ReliabilityDisplay.from_estimator(LinearSVC(), X, y)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="`n_bins` must be one of 'mass', 'pav'; got 'cubic'"):
        ReliabilityDisplay.from_predictions(Y, P, n_bins="cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`label` must be one of the classes 'no', 'yes'; .* label\[0\] = 'maybe'"):
        ReliabilityDisplay.from_predictions(Y, P, label="maybe")
    with pytest.raises(ValueError, match="`coverage` must be strictly between 0 and 1"):
        ReliabilityDisplay.from_predictions(Y, P, coverage=95)
    with pytest.raises(ValueError, match="`n_bins` must be a whole number of at least 1; got 0"):
        ReliabilityDisplay.from_predictions(Y, P, n_bins=0)
    with pytest.raises(ValueError, match="Logits or margins"):
        ReliabilityDisplay.from_predictions(Y, [-1.0, 2, 3, 4, 5])


def test_the_envelope_holds_the_asked_share_of_whole_curves(rng) -> None:
    curves = np.cumsum(rng.normal(size=(2000, 8)), axis=1)
    low, high = rank_envelope(curves, 0.9)
    inside = np.all((low <= curves) & (curves <= high), axis=1).mean()
    assert 0.9 <= inside < 0.91
    below, above = (curves < low).mean(axis=0), (curves > high).mean(axis=0)
    np.testing.assert_allclose(below, above)
    assert np.ptp(below) == 0


def kuleshovs_bin(p, m):
    """Kuleshov et al. (2018), §2.2: [0, 0.1], (0.1, 0.2], ..., for m bins."""
    for j in range(m):
        if p <= (j + 1) / m and (j == 0 or p > j / m):
            return j
    raise AssertionError(p)


class TestClosedOnTheRight:
    P = np.array([0.0, 0.05, 0.1, 0.1, 0.2, 0.3, 0.30001, 0.6, 0.7, 0.7, 0.95, 1.0])
    Y = np.array([0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1])

    @pytest.mark.parametrize("m", [1, 3, 7, 10, 100])
    def test_bins_of_kuleshov(self, m):
        bins = np.array([kuleshovs_bin(p, m) for p in self.P])
        used = np.unique(bins)
        display = ReliabilityDisplay.from_predictions(self.Y, self.P, n_bins=(m, "right"))
        np.testing.assert_allclose(display.forecast, [self.P[bins == j].mean() for j in used])
        np.testing.assert_allclose(display.observed, [self.Y[bins == j].mean() for j in used])
        np.testing.assert_array_equal(display.counts, np.bincount(bins, minlength=m))
        share = np.bincount(bins, minlength=m)[used] / len(self.P)
        assert metrics.ece(self.Y, self.P, bins="right", n_bins=m) == pytest.approx(
            share @ np.abs(display.forecast - display.observed)
        )

    def test_edges_matter_and_the_left_is_the_default(self):
        left, default, right = (
            ReliabilityDisplay.from_predictions(self.Y, self.P, n_bins=n) for n in ((10, "left"), 10, (10, "right"))
        )
        np.testing.assert_array_equal(left.counts, default.counts)
        assert left.counts.tolist() != right.counts.tolist() and right.counts[0] == 4

    def test_refusals(self):
        with pytest.raises(
            ValueError, match=r'`n_bins` must be a number, \(number, "left" or "right"\), "mass" or "pav"'
        ):
            ReliabilityDisplay.from_predictions(self.Y, self.P, n_bins=(10, "up"))
