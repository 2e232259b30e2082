"""Who is trained on what: thinned splits and the folds inside their training rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from ..data import BLOCK, Dataset, Split, splits, time_folds

MAX_TRAIN, MAX_TEST, FOLDS = 4000, 4000, 5


def thinned_splits(
    dataset: Dataset,
    n_splits: int,
    seed: int = 0,
    *,
    block: float = BLOCK,
    most: tuple[int | None, int | None] = (MAX_TRAIN, MAX_TEST),
) -> Iterator[Split]:
    """The splits with at most so many rows to train and to test on, drawn at random and kept in order; None is all."""
    for number, split in enumerate(splits(dataset, n_splits, seed, block=block)):
        random = np.random.default_rng([seed, number])
        yield Split(_thin(split.train, most[0], random), _thin(split.test, most[1], random))


def _thin(rows: NDArray[np.intp], most: int | None, random: np.random.Generator) -> NDArray[np.intp]:
    return rows if most is None or len(rows) <= most else rows[np.sort(random.permutation(len(rows))[:most])]


def inner_folds(dataset: Dataset, train: NDArray[np.intp]) -> Sequence[Split]:
    """Five folds of the training rows: random, or rolling where time matters."""
    if dataset.time is not None:
        return time_folds(dataset.time[train], FOLDS)
    return [Split(*fold) for fold in KFold(FOLDS).split(train)]
