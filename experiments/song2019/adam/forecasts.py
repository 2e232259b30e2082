"""Normal forecasts of the rows that a base was trained on, and of new ones."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import load
from ...real_data.protocol import thinned_splits
from ..table1.cell import ALL, MOST_OF
from ..table1.forecasts import fitted, paper_base

Array = NDArray[np.float64]


class Forecast(NamedTuple):
    """Means, deviations and outcomes of the training rows, and of the test rows."""

    mean: Array
    std: Array
    y: Array
    new_mean: Array
    new_std: Array
    new_y: Array

    def nll(self) -> float:
        """Of the test rows, as they are."""
        z = (self.new_y - self.new_mean) / self.new_std
        return float(np.mean(0.5 * z * z + np.log(self.new_std) + 0.5 * np.log(2 * np.pi)))


def forecast(name: str, base: str, number: int, folder: Path | None, cache: Path | None) -> Forecast:
    """By a base of one split; remembered in a folder where one is given."""
    path = None if cache is None else cache / f"{name}-{base}-{number}.npz"
    if path is not None and path.is_file():
        with np.load(path) as found:
            return Forecast(*(found[key] for key in Forecast._fields))
    made = _made(name, base, number, folder)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **made._asdict())
    return made


def _made(name: str, base: str, number: int, folder: Path | None) -> Forecast:
    dataset = load(name, folder)
    split = list(thinned_splits(dataset, number + 1, most=MOST_OF.get(base, ALL)))[number]
    X, y = dataset.X[split.train], dataset.y[split.train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of length scales at their bounds
        if base == "OLS":  # the deviation is that of out-of-fold residuals
            model = fitted(dataset, paper_base(base, number, None), split)
            laws = [model.predict_dist(rows, calibrated=False) for rows in (X, dataset.X[split.test])]
            pairs = [(law.mean(), law.std()) for law in laws]
        else:
            plain = paper_base(base, number, None).fit(X, y)
            pairs = [plain.predict(rows, return_std=True) for rows in (X, dataset.X[split.test])]
    return _joined(*pairs, y, dataset.y[split.test])


def _joined(old: tuple[Array, Array], new: tuple[Array, Array], y: Array, new_y: Array) -> Forecast:
    return Forecast(*(np.broadcast_to(each, y.shape) for each in old), y, *new, new_y)
