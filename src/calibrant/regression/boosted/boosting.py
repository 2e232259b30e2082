"""Growing trees for the parameters of a likelihood, and how many of them unseen rows want."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array
from ...calibration.pit_watch import effective_rows
from ...numerics.forest import Forest
from .from_lightgbm import forest_of, need_lightgbm
from .objective import Likelihood, stretches

STEP = 20  # rounds between two looks at unseen rows
_PATIENCE = 3  # looks without gain after which no more trees are grown
_BINS = 63  # of a feature: splits lie between them
_SHRINKAGE = 5.0  # rows' worth of curvature by which a leaf is held back
_FEATURES, _ROWS = 0.7, 0.8  # shares that each tree sees
_FEW = 3  # features that differ between rows; so few are all seen, else some trees see none

Folds = NDArray[np.intp]


class Sample(NamedTuple):
    """Standardised scores, their weights, the features (n, d) and the fold of each."""

    u: Array
    weights: Array
    x: Array
    fold: Folds


@dataclass(frozen=True)
class Growth:
    """How trees are grown; see `BoostedCalibrator`."""

    rounds: int
    rate: float
    leaves: int
    min_rows: int
    nu: float | None
    seed: int
    threads: int


class Boosted(NamedTuple):
    """Rounds chosen, the mean forest of the folds, its k stretches, unseen parameters (n, k) and the gain in nats."""

    rounds: int
    forest: Forest
    stretch: Array
    unseen: Array
    gain: float


class _Grower:
    """The model of one fold, and what it says of the rows that it has not seen."""

    def __init__(self, data: Any, sample: Sample, fold: int, how: Growth, kind: Likelihood) -> None:
        lightgbm = need_lightgbm()
        train = np.flatnonzero(sample.fold != fold)
        self.test = np.flatnonzero(sample.fold == fold)
        self.u, self.weights, self.kind = sample.u[train], sample.weights[train, None], kind
        self.x = sample.x[self.test]
        settings = _settings(how, sample.x[train], kind.n_outputs)
        self.model = lightgbm.Booster(settings, data.subset(train.tolist(), params=settings))
        self.said, self.looks = np.zeros((len(self.test), kind.n_outputs)), [0]

    def grow(self) -> Array:
        """Parameters of the unseen rows after some more rounds."""
        before = self.model.current_iteration()
        for _ in range(STEP):
            self.model.update(fobj=self._slopes)
        after = self.model.current_iteration()
        if after > before:
            more = self.model.predict(
                self.x, start_iteration=before, num_iteration=after - before, raw_score=True, num_threads=1
            )
            self.said = self.said + more.reshape(self.said.shape)
        self.looks.append(after)
        return self.said

    def _slopes(self, parameters: Array, _: Any) -> tuple[Array, Array]:
        slope, curvature = self.kind.slopes(self.u, parameters.reshape(len(self.u), -1))
        return (slope * self.weights).ravel(order="F"), (curvature * self.weights).ravel(order="F")


def boost(sample: Sample, sizes: NDArray[np.intp], how: Growth, kind: Likelihood) -> Boosted:
    """Trees of all folds together, as many rounds as unseen rows want; 0 unless their gain is clear.

    ``sizes`` are the numbers of categories of the features.
    """
    growers = _growers(sample, sizes, how, kind)
    none = np.zeros((len(sample.u), kind.n_outputs))
    best, unseen, mean = 0, none, [_mean(sample, none, kind)]
    while len(mean) <= how.rounds // STEP and len(mean) - 1 - best < _PATIENCE:
        said = np.empty(none.shape)
        for grower in growers:
            said[grower.test] = grower.grow()
        mean.append(_mean(sample, said, kind))
        if mean[-1] < mean[best]:
            best, unseen = len(mean) - 1, said
    gain = kind.losses(sample.u, none) - kind.losses(sample.u, unseen)
    if not best or not is_clear(gain, sample.weights, kind.errors):
        return nothing(len(none), sizes, kind.n_outputs)
    forest = forest_of([(grower.model, grower.looks[best]) for grower in growers], sizes, kind.n_outputs)
    stretch = stretches(sample.u, unseen, sample.weights, kind)
    return Boosted(STEP * best, forest, stretch, stretch * unseen, mean[0] - mean[best])


def nothing(rows: int, sizes: NDArray[np.intp], outputs: int = 2) -> Boosted:
    """No trees."""
    return Boosted(0, forest_of([], sizes, outputs), np.ones(outputs), np.zeros((rows, outputs)), 0.0)


def is_clear(gain: Array, weights: Array, errors: float = 1.0) -> bool:
    """Whether the mean gain is more than so many of its standard errors."""
    mean = np.average(gain, weights=weights)
    spread = np.sqrt(np.average(np.square(gain - mean), weights=weights))
    return bool(mean > errors * spread / np.sqrt(effective_rows(weights)))


def _growers(sample: Sample, sizes: NDArray[np.intp], how: Growth, kind: Likelihood) -> list[_Grower]:
    lightgbm = need_lightgbm()
    data = lightgbm.Dataset(
        sample.x,
        label=sample.u,
        categorical_feature=np.flatnonzero(sizes).tolist(),
        params=_settings(how, sample.x, kind.n_outputs),
        free_raw_data=False,
    ).construct()
    return [_Grower(data, sample, fold, how, kind) for fold in range(int(sample.fold.max()) + 1)]


def _settings(how: Growth, x: Array, outputs: int) -> dict[str, Any]:
    fewest = min(how.min_rows, max(3, len(x) // 20))
    varying = np.count_nonzero([len(np.unique(column)) > 1 for column in x.T])
    return {
        "objective": "none",
        "num_class": outputs,
        "boost_from_average": False,
        "learning_rate": how.rate,
        "num_leaves": how.leaves,
        "min_data_in_leaf": fewest,
        "min_data_per_group": fewest,
        "min_sum_hessian_in_leaf": 1e-3,
        "lambda_l2": _SHRINKAGE,
        "feature_fraction": _FEATURES if varying > _FEW else 1.0,
        "bagging_fraction": _ROWS,
        "bagging_freq": 1,
        "max_bin": _BINS,
        "seed": how.seed,
        "deterministic": True,
        "force_col_wise": True,
        "feature_pre_filter": False,
        "num_threads": how.threads,
        "verbosity": -1,
    }


def _mean(sample: Sample, parameters: Array, kind: Likelihood) -> float:
    return float(np.average(kind.losses(sample.u, parameters), weights=sample.weights))
