from __future__ import annotations

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from calibrant.displays import ConfusionDisplay

Y = ["a", "a", "a", "b", "b"]
BEFORE, AFTER = ["a", "b", "b", "b", "b"], ["a", "a", "b", "b", "a"]


def test_tables_are_scikit_learns(rng) -> None:
    y, before, after = rng.integers(0, 4, (3, 200))
    display = ConfusionDisplay.from_predictions(y, before, after)
    np.testing.assert_array_equal(display.tables[0], confusion_matrix(y, before))
    np.testing.assert_array_equal(display.tables[1], confusion_matrix(y, after))
    assert display.classes.tolist() == [0, 1, 2, 3] and display.names == ["before", "after"]


def test_weights_and_order() -> None:
    display = ConfusionDisplay.from_predictions(Y, BEFORE, classes=["b", "a"], sample_weight=[1, 2, 0, 3, 1])
    np.testing.assert_array_equal(display.tables[0], [[4, 0], [2, 1]])
    assert len(display.tables) == 1 and display.names == ["before"]


def test_both_tables_have_all_classes() -> None:
    display = ConfusionDisplay.from_predictions(["a", "b"], ["a", "a"], ["a", "c"])
    assert display.classes.tolist() == ["a", "b", "c"] and display.tables[0].shape == (3, 3)
    display.plot()  # a class without rows, a class never predicted
    assert "0 %" in display.axes_[0].get_yticklabels()[2].get_text()


def test_plot_draws_what_was_computed() -> None:
    display = ConfusionDisplay.from_predictions(Y, BEFORE, AFTER)
    assert display.plot() is display
    np.testing.assert_allclose(display.images_[0].get_array(), [[1 / 3, 2 / 3], [0, 1]])
    np.testing.assert_allclose(display.images_[1].get_array(), [[2 / 3, 1 / 3], [0.5, 0.5]])
    assert display.texts_[0][0][1].get_text() == "2\n67 %" and display.texts_[0][0][1].get_position() == (1, 0)
    assert display.axes_[0].get_title() == "before: accuracy 0.600, macro 0.667"
    predicted = [text.get_text() for text in display.axes_[0].get_xticklabels()]
    real = [text.get_text() for text in display.axes_[0].get_yticklabels()]
    assert predicted == ["a\n20 %", "b\n80 %"] and real == ["a\n60 %", "b\n40 %"]


def test_given_axes_and_many_classes(rng) -> None:
    y, before = rng.integers(0, 26, (2, 500))
    _, axes = plt.subplots(1, 2)
    display = ConfusionDisplay.from_predictions(y, before).plot(ax=axes[1], cmap="Greens")
    assert display.axes_ == [axes[1]] and display.texts_ == [[]] and display.images_[0].get_cmap().name == "Greens"
    with pytest.raises(ValueError, match="`ax` must be one axes for each of the 2 tables; got 1"):
        ConfusionDisplay.from_predictions(Y, BEFORE, AFTER).plot(ax=axes[0])


def test_from_report() -> None:
    part = SimpleNamespace(classes=np.array(["a", "b"]), counts=np.array([[1.0, 2.0], [0.0, 2.0]]))
    display = ConfusionDisplay.from_report(SimpleNamespace(before=part, after=part))
    np.testing.assert_array_equal(display.tables[1], part.counts)
    assert display.names == ["before", "after"]


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 4 for 5"):
        ConfusionDisplay.from_predictions(Y[:4], BEFORE)


def test_a_name_stands_before_those_of_the_tables() -> None:
    y = ["a", "a", "b"]
    display = ConfusionDisplay.from_predictions(y, y, ["a", "b", "b"]).plot(name="tree")
    assert [ax.get_title().partition(":")[0] for ax in display.axes_] == ["tree, before", "tree, after"]
    assert display.ax_ is display.axes_[0]
