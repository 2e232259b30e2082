"""Logistic calibration of binary probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import expit

from .._checks import Array
from .base import Link
from .linear import LinearProblem, Prior, fit_linear
from .trials import Trials

_NARROWEST = 1e-6  # spread of probabilities below which a slope means nothing
_FREE = np.array([-np.inf, -np.inf])


@dataclass(frozen=True, eq=False)
class LogisticLink(Link):
    r""":math:`c(s) = \sigma(\gamma s + \delta)` (Song et al. 2018, eq. 3). One pair per problem.

    The identity is not among these functions; "nothing is wrong" is the member nearest to it on the forecasts seen.

    Examples
    --------
    >>> LogisticLink(np.array([4.0]), np.array([-2.0])).log_odds(np.array([[0.0]]))
    array([[0.]])
    """

    slope: Array
    intercept: Array

    @classmethod
    def fit(cls, trials: Trials, *, penalty: float | str = "evidence", exact: Iterable[Trials] | None = None) -> Self:
        r"""Maximise likelihood minus :math:`\frac\lambda2` times the mean squared change of the log odds.

        Parameters are those of `BetaLink.fit`.
        """
        prior = _nearest_to_identity(trials)
        theta, chosen = fit_linear(LinearProblem([trials], _features, prior), _FREE, penalty)
        if exact is not None:
            theta = LinearProblem(exact, _features, prior).polish(chosen, theta, _FREE)
        return cls(*theta.T)

    def log_odds(self, logits: Array) -> Array:
        """γ s + δ."""
        return self.slope * expit(logits) + self.intercept


def _nearest_to_identity(trials: Trials) -> Prior:
    """The member that outcomes drawn from the forecasts would give, and mean squares of log odds as the metric."""
    s = expit(trials.logits)
    total = trials.rows.sum(axis=1)
    mean = np.vecdot(trials.rows, s) / total
    variance = np.vecdot(trials.rows, np.square(s - mean[:, None])) / total + _NARROWEST**2
    cross = np.stack([variance + np.square(mean), mean, mean, np.ones_like(mean)], axis=1).reshape(-1, 2, 2)
    flat = Prior(np.stack([np.zeros_like(mean), np.log(mean) - np.log1p(-mean)], axis=1), cross)
    drawn = Trials(trials.logits, trials.rows, trials.rows * s)
    weight = float(total.max()) * 1e-6
    centre = LinearProblem([drawn], _features, flat).solve(weight, flat.centre, _FREE)
    return Prior(centre, cross)


def _features(x: Array) -> tuple[Array, ...]:
    return expit(x), np.ones_like(x)
