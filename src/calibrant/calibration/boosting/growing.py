"""Growing trees for the parameters of a likelihood, and how many of them unseen rows want."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array, count, number
from ...numerics.forest import MOST_LEAVES, Forest
from .from_lightgbm import forest_of, need_lightgbm

STEP = 20  # rounds between two looks at unseen rows
PATIENCE = 5  # looks without gain after which no more trees are grown
_BINS = 63  # of a feature: splits lie between them
_SHRINKAGE = 5.0  # rows' worth of curvature by which a leaf is held back
_FEATURES, _ROWS = 0.7, 0.8  # shares that each tree sees
RATES = (0.05, 0.2)  # where none is given: with many rows larger steps are as good, and trees fewer
_MANY = 120_000  # rows that a model sees, over which its rate is 1 but for those limits
_FEW = 3  # features that differ between rows; so few are all seen, else some trees see none

Rows = NDArray[np.intp]


class Likelihood(Protocol):
    """Outcomes of n rows, whose parameters (n, k) trees say; at 0 forecasts are as they are."""

    @property
    def weights(self) -> Array:
        """Frequencies (n,)."""

    def __getitem__(self, rows: Rows) -> Self:
        """Those of some rows."""

    def losses(self, said: Array) -> Array:
        """Minus the log likelihood of each row, up to a constant."""

    def slopes(self, said: Array) -> tuple[Array, Array]:
        """First derivatives of the losses by the parameters, (n, k), and curvatures above 0."""


class Part(NamedTuple):
    """Rows that a model sees, their likelihood, and the rows that tell how good it is."""

    train: Rows
    seen: Likelihood
    test: Rows


@dataclass(frozen=True)
class Growth:
    """How trees are grown; see the calibrators."""

    rounds: int
    rate: float | None
    leaves: int
    min_rows: int
    seed: int
    threads: int
    patience: int = PATIENCE

    @classmethod
    def of(cls, calibrator: Any, patience: int = PATIENCE) -> Self:
        """What a calibrator's parameters say, checked."""
        leaves = count(calibrator.n_leaves, "n_leaves", least=2)
        if leaves > MOST_LEAVES:
            raise ValueError(f"`n_leaves` must be at most {MOST_LEAVES}; got {leaves}.")
        state = 0 if calibrator.random_state is None else calibrator.random_state
        return cls(
            count(calibrator.n_rounds, "n_rounds", least=STEP),
            None if calibrator.rate is None else number(calibrator.rate, "rate", above=0, below=1),
            leaves,
            count(calibrator.min_rows, "min_rows"),
            int(np.random.default_rng(state).integers(2**31 - 1)),
            1 if calibrator.n_jobs is None else count(calibrator.n_jobs, "n_jobs"),
            patience,
        )


class Grown(NamedTuple):
    """Rounds chosen, the mean forest of the parts, what the models say of unseen rows (n, k), the gain in nats."""

    rounds: int
    forest: Forest
    unseen: Array
    gain: float


class _Grower:
    """The model of one part, and what it says of the rows that it has not seen."""

    def __init__(self, data: Any, x: Array, part: Part, outputs: int, how: Growth) -> None:
        lightgbm = need_lightgbm()
        self.seen, self.weights, self.outputs = part.seen, part.seen.weights[:, None], outputs
        self.x = x[part.test]
        settings = _settings(how, x[part.train], outputs)
        self.model = lightgbm.Booster(settings, data.subset(part.train.tolist(), params=settings))
        self.said, self.looks = np.zeros((len(part.test), outputs)), [0]

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
            self.said = self.said + more.reshape(-1, self.outputs)
        self.looks.append(after)
        return self.said

    def _slopes(self, said: Array, _: Any) -> tuple[Array, Array]:
        slope, curvature = self.seen.slopes(said.reshape(-1, self.outputs))
        slope, curvature = slope * self.weights, curvature * self.weights
        return (slope, curvature) if self.outputs > 1 else (slope[:, 0], curvature[:, 0])


def boost(
    x: Array,
    sizes: Rows,
    parts: Sequence[Part],
    unseen: Likelihood,
    outputs: int,
    rows: float,
    how: Growth,
    errors: float = 1.0,
) -> Grown:
    """Trees of all parts together, as many rounds as unseen rows want; 0 unless their gain is clear.

    Parameters
    ----------
    x : ndarray (m, d)
        Features.
    sizes : ndarray of int (d,)
        Their numbers of categories.
    parts : list of Part
        A model each. The rows that are looked at are those of one of them.
    unseen : Likelihood
        Of all rows that are looked at, in their order.
    outputs : int
        Number of parameters k.
    rows : float
        Number of rows that say as much as those that are looked at, with their weights.
    how : Growth
    errors : float, default 1
        Standard errors that the gain must exceed.
    """
    looked = np.sort(np.concatenate([part.test for part in parts]))
    places = [np.searchsorted(looked, part.test) for part in parts]
    growers = _growers(x, sizes, parts, outputs, how)
    none = np.zeros((len(looked), outputs))
    best, kept, mean = 0, none, [_mean(unseen, none)]
    while len(mean) <= how.rounds // STEP and len(mean) - 1 - best < how.patience:
        said = np.empty(none.shape)
        for grower, place in zip(growers, places, strict=True):
            said[place] = grower.grow()
        mean.append(_mean(unseen, said))
        if mean[-1] < mean[best]:
            best, kept = len(mean) - 1, said
    if not best or not is_clear(unseen.losses(none) - unseen.losses(kept), unseen.weights, rows, errors):
        return nothing(len(looked), sizes, outputs)
    forest = forest_of([(grower.model, grower.looks[best]) for grower in growers], sizes, outputs)
    return Grown(STEP * best, forest, kept, mean[0] - mean[best])


def nothing(rows: int, sizes: Rows, outputs: int) -> Grown:
    """No trees."""
    return Grown(0, forest_of([], sizes, outputs), np.zeros((rows, outputs)), 0.0)


def is_clear(gain: Array, weights: Array, rows: float, errors: float = 1.0) -> bool:
    """Whether the mean gain exceeds so many standard errors; ``rows`` say as much as these with their weights."""
    mean = np.average(gain, weights=weights)
    spread = np.sqrt(np.average(np.square(gain - mean), weights=weights))
    return bool(mean > errors * spread / np.sqrt(rows))


def _growers(x: Array, sizes: Rows, parts: Sequence[Part], outputs: int, how: Growth) -> list[_Grower]:
    lightgbm = need_lightgbm()
    data = lightgbm.Dataset(
        x,
        label=np.zeros(len(x)),
        categorical_feature=np.flatnonzero(sizes).tolist(),
        params=_settings(how, x, outputs),
        free_raw_data=False,
    ).construct()
    return [_Grower(data, x, part, outputs, how) for part in parts]


def _settings(how: Growth, x: Array, outputs: int) -> dict[str, Any]:
    fewest = min(how.min_rows, max(3, len(x) // 20))
    varying = np.count_nonzero([len(np.unique(column)) > 1 for column in x.T])
    return {
        "objective": "none",
        "num_class": outputs,
        "boost_from_average": False,
        "learning_rate": float(np.clip(len(x) / _MANY, *RATES)) if how.rate is None else how.rate,
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


def _mean(unseen: Likelihood, said: Array) -> float:
    return float(np.average(unseen.losses(said), weights=unseen.weights))
