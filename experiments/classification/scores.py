"""Sets, base classifiers and their cross-fitted scores, remembered in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from calibrant.adapters.class_scores import ClassScores
from calibrant.classification.reading import METHODS, ClassReading, detect

from ..data import classification_sets, load

TEST, MOST_TRAIN, MOST_TEST, FOLDS = 0.3, 3000, 6000, 5
BUNDLED: dict[str, Callable[..., Any]] = {"breast_cancer": load_breast_cancer, "digits": load_digits}
BASES: dict[str, Any] = {
    "naive Bayes": GaussianNB(var_smoothing=1e-3),
    "forest": RandomForestClassifier(100, random_state=0),
    "SVC": make_pipeline(StandardScaler(), SVC()),
    "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
}


@dataclass(frozen=True)
class Cell:
    """Out-of-fold scores to learn from and scores of test rows, with their labels."""

    scores: ClassScores
    y: NDArray[np.intp]
    new: ClassScores
    y_new: NDArray[np.intp]


def sets(folder: Path) -> list[str]:
    """Names of all classification sets."""
    return [*BUNDLED, *classification_sets(folder)]


def cell(name: str, base: str, split: int, folder: Path, cache: Path | None) -> Cell:
    """One split of one set, scored by one base model that never saw the rows it scores."""
    path = None if cache is None else Path(cache) / f"{name}-{base.replace(' ', '_')}-{split}.npz"
    if path is not None and path.is_file():
        return _recalled(path)
    X, y = _table(name, folder)
    train, test = train_test_split(np.arange(len(y)), test_size=TEST, stratify=y, random_state=split)
    train, test = train[:MOST_TRAIN], test[:MOST_TEST]
    method = detect(BASES[base], "auto")
    reading = ClassReading(method, np.unique(y), METHODS[method])
    found = _crossfitted(BASES[base], reading, X[train], y[train])
    refit = clone(BASES[base]).fit(X[train], y[train])
    made = Cell(found, y[train], reading(refit, X[test]), y[test])
    if path is not None:
        _keep(made, path)
    return made


def _crossfitted(model: Any, reading: ClassReading, X: Any, y: Any) -> ClassScores:
    parts = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    scores = [reading(clone(model).fit(X[a], y[a]), X[b]) for a, b in parts]
    values = np.empty((len(y), scores[0].n_classes))
    for (_, rows), part in zip(parts, scores, strict=True):
        values[rows] = part.values
    return ClassScores(values, scores[0].kind)


def _table(name: str, folder: Path) -> tuple[Any, NDArray[np.intp]]:
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return X, y
    dataset = load(name, folder)
    return dataset.X, dataset.y


def _keep(made: Cell, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    with partial.open("wb") as file:
        np.savez(file, a=made.scores.values, b=made.y, c=made.new.values, d=made.y_new, kind=made.scores.kind)
    partial.replace(path)


def _recalled(path: Path) -> Cell:
    with np.load(path) as kept:
        kind = str(kept["kind"])
        return Cell(ClassScores(kept["a"], kind), kept["b"], ClassScores(kept["c"], kind), kept["d"])
