from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.svm import LinearSVC

from calibrant.displays import ROCDisplay


@pytest.fixture
def case(rng):
    y = rng.random(200) < 0.4
    return y, (y + rng.normal(size=200)).round(1)


def test_the_curve_is_scikit_learns(case, rng) -> None:
    (y, score), w = case, rng.integers(0, 3, 200)
    for weight in (None, w):
        display = ROCDisplay.from_predictions(y, score, sample_weight=weight)
        false, true, _ = roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
        grid = np.column_stack([display.false_positive, display.true_positive])
        np.testing.assert_allclose(
            np.unique(grid, axis=0), np.unique(np.column_stack([false, true]), axis=0), atol=1e-12
        )
        assert display.auc == pytest.approx(roc_auc_score(y, score, sample_weight=weight))


def test_the_hull_is_that_of_isotonic_scores(case) -> None:
    y, score = case
    display = ROCDisplay.from_predictions(y, score)
    points = np.column_stack([display.false_positive, display.true_positive])
    around = ConvexHull(np.vstack([points, [[1, 0]]]))
    corners = points[[v for v in around.vertices if v < len(points)]]
    ours = np.column_stack([display.hull_false_positive, display.hull_true_positive])
    np.testing.assert_allclose(np.unique(ours.round(9), axis=0), np.unique(corners.round(9), axis=0))
    calibrated = IsotonicRegression().fit(score, y).predict(score)
    assert display.hull_auc == pytest.approx(roc_auc_score(y, calibrated)) and display.hull_auc > display.auc
    assert np.all(np.diff(np.diff(ours[:, 1]) / np.maximum(np.diff(ours[:, 0]), 1e-12)) < 0)


def test_the_chosen_threshold() -> None:
    y, score = ["ham", "spam", "ham", "spam"], [0.1, 0.4, 0.6, 0.9]
    assert ROCDisplay.from_predictions(y, score, threshold=0.5).chosen == (0.5, 0.5)
    assert ROCDisplay.from_predictions(y, score, threshold=0.6).chosen == (0.0, 0.5)  # only above it
    assert ROCDisplay.from_predictions(y, score, threshold=-3).chosen == (1.0, 1.0)
    assert ROCDisplay.from_predictions(y, score, threshold=3).chosen == (0.0, 0.0)
    assert ROCDisplay.from_predictions(y, score, label="ham").auc == pytest.approx(0.25)


def test_many_rows_are_thinned_without_moving_the_curve(rng) -> None:
    y = rng.random(50_000) < 0.5
    score = y + rng.normal(size=50_000)
    display = ROCDisplay.from_predictions(y, np.column_stack([-score, score]))
    assert len(display.false_positive) <= 2048 and display.auc == pytest.approx(roc_auc_score(y, score))
    false, true, _ = roc_curve(y, score)
    grid = np.linspace(0.05, 0.95, 19)
    drawn = np.interp(grid, display.false_positive, display.true_positive)
    np.testing.assert_allclose(drawn, np.interp(grid, false, true), atol=2e-3)


def test_plot_draws_what_was_computed(case) -> None:
    display = ROCDisplay.from_predictions(*case, threshold=0.3, name="svm").plot()
    np.testing.assert_array_equal(display.line_.get_xdata(), display.false_positive)
    np.testing.assert_array_equal(display.line_.get_ydata(), display.true_positive)
    np.testing.assert_array_equal(display.hull_.get_ydata(), display.hull_true_positive)
    assert display.point_ is not None and tuple(display.point_.get_xydata()[0]) == display.chosen
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[0] == f"svm: area {display.auc:.3f}, hull {display.hull_auc:.3f}"
    assert labels[1].startswith("threshold 0.3: ") and len(labels) == 2
    second = ROCDisplay.from_predictions(*case).plot(ax=display.ax_, linestyle=":")
    assert second.diagonal_ is None and second.point_ is None and second.line_.get_linestyle() == ":"
    assert second.line_.get_color() != display.line_.get_color()


def test_from_estimator(rng) -> None:
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    for model in (LogisticRegression(), LinearSVC()):
        model.fit(X, y)
        scores = model.decision_function(X)
        display = ROCDisplay.from_estimator(model, X, y, threshold=0.0)
        assert display.auc == pytest.approx(roc_auc_score(y == "yes", scores))
        assert display.name == type(model).__name__
    with pytest.raises(
        TypeError, match="`model` must have predict_proba or decision_function; LinearRegression does not"
    ):
        ROCDisplay.from_estimator(LinearRegression(), X, y)
    three = LogisticRegression().fit(X, rng.integers(0, 3, 300))
    with pytest.raises(ValueError, match="`model` must tell two classes apart; it has 3"):
        ROCDisplay.from_estimator(three, X, y)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="`y_true` must have rows of the class and rows of others"):
        ROCDisplay.from_predictions([1, 0, 1], [0.1, 0.2, 0.3], sample_weight=[1, 0, 1])
    with pytest.raises(ValueError, match="`y_true` must have rows of the class and rows of others"):
        ROCDisplay.from_predictions([1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match=r"`y_score` must be finite; 1 of 2 values is not, first y_score\[0\] = nan"):
        ROCDisplay.from_predictions([1, 0], [np.nan, 0.2])
    with pytest.raises(ValueError, match="`y_score` must have one entry per forecast; got 3 for 2"):
        ROCDisplay.from_predictions([1, 0], [0.1, 0.2, 0.3])
