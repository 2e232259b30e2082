r"""One loader for every data set of the experiments, and the splits that go with it.

The folder holds one ``csv.gz`` a set (header row, target last), ``MANIFEST.json`` (names, tasks, categorical columns)
and ``README.md``, whose caution column decides two things here: a caution that says *split by time* makes the
set time-ordered, one that says ``log(1+target)`` models the target so. Sets whose caution merely speaks of time are
split at random, as the papers split them, or by time on request. Diabetes comes with scikit-learn and counts as a set.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Task = Literal["regression", "classification"]

VARIABLE = "CALIBRANT_DATA"
BUNDLED = "diabetes"
# numbers that are names: the manifest lists only the string columns as categorical
CODES = {
    "auto_mpg": ("origin",),
    "retail_bakery_daily": ("store", "product"),
    "retail_favorita_family_daily": ("store_nbr",),
}
# columns that tell the series of a panel apart
SERIES = {
    "retail_bakery_daily": ("store", "product"),
    "retail_favorita_family_daily": ("store_nbr", "family"),
}
TEST = 0.25  # of the rows of a random split
PAST = 0.5  # of the time points lie before the first rolling origin
BLOCK = 0.1  # of the time points are tested after each origin


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table ready for scikit-learn: features one-hot, rows of a time-ordered set sorted by time."""

    name: str
    task: Task
    X: Array
    y: NDArray[Any]
    features: tuple[str, ...]
    time: Array | None = None
    """Day or row number, non-decreasing; None where the order of the rows means nothing."""
    groups: NDArray[np.intp] | None = None
    """Which series of a panel a row belongs to; None where there is one series or none."""

    def __len__(self) -> int:
        return len(self.y)

    @property
    def time_ordered(self) -> bool:
        """Whether the set must be split by time."""
        return self.time is not None


class Split(NamedTuple):
    """Rows to train on and rows to test on."""

    train: Rows
    test: Rows


def data_folder(folder: str | Path | None = None) -> Path:
    """The data folder: the argument, or the environment variable CALIBRANT_DATA.

    Raises
    ------
    FileNotFoundError
        If neither names a folder with a ``MANIFEST.json``.
    """
    chosen = folder if folder is not None else os.environ.get(VARIABLE)
    if not chosen:
        raise FileNotFoundError(f"No data folder given. Pass --data FOLDER or set {VARIABLE}.")
    path = Path(chosen)
    if not (path / "MANIFEST.json").is_file():
        raise FileNotFoundError(
            f"`{path}` is not a data folder: it has no MANIFEST.json. Pass --data FOLDER or set {VARIABLE}."
        )
    return path


def regression_sets(folder: str | Path | None = None) -> list[str]:
    """Names of the regression sets in the manifest's order, scikit-learn's diabetes last."""
    return [*_names(folder, "regression"), BUNDLED]


def unsplit_time_series(folder: str | Path | None = None) -> list[str]:
    """Regression sets whose caution speaks of time without asking for a split by time."""
    cautions = _cautions(data_folder(folder))
    known = {name: cautions.get(name, "") for name in _names(folder, "regression")}
    series = {name for name, caution in known.items() if re.search(r"\btime\b", caution)}
    return [name for name in known if name in series and "split by time" not in known[name]]


def classification_sets(folder: str | Path | None = None) -> list[str]:
    """Names of the classification sets in the manifest's order."""
    return _names(folder, "classification")


def load(name: str, folder: str | Path | None = None, *, by_time: bool = False) -> Dataset:
    """Load one set by name; ``by_time`` takes every set whose caution speaks of time as time-ordered.

    Raises
    ------
    ValueError
        If the manifest knows no such set.
    """
    if name == BUNDLED:
        bundle = load_diabetes()
        return Dataset(name, "regression", bundle.data, bundle.target, tuple(bundle.feature_names))
    path = data_folder(folder)
    entries = {entry["name"]: entry for entry in _manifest(path)}
    if name not in entries:
        raise ValueError(f"`name` must be one of {', '.join([*entries, BUNDLED])}; got {name!r}.")
    entry, caution = entries[name], _cautions(path).get(name, "")
    frame = pd.read_csv(path / entry["file"])
    time = _time(frame) if re.search(r"\btime\b" if by_time else r"\bsplit by time\b", caution) else None
    if time is not None:
        order = np.argsort(time, kind="stable")
        frame, time = frame.iloc[order].reset_index(drop=True), time[order]
    target = frame.pop(entry["target"])
    groups = np.asarray(frame.groupby(list(SERIES[name])).ngroup(), dtype=np.intp) if name in SERIES else None
    X, features = _encode(frame, {*entry["categorical_features"], *CODES.get(name, ())})
    logged = f"log(1+{entry['target']})" in caution
    return Dataset(name, entry["task"], X, _target(target, entry["task"], logged), features, time, groups)


def frame_of(name: str, folder: str | Path | None = None) -> pd.DataFrame:
    """Features as the file has them, rows in its order; texts, and numbers that are names, as categories."""
    path = data_folder(folder)
    entry = next(entry for entry in _manifest(path) if entry["name"] == name)
    frame = pd.read_csv(path / entry["file"]).drop(columns=entry["target"])
    texts = {*entry["categorical_features"], *CODES.get(name, ())} & set(frame.columns)
    return frame.astype(dict.fromkeys(texts, "category"))


def splits(dataset: Dataset, n_splits: int = 20, seed: int = 0, *, block: float = BLOCK) -> Iterator[Split]:
    """Random splits, three quarters to train on, or rolling origins for a time-ordered set.

    The rows of a random split come shuffled, so that unshuffled folds of them are random too: many files are sorted by
    a feature. Rolling origins are evenly spaced over the second half of the time points; each trains on all rows before
    its origin and tests on the next ``block`` of the time points, all series together. Neighbouring test blocks overlap
    unless ``block`` is at most ``0.5 / n_splits``; in any case the splits of a time-ordered set are far from
    independent: twenty of them are not twenty samples.
    """
    if dataset.time is not None:
        yield from _rolling(dataset.time, n_splits, block)
        return
    for child in np.random.SeedSequence(seed).spawn(n_splits):
        order = np.random.default_rng(child).permutation(len(dataset))
        held_out = max(1, round(TEST * len(order)))
        yield Split(order[held_out:], order[:held_out])


def time_folds(time: Array, n_folds: int = 5, *, first: float = 0.5) -> list[Split]:
    """Rolling folds inside a training set: each block of time points is predicted from all rows before it.

    The blocks follow each other after the first share of the time points and never cut through one.
    """
    points, place = np.unique(time, return_inverse=True)
    edges = np.linspace(first * len(points), len(points), n_folds + 1).round().astype(int)
    return [Split(np.flatnonzero(place < a), np.flatnonzero((place >= a) & (place < b))) for a, b in pairwise(edges)]


def _rolling(time: Array, n_splits: int, share: float) -> Iterator[Split]:
    points, place = np.unique(time, return_inverse=True)
    block = max(1, round(share * len(points)))
    for origin in np.linspace(PAST * len(points), len(points) - block, n_splits).round().astype(int):
        yield Split(np.flatnonzero(place < origin), np.flatnonzero((place >= origin) & (place < origin + block)))


def _manifest(path: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((path / "MANIFEST.json").read_text(encoding="utf8"))["datasets"]
    return entries


def _names(folder: str | Path | None, task: Task) -> list[str]:
    return [entry["name"] for entry in _manifest(data_folder(folder)) if entry["task"] == task]


def _cautions(path: Path) -> dict[str, str]:
    """The caution column of the README's table, by set."""
    readme = path / "README.md"
    lines = readme.read_text(encoding="utf8").splitlines() if readme.is_file() else []
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.startswith("|")]
    return {row[0]: row[-1] for row in rows if len(row) == 6}


def _time(frame: pd.DataFrame) -> Array:
    """Days since the first date where there is a date column, else the row number."""
    if "date" not in frame:
        return np.arange(len(frame), dtype=np.float64)
    date = pd.to_datetime(frame["date"], format="%Y-%m-%d")
    return np.asarray((date - date.min()) / pd.Timedelta(days=1), dtype=np.float64)


def _encode(frame: pd.DataFrame, categorical: set[str]) -> tuple[Array, tuple[str, ...]]:
    """Numbers stay, dates become calendar features, categories become indicator columns."""
    if "date" in frame:
        date = pd.to_datetime(frame["date"], format="%Y-%m-%d")
        season = 2 * np.pi * date.dt.dayofyear / 365.25
        frame = frame.drop(columns="date").assign(day=_time(frame), weekday=date.dt.dayofweek)
        frame = frame.assign(season_sin=np.sin(season), season_cos=np.cos(season))
        categorical = (categorical - {"date"}) | {"weekday"}
    encoded = pd.get_dummies(frame, columns=[c for c in frame if c in categorical], dtype=np.float64)
    return encoded.to_numpy(np.float64), tuple(str(c) for c in encoded.columns)


def _target(target: pd.Series[Any], task: Task, logged: bool) -> NDArray[Any]:
    if task == "classification":
        codes: NDArray[Any] = np.unique(target.to_numpy(), return_inverse=True)[1]
        return codes
    y = target.to_numpy(np.float64)
    return np.log1p(y) if logged else y
