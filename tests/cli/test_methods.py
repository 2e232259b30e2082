"""The names of calibrators on the command line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calibrant import GroupedCalibrator, PlattCalibrator
from calibrant.cli.methods import calibrator_of, candidates_for, listed
from calibrant.select.methods import methods_for, methods_with_features
from calibrant.tables.columns import Columns

NORMAL = Columns("normal", ("mu", "sigma"), target="y")
CLASSES = Columns("classes", ("a", "b"), ("x", "y"))
KINDS = {"distributions": NORMAL, "points": Columns("points", ("a",)), "scores": CLASSES}


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_can_be_asked_for(kind: str) -> None:
    columns = KINDS[kind]
    for name, make in methods_for(kind).items():
        features = ("price",) if name in methods_with_features(kind) else ()
        called, made = calibrator_of(name.upper(), replace(columns, feature=features))
        assert called == name and type(made) is type(make()) and name in listed(kind)
    assert calibrator_of(None, columns)[0] == next(iter(methods_for(kind)))
    with pytest.raises(ValueError, match=r"method 'sclae' is not known.*; these are: "):
        calibrator_of("sclae", columns)


def test_methods_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="method 'stack' is not for class probabilities; these are: auto, temperature"):
        calibrator_of("stack", CLASSES)
    with pytest.raises(ValueError, match="method 'point' gives numbers"):
        candidates_for(KINDS["points"], ["point"])


def test_features_decide_the_default() -> None:
    featured = replace(NORMAL, feature=("price",))
    assert calibrator_of(None, featured)[0] == "boosted" and list(candidates_for(featured, ["scale"])) == ["scale"]
    with pytest.raises(ValueError, match="'scale' uses no features; leave feature= out, or say method='boosted'"):
        calibrator_of("scale", featured)
    with pytest.raises(ValueError, match=r"'boosted' needs features; say feature=\['COLUMN'\] for each, or feature="):
        candidates_for(NORMAL, ["boosted"])
    classes = replace(CLASSES, feature=("price",))
    assert [calibrator_of(name, classes)[0] for name in (None, "auto")] == ["boosted", "auto"]


def test_groups_get_one_each() -> None:
    name, made = calibrator_of("platt", Columns("classes", ("a", "b"), ("x", "y"), group=("g",)))
    assert name == "platt by group"
    assert isinstance(made, GroupedCalibrator) and isinstance(made.calibrator, PlattCalibrator)
