"""The standard splits: one ``csv.gz`` a set, features, the target ``y`` and a mask of test rows a split."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

Array = NDArray[np.float64]
MOST_ROWS = 8_000  # to train on
ENDING = ".csv.gz"
BUNDLED = "diabetes"  # for the quick run: scikit-learn's
_BUNDLED_ROWS = 150


class Part(NamedTuple):
    """Rows to train on and rows to test on."""

    X: Array
    y: Array
    X_new: Array
    y_new: Array

    @property
    def whole(self) -> bool:
        """Whether outcomes are whole numbers, so that only their masses are comparable."""
        return bool(np.all(np.concatenate([self.y, self.y_new]) % 1 == 0))


def split_folder(folder: Path) -> Path:
    """The folder itself, or the one named uci in it, whichever has sets.

    Raises
    ------
    FileNotFoundError
        If neither has any.
    """
    for place in (folder / "uci", folder):
        if sets_in(place):
            return place
    raise FileNotFoundError(f"`{folder}` has no sets with standard splits, columns y and test_0. Pass --data FOLDER.")


def sets_in(folder: Path) -> list[str]:
    """Names of the sets that have standard splits."""
    return [path.name.removesuffix(ENDING) for path in sorted(folder.glob(f"*{ENDING}")) if _has_splits(path)]


def part(folder: Path | None, name: str, split: int) -> Part:
    """One split of a set; of very many training rows the first ones of a random order."""
    columns, X, y = _table(folder, name)
    test = columns[f"test_{split}"]
    train = np.flatnonzero(~test)
    if len(train) > MOST_ROWS:
        train = np.sort(np.random.default_rng(split).permutation(train)[:MOST_ROWS])
    return Part(X[train], y[train], X[test], y[test])


def _table(folder: Path | None, name: str) -> tuple[dict[str, NDArray[np.bool_]], Array, Array]:
    if folder is None:
        bundle = load_diabetes()
        masks = {f"test_{k}": np.arange(_BUNDLED_ROWS) % 5 == k for k in range(5)}
        return masks, bundle.data[:_BUNDLED_ROWS], bundle.target[:_BUNDLED_ROWS]
    frame = pd.read_csv(folder / f"{name}{ENDING}")
    masks = {column: frame.pop(column).to_numpy() > 0 for column in list(_masks(frame))}
    y = frame.pop("y").to_numpy(np.float64)
    return masks, frame.to_numpy(np.float64), y


def _masks(frame: pd.DataFrame) -> Iterator[str]:
    return (column for column in frame if str(column).startswith("test_"))


def _has_splits(path: Path) -> bool:
    return {"y", "test_0"} <= set(pd.read_csv(path, nrows=0).columns)
