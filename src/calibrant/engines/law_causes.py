"""What is wrong with predictive laws, by simple statistics of their normal scores, where it is beyond noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import poisson

from .._checks import Array
from ..metrics._inputs import average
from ..metrics.evaluation import LawEvaluation
from .wording import amount, percent, times

FEWEST = 20  # rows, below which nothing is said
ALPHA = 0.04  # chance that anything at all is said of calibrated forecasts
TAILS = (0.05, 0.01)
_TESTS = 3 + 2 * len(TAILS)  # median, scale, skew, and each tail
_RARE = ALPHA / (2 * _TESTS)
_FAR = float(ndtri(1 - _RARE))  # standard errors
_QUARTER = float(ndtri(0.75))
LEAST = {"scale": 0.02, "bias": 0.02, "tail": 0.15, "skew": 0.005}  # smaller is not worth a word, however sure
_FARTHEST = 40.0  # scores beyond are at the end of floating point
_EVEN = (np.arange(200) + 0.5) / 200  # probabilities: no level that is looked at is within one of their cells


@dataclass(frozen=True, eq=False)
class LawCauses:
    r"""Location, scale and tails of the normal scores z of outcomes, which are standard normal if all is well.

    The bulk is described by the median b and by :math:`s = (Q_{75} - Q_{25})/1.349`; what is beyond it by the shares of
    rows with :math:`\pm(z - b)/s > c` at the levels 5 % and 1 %, so that a fault of location or scale is not taken for
    one of the tails. Standard errors are those of calibrated forecasts of independent rows, from influence functions,
    the noise of b and s included; each of the seven statistics must be beyond what noise makes of it once in 175 times,
    so that in at least 95 of 100 cases nothing is said of calibrated forecasts. Outcomes on atoms count evenly over
    their interval of probabilities.

    Attributes
    ----------
    evaluation : LawEvaluation
    weights : ndarray (n,)
    n : float
        Independent rows that they are worth.
    """

    evaluation: LawEvaluation
    weights: Array
    n: float

    @cached_property
    def scores(self) -> Intervals:
        """Where the outcomes are in their laws."""
        return Intervals.of(*self.evaluation.scores)

    @cached_property
    def bulk(self) -> tuple[float, float]:
        """Median and scale of the scores; the scale is 0 where half of them are one number."""
        low, middle, high = (self.scores.quantile(level, self.weights) for level in (0.25, 0.5, 0.75))
        return middle, (high - low) / (2 * _QUARTER)

    # ---- the statistics, each with its standard error if all is well ----
    @cached_property
    def below(self) -> tuple[float, float]:
        """Share of outcomes below the predicted median, less one half."""
        return self._mean(self.scores.below(0.0)) - 0.5, 0.5 / np.sqrt(self.n)

    @cached_property
    def log_scale(self) -> tuple[float, float]:
        """Log of the scale of the bulk."""
        return float(np.log(self.bulk[1])), self._error(_scale_influence(_EVEN))

    def tail(self, side: int, level: float) -> tuple[float, float]:
        """Share of rows beyond the upper (1) or lower (-1) tail of the bulk's normal law, less its level."""
        b, s = self.bulk
        share = self._mean(self.scores.below(b - side * s * ndtri(level)))
        return (1 - share if side > 0 else share) - level, self._error(_tail_influence(_EVEN, side, level))

    def skew(self) -> tuple[float, float]:
        """Share beyond the upper tail less share beyond the lower one, at 5 %."""
        upper, lower = (self.tail(side, TAILS[0])[0] for side in (1, -1))
        influences = (_tail_influence(_EVEN, side, TAILS[0]) for side in (1, -1))
        return upper - lower, self._error(np.subtract(*influences))

    def _mean(self, values: Array) -> float:
        return average(values, self.weights)

    def _error(self, influence: Array) -> float:
        return float(np.std(influence) / np.sqrt(self.n))

    # ---- in words ----
    def in_words(self) -> list[str]:
        """What is wrong, the scale first; nothing where nothing is beyond its noise."""
        if self.n < FEWEST or not np.isfinite(self.bulk).all():
            return []
        if self.bulk[1] <= 0:
            return self._bias()
        return [*self._scale(), *self._bias(), *self._shape()]

    def _scale(self) -> list[str]:
        size, error = self.log_scale
        if abs(size) <= max(_FAR * error, LEAST["scale"]):
            return []
        return [f"too {'narrow' if size > 0 else 'wide'} by {times(np.exp(abs(size)))}"]

    def _bias(self) -> list[str]:
        share, error = self.below
        if abs(share) <= max(_FAR * error, LEAST["bias"]):
            return []
        middle = self.evaluation.law.median() - self.evaluation.y
        size = weighted_quantile(middle, self.weights, 0.5)
        way, where = ("high", "below") if share > 0 else ("low", "above")
        if size * share <= 0:  # outcomes that are whole numbers, say
            return [f"too {way}: {percent(0.5 + abs(share))} of outcomes are {where} the median"]
        return [f"{amount(abs(size))} too {way}"]

    def _shape(self) -> list[str]:
        upper, lower = self._change(1), self._change(-1)
        lean, error = self.skew()
        leans = abs(lean) > max(_FAR * error, LEAST["skew"])
        if (leans and not (upper or lower)) or upper * lower < 0:
            longer, shorter = ("upper", "lower") if (lean if leans else upper) > 0 else ("lower", "upper")
            return [f"skewed: the {longer} tail is longer and the {shorter} tail shorter than forecast"]
        words = {1: "heavier", -1: "lighter"}
        if upper == lower != 0:
            return [f"both tails {words[upper]} than forecast"]
        return [f"{name} tail {words[way]} than forecast" for name, way in (("upper", upper), ("lower", lower)) if way]

    def _change(self, side: int) -> int:
        """Whether a tail is heavier (1) or lighter (-1) than forecast, or neither (0)."""
        for level in TAILS:
            if level * self.n < 1:  # too few rows to tell
                continue
            size, error = self.tail(side, level)
            by_chance = poisson.sf(np.floor((size + level) * self.n + 1e-6) - 1, level * self.n) if size > 0 else 0.0
            if abs(size) > max(_FAR * error, LEAST["tail"] * level) and by_chance < _RARE:
                return int(np.sign(size))
        return 0


@dataclass(frozen=True, eq=False)
class Intervals:
    """Normal scores that are intervals, evenly filled in probability, or numbers."""

    left: Array
    right: Array
    even: bool  # whether all are numbers

    @classmethod
    def of(cls, left: Array, right: Array) -> Intervals:
        """From normal scores of P(Y < y) and of P(Y <= y)."""
        return cls(left, right, left is right or np.array_equal(left, right))

    def below(self, score: float) -> Array:
        """The share of each that is below a score; of a number that is the score, one half."""
        if self.even:
            return np.where(self.right == score, 0.5, self.right < score)
        low, high, at = ndtr(self.left), ndtr(self.right), ndtr(score)
        width = np.where(high > low, high - low, 1.0)
        number = np.where(self.right == score, 0.5, self.right < score)
        return np.where(high > low, np.clip((at - low) / width, 0.0, 1.0), number)

    def quantile(self, level: float, weights: Array) -> float:
        """The score that has this share of all below it."""
        if self.even:
            return weighted_quantile(self.right, weights, level)
        low, high = -_FARTHEST, _FARTHEST
        for _ in range(60):
            middle = 0.5 * (low + high)
            less = average(self.below(middle), weights) < level
            low, high = (middle, high) if less else (low, middle)
        return 0.5 * (low + high)


def weighted_quantile(values: Array, weights: Array, level: float) -> float:
    """The value in the middle of whose weight the level lies, linear between neighbours.

    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.5)
    2.0
    """
    order = np.argsort(values, kind="stable")
    upper = np.cumsum(weights[order])
    with np.errstate(invalid="ignore"):
        return float(np.interp(level, (upper - 0.5 * weights[order]) / upper[-1], values[order]))


# ---- what one more row at probability u would change, if all is well ----
def _density(level: float) -> float:
    return float(np.exp(-0.5 * ndtri(level) ** 2) / np.sqrt(2 * np.pi))


def _median_influence(u: Array) -> Array:
    return np.asarray((0.5 - (u <= 0.5)) / _density(0.5))


def _scale_influence(u: Array) -> Array:
    return np.asarray((0.5 - (np.abs(u - 0.5) <= 0.25)) / (2 * _QUARTER * _density(0.75)))


def _tail_influence(u: Array, side: int, level: float) -> Array:
    beyond = u > 1 - level if side > 0 else u < level
    moved = side * _median_influence(u) - ndtri(level) * _scale_influence(u)
    return np.asarray(beyond - level - _density(level) * moved)
