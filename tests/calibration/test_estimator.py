"""What the calibrated regressor and the calibrated classifier share."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from calibrant import CalibratedClassifier, CalibratedRegressor
from calibrant.calibration.estimator import CalibratedEstimator
from calibrant.calibration.same_rows import SameRowsWarning, _held_rows, warn_if_seen

X = np.random.default_rng(0).normal(size=(60, 2))
X = X[np.argsort(X[:, 0])]
Y = X[:, 0] + 0.1
OVERLAP = [(np.arange(60), np.arange(30)), (np.arange(60), np.arange(30, 60))]


@pytest.mark.parametrize(
    ("model", "y", "options"),
    [
        (CalibratedRegressor(cv="same"), Y, {}),
        (CalibratedRegressor(cv=OVERLAP), Y, {}),
        (CalibratedRegressor(FrozenEstimator(BayesianRidge().fit(X, Y))), Y, {}),
        (CalibratedRegressor(FrozenEstimator(KNeighborsRegressor().fit(X, Y))), Y, {}),
        (CalibratedRegressor(KNeighborsRegressor()), Y, {"sample_weight": np.ones(60)}),
        (CalibratedRegressor(), Y[:, None], {}),
        (CalibratedClassifier(cv="same"), Y > 0, {}),
        (CalibratedClassifier(cv=KFold(5), ensemble=True), Y > 0, {}),
    ],
)
def test_warnings_point_at_the_caller(model, y, options):
    with pytest.warns(UserWarning, match=".") as caught:
        model.fit(X, y, **options)
    assert {warning.filename for warning in caught} == {__file__}


def test_parameters_come_in_one_order():
    shared = list(inspect.signature(CalibratedEstimator.__init__).parameters)
    for kind, own in ((CalibratedRegressor, {"levels", "online"}), (CalibratedClassifier, {"decision"})):
        assert [name for name in inspect.signature(kind.__init__).parameters if name not in own] == shared


def test_half_of_the_rows_may_be_seen_by_chance(recwarn):
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    model = KNeighborsRegressor(1).fit(X[:10], y[:10])
    warn_if_seen(model, X, hits_all=False)  # ten of twenty
    assert not recwarn
    with pytest.warns(SameRowsWarning, match="53% of the rows"):
        warn_if_seen(model, X[:19], hits_all=False)


def test_rows_of_another_shape_are_not_those_that_were_seen():
    X = np.arange(20.0)[:, None]
    model = KNeighborsRegressor(1).fit(X, X[:, 0])
    assert _held_rows(model, X) == 1 and _held_rows(model, np.hstack([X, X])) == 0 and _held_rows(model, X[:, 0]) == 0
    assert _held_rows(model, np.array([["a"], ["b"]])) == 0  # texts
