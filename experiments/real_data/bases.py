"""The three base models, and a memory of what they predicted, so that a change of the calibrator costs no refit."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Array = NDArray[np.float64]


def bases(cache: Path | None) -> dict[str, Any]:
    """Bayesian ridge with its own std; a forest and a booster as point regressors."""
    forest = RandomForestRegressor(n_estimators=100, min_samples_leaf=3, max_features=1 / 3, random_state=0)
    booster = HistGradientBoostingRegressor(random_state=0)
    return {
        "ridge": RememberedNormal(make_pipeline(StandardScaler(), BayesianRidge()), cache),
        "forest": RememberedPoint(forest, cache),
        "boosting": RememberedPoint(booster, cache),
    }


class _Remembered(RegressorMixin, BaseEstimator):
    """Fits when it must predict, and predicts the same rows from the same training rows only once."""

    def __init__(self, model: Any, cache: Path | None = None) -> None:
        self.model = model
        self.cache = cache

    def fit(self, X: Array, y: Array) -> Self:
        """Keep the rows; the model is fitted by the first prediction that is not remembered."""
        self.X_, self.y_, self.n_features_in_ = np.ascontiguousarray(X), np.ascontiguousarray(y), X.shape[1]
        self.fitted_: Any = None
        return self

    def _recall(self, X: Array, **options: Any) -> Array:
        if self.cache is None:
            return self._compute(X, **options)
        digest = hashlib.blake2b(repr((self.model, options, self.X_.shape)).encode(), digest_size=16)
        for array in (self.X_, self.y_, np.ascontiguousarray(X)):
            digest.update(array.tobytes())
        path = Path(self.cache) / f"{digest.hexdigest()}.npy"
        if path.is_file():
            return np.asarray(np.load(path))
        answer = self._compute(X, **options)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        with partial.open("wb") as file:
            np.save(file, answer)
        partial.replace(path)
        return answer

    def _compute(self, X: Array, **options: Any) -> Array:
        if self.fitted_ is None:
            self.fitted_ = clone(self.model).fit(self.X_, self.y_)
        return np.asarray(self.fitted_.predict(X, **options))


class RememberedPoint(_Remembered):
    """A point regressor."""

    def predict(self, X: Array) -> Array:
        """Point predictions."""
        return self._recall(X)


class RememberedNormal(_Remembered):
    """A regressor that also predicts its standard deviation."""

    def predict(self, X: Array, return_std: bool = False) -> Any:
        """Means, and with ``return_std`` the standard deviations too."""
        mean, std = self._recall(X, return_std=True)
        return (mean, std) if return_std else mean
