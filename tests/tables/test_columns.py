"""What the columns of a table make, and how their roles are kept."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Ensemble, Normal, Quantiles
from calibrant.adapters.class_scores import ClassScores
from calibrant.tables.columns import Columns


def test_forecasts_of_every_kind() -> None:
    one, two = np.array([0.0, 1.0]), np.array([2.0, 3.0])
    law = Columns("normal", ("a", "b")).forecasts([one, two])
    assert isinstance(law, Normal) and law.loc.tolist() == [0, 1] and law.scale.tolist() == [2, 3]
    law = Columns("quantiles", ("a", "b"), (0.1, 0.9)).forecasts([one, two])
    assert isinstance(law, Quantiles) and law.ppf([0.9, 0.1]).tolist() == [2, 1]
    assert isinstance(Columns("samples", ("a", "b")).forecasts([one, two]), Ensemble)
    assert Columns("points", ("a",)).forecasts([one]) is one
    logits = Columns("classes", ("a", "b"), ("no", "yes"), scores_are="logits").forecasts([one, two])
    assert isinstance(logits, ClassScores) and logits.kind == "logits" and list(logits.classes) == ["no", "yes"]


def test_saved_roles_that_are_none() -> None:
    normal = Columns("normal", ("mu", "sigma"), target="y").to_dict()
    for saved in (None, [], {}, {"kind": "normal"}, {"kind": "x", "forecast": []}, {**normal, "more": 1}):
        with pytest.raises(ValueError, match="the columns that the calibrator was fitted to are not known"):
            Columns.from_dict(saved)
