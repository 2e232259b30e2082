"""Labels travel with the scores: order and names of columns change no measure and no calibrated probability."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from calibrant import AutoCalibrator, PlattCalibrator, metrics
from calibrant.adapters.class_scores import ClassScores
from calibrant.classification.decisions import DecisionCalibrator
from calibrant.classification.roc import ConcavityRepair
from calibrant.displays import ROCDisplay
from tests.common.test_score_calibrators import CALIBRATORS, several
from tests.metrics.class_measures import ANY_NUMBER, NEED_TWO_CLASSES, PROBABILITIES, numbers

NAMES = {
    "yes and no": ["yes", "no"],
    "sizes": ["small", "medium", "large"],
    "numbers": list(range(12)),
    "texts of numbers": [str(k) for k in range(12)],
    "unicode": ["süß", "日本", "Ελλάδα"],
    "shifted": [3, 1, 2],
}
FORMS = {
    "pandas": lambda p, names: pd.DataFrame(p, columns=pd.Index(names, dtype=object)),
    "pandas, prefixed": lambda p, names: pd.DataFrame(p, columns=[f"p_{name}" for name in names]),
    "polars": lambda p, names: pl.DataFrame(dict(zip(map(str, names), p.T, strict=True))),
    "polars, prefixed": lambda p, names: pl.DataFrame({f"prob_{n}": c for n, c in zip(names, p.T, strict=True)}),
    "scores": lambda p, names: ClassScores(p, classes=names),
}
MEASURES = sorted(set(ANY_NUMBER) - {"class_sharpness"})
OF_ORDER = {name for name in MEASURES if "ece" in name and name != "ece_class_wise"}  # ties go to the first column
OF_ORDER |= {"ranked_probability_score"}  # columns are in the order of the classes
every_form = pytest.mark.parametrize("form", FORMS)
every_name = pytest.mark.parametrize("labels", NAMES)


def problem(labels, rng, n=400):
    """Probabilities with their columns in the order of the names, labels of the rows, and the names."""
    names = NAMES[labels]
    p, y = several(rng, n, len(names))
    return p, y, names


def turned(names, rng):
    order = rng.permutation(len(names))
    return order if (order != np.arange(len(names))).any() else order[::-1]


@pytest.fixture(scope="module")
def known():
    """What is said of plain arrays, by measure or calibrator and labels: every form has the same rows."""
    return {}


@every_form
@every_name
@pytest.mark.parametrize("measure", MEASURES)
def test_measures(measure, labels, form, rng, known):
    p, y, names = problem(labels, rng, 120)
    if len(names) > 2 or measure not in NEED_TWO_CLASSES:
        y[y == 1] = 0  # a class without rows
    if (measure, labels) not in known:
        known[measure, labels] = numbers(ANY_NUMBER[measure](np.array(names)[y], p, classes=names))
    expected = known[measure, labels]
    order = turned(names, rng)
    frame = FORMS[form](p[:, order], [names[k] for k in order])
    found = numbers(ANY_NUMBER[measure](np.array(names)[y], frame))
    if measure not in OF_ORDER:
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)
    same = numbers(ANY_NUMBER[measure](np.array(names)[y], FORMS[form](p, names)))
    np.testing.assert_allclose(same, expected, rtol=1e-7, atol=1e-10)


@every_form
@every_name
@pytest.mark.parametrize("name", ["platt", "temperature", "isotonic", "dirichlet"])
def test_calibrators(name, labels, form, rng, known):
    p, y, names = problem(labels, rng)
    if len(names) > 2:
        y[y == 1] = 0
    labels_of_rows = np.array(names)[y]
    if (name, labels) not in known:
        known[name, labels] = clone(CALIBRATORS[name]).fit(p, labels_of_rows, classes=names).transform(p)
    expected = known[name, labels]
    order = turned(names, rng)
    frame = FORMS[form](p[:, order], [names[k] for k in order])
    calibrator = clone(CALIBRATORS[name]).fit(frame, labels_of_rows)
    assert calibrator.classes_.tolist() == [names[k] for k in order]
    np.testing.assert_allclose(calibrator.transform(frame), expected[:, order], rtol=0, atol=1e-8)
    other = calibrator.transform(FORMS[form](p[:, ::-1], names[::-1]))  # in another order than when it was fitted
    np.testing.assert_allclose(other, expected[:, order], rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", CALIBRATORS)
def test_columns_that_are_no_labels_are_an_error(name, rng):
    p, y = several(rng, 60)
    frame = pd.DataFrame(p, columns=["p_cat", "p_dog", "p_cow"])
    with pytest.raises(ValueError, match=r"`y` must be one of the columns of `scores`, 'cat', 'dog', 'cow'; .* = '\d'"):
        clone(CALIBRATORS[name]).fit(frame, y)
    calibrator = clone(CALIBRATORS[name]).fit(p, y)
    with pytest.raises(ValueError, match="`classes_` must be one of the columns of `scores`, 'cat', 'dog', 'cow'"):
        calibrator.transform(frame)
    np.testing.assert_array_equal(
        clone(CALIBRATORS[name]).fit(frame, y, classes=[0, 1, 2]).transform(p), calibrator.transform(p)
    )


@pytest.mark.parametrize("measure", sorted(set(PROBABILITIES) - {"class_sharpness"}))
def test_measures_refuse_columns_that_are_no_labels(measure, rng):
    p, y = several(rng, 60, 2)
    frame = pd.DataFrame(p, columns=["p_cat", "p_dog"])
    with pytest.raises(ValueError, match="`y_true` must be one of the columns of `y_proba`, 'cat', 'dog'; 60 of 60"):
        PROBABILITIES[measure](y, frame)


def test_decisions(rng):
    p, y = several(rng)
    names = np.array(["z", "x", "y"])
    frame = pd.DataFrame(p, columns=[f"p_{name}" for name in names])
    expected = DecisionCalibrator("accuracy").fit(p, names[y], classes=names).predict(p)
    model = DecisionCalibrator("accuracy").fit(frame[["p_y", "p_z", "p_x"]], names[y])
    np.testing.assert_array_equal(model.predict(frame), expected)


ONE = {
    "frame": lambda p, name: pd.DataFrame({name: p}),
    "pandas": lambda p, name: pd.Series(p, name=name),
    "polars": lambda p, name: pl.Series(name, p),
}


@pytest.mark.parametrize("form", ONE)
@pytest.mark.parametrize("prefix", ["", "p_"])
def test_a_single_column_is_the_class_that_it_is_named_after(prefix, form, rng):
    p, y = several(rng, 300, 2)
    labels = np.array(["yes", "no"])[y]
    frame = pd.DataFrame(p, columns=["yes", "no"])
    expected = metrics.log_loss(labels, frame)
    calibrator = PlattCalibrator().fit(frame, labels)
    for k, name in enumerate(["yes", "no"]):
        one = ONE[form](p[:, k], f"{prefix}{name}")
        assert metrics.log_loss(labels, one) == pytest.approx(expected, rel=1e-12)
        fitted = PlattCalibrator().fit(one, labels)
        assert fitted.classes_.tolist() == [["no", "yes"], ["yes", "no"]][k]
        np.testing.assert_allclose(fitted.transform(frame)[:, 1], calibrator.transform(frame)[:, k], atol=1e-9)
        np.testing.assert_allclose(calibrator.transform(one), calibrator.transform(frame), atol=1e-9)
    other = ONE[form](p[:, 0], "p_hat")  # no label: the second in sorted order
    assert metrics.log_loss(labels, other) == pytest.approx(expected, rel=1e-12)


def test_numbers_do_not_name_a_single_column(rng):
    p, y = several(rng, 300, 2)
    assert metrics.log_loss(y + 1, pd.DataFrame(p)[1]) == metrics.log_loss(y + 1, p)


def test_the_choice_of_leaving_them_alone(rng):
    p = rng.dirichlet(np.ones(3), 500)
    y = (p.cumsum(axis=1) > rng.random((500, 1))).argmax(axis=1)
    names = np.array(["z", "x", "y"])
    frame = pd.DataFrame(p, columns=[f"p_{name}" for name in names])
    auto = AutoCalibrator([PlattCalibrator()]).fit(frame, names[y])
    assert auto.best_ == "none"
    turned = auto.transform(frame[["p_y", "p_z", "p_x"]])
    np.testing.assert_allclose(turned, auto.transform(frame), rtol=0, atol=1e-12)


def test_curves_of_two_classes(rng):
    p, y = several(rng, 300, 2)
    labels = np.array(["yes", "no"])[y]
    frame = pd.DataFrame({"p_yes": p[:, 0], "p_no": p[:, 1]})
    one, other = frame, frame[["p_no", "p_yes"]]
    repair = ConcavityRepair().fit(one, labels)
    assert repair.classes_.tolist() == ["yes", "no"]
    np.testing.assert_allclose(repair.transform(other), repair.transform(one))
    areas = [ROCDisplay.from_predictions(labels, scores).auc for scores in (one, other)]
    assert areas[0] == pytest.approx(areas[1], abs=1e-12) and areas[0] > 0.7
