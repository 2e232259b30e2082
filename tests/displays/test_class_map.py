from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibrant.displays.class_map import CLASSES, POINTS, ClassMapDisplay


def test_of_two_classes_the_second_is_drawn() -> None:
    _, ax = plt.subplots()
    display = ClassMapDisplay.from_forecasts([0.1, 0.9], [0.3, 0.6], classes=["no", "_yes"]).plot(ax=ax, name="mine")
    assert display.ax_ is ax and ax.get_title() == "mine"
    np.testing.assert_allclose(display.dots_[0].get_xydata(), [[0.1, 0.3], [0.9, 0.6]])
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == ["_yes"]


def test_the_most_probable_of_many_are_drawn(rng: np.random.Generator) -> None:
    before = rng.dirichlet([1, 9, 9, 9, 9, 9, 1, 9], size=5000)
    display = ClassMapDisplay.from_forecasts(before, before[:, ::-1]).plot()
    assert display.classes.tolist() == [1, 2, 3, 4, 5, 7]
    assert len(display.dots_) == CLASSES and display.before.shape == (POINTS // CLASSES, CLASSES)
    np.testing.assert_array_equal(display.before[[0, -1]], before[[0, -1]][:, display.classes])
    np.testing.assert_array_equal(display.after[0], before[0, ::-1][display.classes])
    np.testing.assert_array_equal(
        display.dots_[5].get_xydata(), np.column_stack([display.before, display.after])[:, [5, 11]]
    )


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"shape of `before`; got \(3, 2\) for \(2, 2\)"):
        ClassMapDisplay.from_forecasts([0.1, 0.9], [0.1, 0.9, 0.5])
    with pytest.raises(ValueError, match="name the 2 columns; got 3 names"):
        ClassMapDisplay.from_forecasts([0.1, 0.9], [0.1, 0.9], classes=list("abc"))
