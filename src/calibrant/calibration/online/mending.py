"""What is left to mend in a mixture: a map of its own scores."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._checks import Array
from ...distributions.scores import spread_scores
from ...maps import Map, MixedMap, identity
from ...numerics.tails import log_between
from .levels import WIDEST
from .looks import Scores
from .shapes import Shape
from .shares import Shares


@dataclass(eq=False)
class Waiting:
    """Scores that have not been added to summaries yet, and the summaries' maps.

    Parameters
    ----------
    shapes : list of Shape
    rows : array (3, m)
        Scores, weights and steps at which they came.
    steps : float
        Steps since scores were added last.
    """

    shapes: list[Shape]
    rows: Array = field(default_factory=lambda: np.empty((3, 0)))
    steps: float = 0.0

    @property
    def wait(self) -> float:
        """Steps until a map is due."""
        return min((shape.wait for shape in self.shapes), default=np.inf) - self.steps

    def add(self, scores: Scores, step: float, *, heavy_tails: bool, always: bool = False) -> None:
        """Put scores beside the others; once a map is due, or always, add them to summaries and fit it."""
        self.rows = np.concatenate([self.rows, _points(scores, self.steps, step)], axis=1)
        self.steps += step * scores.size
        if not always and self.wait > 0:
            return
        score, weight, came = self.rows
        for shape in self.shapes:
            shape.absorb(np.stack([score, weight, self.steps - came]), self.steps)
        for shape in self.shapes:
            if always or shape.wait <= 0:
                shape.fit(heavy_tails=heavy_tails)
        self.rows, self.steps = np.empty((3, 0)), 0.0


def _points(scores: Scores, start: float, step: float) -> Array:
    """Scores, weights and steps at which they came, (3, m); atoms are spread, and nothing is beyond belief."""
    came = start + step * np.arange(1.0, scores.size + 1)
    points = np.array([np.minimum(np.maximum(scores.middle, -WIDEST), WIDEST), scores.weights, came])
    if not scores.has_atoms:
        return points
    split = scores.left < scores.right
    parts = spread_scores(scores.left[split], scores.right[split])
    many = parts.shape[1]
    spread = [parts.ravel(), *(np.repeat(column, many) for column in (points[1, split] / many, came[split]))]
    return np.hstack([points[:, ~split], np.stack(spread)])


@dataclass(eq=False)
class Mending:
    """A map of a mixture's scores, believed by as much as it made what came more probable.

    Parameters
    ----------
    scores : Waiting
    shares : Shares
        Of the mixture as it is, and of the map.
    """

    scores: Waiting
    shares: Shares

    @classmethod
    def new(cls, half_life: float) -> Mending:
        """One that mends nothing."""
        return cls(Waiting([Shape(half_life)]), Shares.of(np.array([0.5, 0.5])))

    @property
    def map(self) -> Map:
        """The map as it is believed now."""
        weights = self.shares.weights
        fitted = self.scores.shapes[0]
        if not fitted.fitted_at:
            return identity()
        none = np.empty(0)
        return MixedMap(none, none, none, (identity(), fitted.map), weights)

    def learn(self, scores: Scores, step: float) -> Array:
        """How much more the log density was, (n,), than that of the mixture; then learn from its scores."""
        fitted = self.scores.shapes[0]
        gain = np.zeros(scores.size)
        if fitted.fitted_at:
            logs = np.array([gain, _gain(fitted.map, scores)]).T
            gain, _ = self.shares.learn(logs, scores.weights, step)
        self.scores.add(scores, step, heavy_tails=False)
        return gain


def _gain(fitted: Map, scores: Scores) -> Array:
    """Log density of a map's law over that of the standard normal law; of atoms, log ratios of probabilities."""
    z = scores.middle
    dense = fitted.log_density(z) + 0.5 * np.square(z)
    if not scores.has_atoms:
        return dense
    jumps = scores.left < scores.right
    masses = log_between(fitted(scores.left), fitted(scores.right)) - log_between(scores.left, scores.right)
    return np.where(jumps, masses, dense)
