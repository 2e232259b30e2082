"""What is wrong with class probabilities, by the logarithms' slope and shifts, where it is beyond noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri, softmax

from .._checks import Array
from ..adapters.class_labels import Codes
from ..metrics.evaluation import ClassEvaluation
from ..numerics.newton import newton
from .wording import percent, times

FEWEST = 20  # rows, below which nothing is said
ALPHA = 0.04  # chance that anything at all is said of calibrated probabilities
MOST_CLASSES = 30  # of more, only the confidence is looked at
MOST_NAMED = 2
LEAST_SLOPE, LEAST_SHIFT = 0.03, 0.03  # smaller is not worth a word, however sure
_STEEPEST = 50.0  # labels that are forecast without an error have no slope
_RIDGE = 1e-3  # rows' worth of holding the shifts together


@dataclass(frozen=True, eq=False)
class ClassCauses:
    r"""Slope a and shifts b of the logarithms that make the labels most probable; 1 and 0 if all is well.

    .. math:: \max_{a, b} \sum_t w_t \ln \operatorname{softmax}(a \ln p_t + b)_{y_t}

    A slope below 1 is overconfidence; a shift of a class below the others' mean says that it is forecast too often. The
    standard errors are those of maximum likelihood for independent rows; slope and shifts share a chance below 5 % that
    anything at all is said of calibrated probabilities.

    Attributes
    ----------
    evaluation : ClassEvaluation
    weights : ndarray (n,)
    n : float
        Independent rows that they are worth.
    """

    evaluation: ClassEvaluation
    weights: Array
    n: float

    @cached_property
    def came(self) -> Array:
        """Share of rows that have each class (K,)."""
        return np.asarray(np.bincount(self.evaluation.codes, self.weights, self.classes) / self.weights.sum())

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.evaluation.p.shape[1])

    @cached_property
    def _shifted(self) -> Codes:
        """Places of the classes that get a shift: those that came in some rows; none where there are too many."""
        several = np.flatnonzero(self.came * self.n >= 1)
        return several if 2 <= len(several) <= MOST_CLASSES else several[:0]

    @cached_property
    def fitted(self) -> tuple[Array, Array]:
        """Slope and shifts (1 + K,), and their covariances."""
        log_p = np.log(self.evaluation.p)
        size = self.n / self.weights.sum()
        problem = _Problem(log_p, self.evaluation.codes, size * self.weights, self._shifted)
        start = np.zeros((1, 1 + len(self._shifted)))
        start[0, 0] = 1.0
        found = newton(problem.evaluate, start, np.full(start.shape[1], -np.inf), most=50)
        return found[0], np.linalg.pinv(problem.evaluate(found)[2][0])

    @property
    def far(self) -> float:
        """Standard errors beyond which something is said: half the chance is the slope's, half the shifts'."""
        return float(ndtri(1 - ALPHA / 4))

    def in_words(self) -> list[str]:
        """What is wrong, the confidence first."""
        if self.n < FEWEST or np.count_nonzero(self.came) < 2:
            return []
        return [*self._confidence(), *self._shares()]

    def _confidence(self) -> list[str]:
        parameters, covariance = self.fitted
        slope, error = float(parameters[0]), float(np.sqrt(covariance[0, 0]))
        if not abs(slope) < _STEEPEST or abs(slope - 1) <= max(self.far * error, LEAST_SLOPE):
            return []
        p = self.evaluation.p
        said = np.average(p.max(axis=1), weights=self.weights)
        right = np.average(p.argmax(axis=1) == self.evaluation.codes, weights=self.weights)
        over = slope < 1
        if slope <= 0:
            return ["no better than chance: what is forecast as more probable does not come more often"]
        factor = f"log odds {times(1 / slope if over else slope)} too {'large' if over else 'small'}"
        agree = (said > right) == over
        shares = f"; the likeliest class is given {percent(said)} and comes in {percent(right)}" if agree else ""
        return [f"{'over' if over else 'under'}confident: {factor}{shares}"]

    def _shares(self) -> list[str]:
        if not len(self._shifted):
            return []
        share = self.came[self._shifted] / self.came[self._shifted].sum()
        contrast = np.eye(len(share)) - share  # each against the mean of all
        shifts = contrast @ self.fitted[0][1:]
        errors = np.sqrt(np.maximum(np.diag(contrast @ self.fitted[1][1:, 1:] @ contrast.T), 1e-300))
        tests = 1 if len(share) == 2 else len(share)
        sure = np.abs(shifts) / errors
        far = np.flatnonzero((sure > ndtri(1 - ALPHA / 4 / tests)) & (np.abs(shifts) > LEAST_SHIFT))
        order = far[np.argsort(-sure[far], kind="stable")][: 1 if len(share) == 2 else MOST_NAMED]
        if len(share) == 2 and len(order):
            order = np.array([1])  # what is said of one says the other
        return [self._of_class(int(self._shifted[k]), float(shifts[k])) for k in order]

    def _of_class(self, k: int, shift: float) -> str:
        often = shift < 0
        said = float(np.average(self.evaluation.p[:, k], weights=self.weights))
        agree = (said > self.came[k]) == often
        shares = f": {percent(said, 1)} on average, it came in {percent(float(self.came[k]), 1)}" if agree else ""
        return f"class {self.evaluation.classes[k]} forecast too {'often' if often else 'rarely'}{shares}"


@dataclass(frozen=True, eq=False)
class _Problem:
    """The likelihood of slope and shifts."""

    log_p: Array
    codes: Codes
    weights: Array
    shifted: Codes

    def evaluate(self, theta: Array) -> tuple[Array, Array, Array]:
        """Loss, gradient and Hessian at slope and shifts (1, d)."""
        slope, shifts = theta[0, 0], theta[0, 1:]
        logits = slope * self.log_p
        logits[:, self.shifted] += shifts
        q, w = softmax(logits, axis=1), self.weights
        rows = np.arange(len(q))
        loss = -np.dot(w, logits[rows, self.codes] - _log_sum(logits)) + 0.5 * _RIDGE * np.dot(shifts, shifts)
        mean = np.sum(q * self.log_p, axis=1)
        some = q[:, self.shifted]
        hits = np.bincount(self.codes, w, q.shape[1])[self.shifted]
        gradient = np.concatenate([[np.dot(w, mean - self.log_p[rows, self.codes])], w @ some - hits + _RIDGE * shifts])
        hessian = np.empty((len(gradient), len(gradient)))
        hessian[0, 0] = np.dot(w, np.sum(q * np.square(self.log_p), axis=1) - np.square(mean)) + 1e-12
        hessian[0, 1:] = hessian[1:, 0] = w @ (some * (self.log_p[:, self.shifted] - mean[:, None]))
        hessian[1:, 1:] = np.diag(w @ some + _RIDGE) - some.T @ (some * w[:, None])
        return np.array([loss]), gradient[None], hessian[None]


def _log_sum(logits: Array) -> Array:
    top = logits.max(axis=1)
    return np.asarray(top + np.log(np.exp(logits - top[:, None]).sum(axis=1)))
