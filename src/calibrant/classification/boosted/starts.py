"""Where boosting of class scores starts: at the scores as they are, or at a simple map of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._checks import Array
from ...adapters.class_labels import Codes
from ...adapters.class_scores import ClassScores
from ...calibration.boosting.growing import Part, Rows
from ..base import CLIP, ScoreCalibrator, clipped
from ..beta import BetaCalibrator
from ..dirichlet import DirichletCalibrator
from ..temperature import TemperatureCalibrator
from ..vector import VectorCalibrator
from .lines import FOLDS, Lines
from .objective import ClassLikelihood

FEWEST_ROWS = 40
MOST_SEEN = 100_000  # lines that a model is grown on
MOST_LOOKED = 20_000  # lines that tell how good it is
MAPS: dict[str, type[ScoreCalibrator]] = {
    "temperature": TemperatureCalibrator,
    "beta": BetaCalibrator,
    "vector": VectorCalibrator,
    "dirichlet": DirichletCalibrator,
}
SCORES = "scores"
MOST_PAIRED = 10  # classes of which each pair has a weight


class Held(NamedTuple):
    """Lines that a fold's models see, and those that they do not."""

    train: Rows
    test: Rows


class Start(NamedTuple):
    """A way to start: its name, its map for each fold, fitted to the rows that the fold's models see, and its say."""

    name: str
    maps: list[Any]
    share: float = 1.0


class Problem(NamedTuple):
    """Scores and class numbers of rows, and the lines to learn from."""

    scores: ClassScores
    codes: Codes
    lines: Lines
    nearest: float

    @property
    def names(self) -> list[str]:
        """Of the ways to start, the simplest first."""
        if self.scores.n_classes == 2:
            return [SCORES, "beta"]
        return [SCORES, "temperature", "beta", "dirichlet" if self.scores.n_classes <= MOST_PAIRED else "vector"]

    @property
    def is_small(self) -> bool:
        """Whether there are too few rows, or too few of a second class, to hold some out."""
        second = np.sort(np.bincount(self.codes[self.lines.row], minlength=2))[-2]
        seen = min(1.0, MOST_SEEN / len(self.lines.row))
        return bool(self.lines.n_rows < FEWEST_ROWS or second * seen < FOLDS)

    def fitted(self, name: str, lines: Any = slice(None)) -> Any:
        """A map of that name, fitted to some lines; None for the scores as they are."""
        if name == SCORES:
            return None
        row = self.lines.row[lines]
        classes, weights = np.arange(self.scores.n_classes), self.lines.weight[lines]
        table = ClassScores(self.scores.values[row], self.scores.kind)
        return MAPS[name]().fit(table, self.codes[row], sample_weight=weights, classes=classes)

    def likelihood(self, start: Any, share: float, lines: Any) -> ClassLikelihood:
        """That of some lines, forecast as a map says that has this share of the say."""
        row = self.lines.row[lines]
        said = begun(start, share, self.scores[row], self.nearest)
        return ClassLikelihood(said, self.codes[row], self.lines.weight[lines])

    def unseen(self, start: Start, held: list[Held]) -> ClassLikelihood:
        """Of all lines that are looked at, in their order, each by the map that has not seen it."""
        each = [self.likelihood(m, start.share, part.test) for m, part in zip(start.maps, held, strict=True)]
        order = np.argsort(np.concatenate([part.test for part in held]))
        begin, codes, weights = (np.concatenate(c)[order] for c in zip(*map(_columns, each), strict=True))
        return ClassLikelihood(begin, codes, weights)

    def parts(self, start: Start, held: list[Held]) -> list[Part]:
        """What the models of the folds are grown on."""
        pairs = zip(start.maps, held, strict=True)
        return [Part(part.train, self.likelihood(m, start.share, part.train), part.test) for m, part in pairs]


def _columns(rows: ClassLikelihood) -> tuple[Array, Codes, Array]:
    return rows.start, rows.codes, rows.weights


def begun(start: Any, share: float, scores: ClassScores, nearest: float) -> Array:
    """Log odds (n, 1) of the second of two classes, or log probabilities (n, K), between those of scores and a map."""
    plain = _logs(scores, nearest)
    if start is None:
        return plain
    made = clipped(start.transform(ClassScores(scores.values, scores.kind)), CLIP)
    return plain + share * (_logs(ClassScores(made), CLIP) - plain)


def _logs(scores: ClassScores, clip: float) -> Array:
    return scores.log_odds(clip)[:, 1:] if scores.n_classes == 2 else scores.log_probabilities(clip)


def held_out(problem: Problem, seed: int) -> list[Held]:
    """The folds; of very many lines some, drawn at random, each class with its share."""
    rng, codes = np.random.default_rng(seed), problem.codes[problem.lines.row]

    def some(rows: Rows, most: int) -> Rows:
        if len(rows) <= most:
            return rows
        rows = rng.permutation(rows)
        by_class = rows[np.argsort(codes[rows], kind="stable")]
        return np.sort(by_class[np.arange(most) * len(rows) // most])

    folds = [problem.lines.fold == k for k in range(FOLDS)]
    return [Held(some(np.flatnonzero(~f), MOST_SEEN), some(np.flatnonzero(f), MOST_LOOKED)) for f in folds]


def best_start(problem: Problem, held: list[Held]) -> Start:
    """The map under which unseen labels are most probable, and how far to go from the scores towards it."""
    plain = problem.unseen(Start(SCORES, [None] * len(held)), held)
    best, lowest = Start(SCORES, [None] * len(held)), plain.mean(0.0)
    for name in problem.names[1:]:
        start = Start(name, [problem.fitted(name, part.train) for part in held])
        share, loss = plain.best_share(problem.unseen(start, held).start - plain.start, 0.0, 1.0)
        if loss < lowest:
            best, lowest = start._replace(share=share), loss
    return best
