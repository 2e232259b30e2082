"""Who is trained on what: thinned splits, inner folds, out-of-fold and test forecasts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from ..data import BLOCK, Dataset, Split, splits, time_folds
from .bases import RememberedNormal

Array = NDArray[np.float64]

MAX_TRAIN, MAX_TEST, FOLDS = 4000, 4000, 5


@dataclass(frozen=True, slots=True, eq=False)
class Forecasts:
    """Normal forecasts with their outcomes."""

    mean: Array
    std: Array
    y: Array


def thinned_splits(dataset: Dataset, n_splits: int, seed: int = 0, *, block: float = BLOCK) -> Iterator[Split]:
    """The splits with at most MAX_TRAIN and MAX_TEST rows, drawn at random and kept in order."""
    for number, split in enumerate(splits(dataset, n_splits, seed, block=block)):
        random = np.random.default_rng([seed, number])
        yield Split(_thin(split.train, MAX_TRAIN, random), _thin(split.test, MAX_TEST, random))


def _thin(rows: NDArray[np.intp], most: int, random: np.random.Generator) -> NDArray[np.intp]:
    return rows if len(rows) <= most else rows[np.sort(random.permutation(len(rows))[:most])]


def inner_folds(dataset: Dataset, train: NDArray[np.intp]) -> Sequence[Split]:
    """Five folds of the training rows: random, or rolling where time matters."""
    if dataset.time is not None:
        return time_folds(dataset.time[train], FOLDS)
    return [Split(*fold) for fold in KFold(FOLDS).split(train)]


def forecasts(dataset: Dataset, base: Any, split: Split) -> tuple[Forecasts, Forecasts]:
    """Out-of-fold forecasts of the training rows, and the refitted base's forecasts of the test rows."""
    X, y = dataset.X[split.train], dataset.y[split.train]
    folds = inner_folds(dataset, split.train)
    parts = [_predict(clone(base).fit(X[fold.train], y[fold.train]), X[fold.test]) for fold in folds]
    mean, std = (np.concatenate(part) for part in zip(*parts, strict=True))
    outcomes = np.concatenate([y[fold.test] for fold in folds])
    test_mean, test_std = _predict(clone(base).fit(X, y), dataset.X[split.test])
    if np.isnan(std).all():
        spread = np.sqrt(np.mean((outcomes - mean) ** 2))
        std, test_std = np.full_like(mean, spread), np.full_like(test_mean, spread)
    return Forecasts(mean, std, outcomes), Forecasts(test_mean, test_std, dataset.y[split.test])


def _predict(model: Any, X: Array) -> tuple[Array, Array]:
    if isinstance(model, RememberedNormal):
        mean, std = model.predict(X, return_std=True)
        return mean, std
    mean = model.predict(X)
    return mean, np.full_like(mean, np.nan)
