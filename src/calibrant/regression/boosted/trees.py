"""Trees for the parameters of scores: grown in folds, averaged, and stretched as unseen rows want."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array
from ...calibration.boosting.growing import Growth, Part, boost, nothing
from ...calibration.pit_watch import effective_rows
from ...numerics.forest import Forest
from .objective import Likelihood, stretches


class Sample(NamedTuple):
    """Standardised scores, their weights, the features (n, d) and the fold of each."""

    u: Array
    weights: Array
    x: Array
    fold: NDArray[np.intp]


class Boosted(NamedTuple):
    """Rounds chosen, the mean forest of the folds, its k stretches, unseen parameters (n, k) and the gain in nats."""

    rounds: int
    forest: Forest
    stretch: Array
    unseen: Array
    gain: float


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores with their weights, under a likelihood."""

    u: Array
    weights: Array
    kind: Likelihood

    def __getitem__(self, rows: NDArray[np.intp]) -> _Scores:
        return _Scores(self.u[rows], self.weights[rows], self.kind)

    def losses(self, said: Array) -> Array:
        """Minus the log density of each score, up to a constant."""
        return self.kind.losses(self.u, said)

    def slopes(self, said: Array) -> tuple[Array, Array]:
        """Slopes of the losses in the parameters, and curvatures."""
        return self.kind.slopes(self.u, said)


def boosted(sample: Sample, sizes: NDArray[np.intp], how: Growth, kind: Likelihood) -> Boosted:
    """Trees of all folds together; ``sizes`` are the numbers of categories of the features."""
    scores, folds = _Scores(sample.u, sample.weights, kind), range(int(sample.fold.max()) + 1)
    places = [(np.flatnonzero(sample.fold != k), np.flatnonzero(sample.fold == k)) for k in folds]
    parts = [Part(train, scores[train], test) for train, test in places]
    grown = boost(sample.x, sizes, parts, scores, kind.n_outputs, effective_rows(sample.weights), how, kind.errors)
    if not grown.rounds:
        return no_trees(len(sample.u), sizes, kind.n_outputs)
    stretch = stretches(sample.u, grown.unseen, sample.weights, kind)
    return Boosted(grown.rounds, grown.forest, stretch, stretch * grown.unseen, grown.gain)


def no_trees(rows: int, sizes: NDArray[np.intp], outputs: int = 2) -> Boosted:
    """None."""
    grown = nothing(rows, sizes, outputs)
    return Boosted(0, grown.forest, np.ones(outputs), grown.unseen, 0.0)
