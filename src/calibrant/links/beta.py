"""Beta calibration of binary probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import expit, log_expit

from .._checks import Array
from .base import Link
from .linear import LinearProblem, Prior, fit_linear
from .trials import Trials

_LOOSE = 0.1  # weight of (b - 1)² in the penalty: ln(1 - s) is near 0 for rare events


@dataclass(frozen=True, eq=False)
class BetaLink(Link):
    r""":math:`c(s) = \sigma(a\ln s - b\ln(1-s) + m)`, identity at a = b = 1, m = 0.

    Kull et al. (2017); Song et al. (2018), §2.1, who let a and b have any sign. One triple per problem.

    Examples
    --------
    >>> x = np.array([[-1.0], [0.0], [2.0]])
    >>> BetaLink(np.array([1.0]), np.array([1.0]), np.array([0.5])).log_odds(x).ravel()
    array([-0.5,  0.5,  2.5])
    """

    a: Array
    b: Array
    m: Array

    @classmethod
    def fit(
        cls,
        trials: Trials,
        *,
        penalty: float | str = "evidence",
        exact: Iterable[Trials] | None = None,
        nonnegative: bool = True,
    ) -> Self:
        r"""Maximise likelihood minus a pull towards the identity.

        .. math:: \tfrac\lambda2\{(a-1)^2 + \tfrac1{10}(b-1)^2 + (m + (a-1)\bar\ell)^2\}

        :math:`\bar\ell` is the mean of ln s over the expected events: the last term is the squared change of their log
        odds, so that the pull does not depend on how rare they are.

        Parameters
        ----------
        trials : Trials
            All rows, or bins of them.
        penalty : float or "evidence"
            λ, or the one under which the outcomes of all problems are most probable.
        exact : iterable of Trials, optional
            The rows themselves, for last Newton steps without bins.
        nonnegative : bool
            Whether a and b must not be negative, so that c increases.
        """
        prior = _around_identity(trials)
        lowest = np.array([0.0, 0.0, -np.inf] if nonnegative else [-np.inf] * 3)
        theta, chosen = fit_linear(LinearProblem([trials], _features, prior), lowest, penalty)
        if exact is not None:
            theta = LinearProblem(exact, _features, prior).polish(chosen, theta, lowest)
        return cls(*theta.T)

    def log_odds(self, logits: Array) -> Array:
        """a ln s - b ln(1 - s) + m."""
        low, high = log_expit(logits), log_expit(-logits)
        with np.errstate(invalid="ignore"):
            out = np.where(self.a == 0, 0.0, self.a * low) - np.where(self.b == 0, 0.0, self.b * high) + self.m
        return np.asarray(out)


def _around_identity(trials: Trials) -> Prior:
    expected = trials.rows * expit(trials.logits)
    mean = np.vecdot(expected, log_expit(trials.logits)) / expected.sum(axis=1)
    shift = np.stack([mean, np.zeros_like(mean), np.ones_like(mean)], axis=1)
    precision = np.diag([1.0, _LOOSE, 0.0]) + shift[:, :, None] * shift[:, None, :]
    return Prior(np.tile([1.0, 1.0, 0.0], (len(mean), 1)), precision)


def _features(x: Array) -> tuple[Array, ...]:
    return log_expit(x), -log_expit(-x), np.ones_like(x)
