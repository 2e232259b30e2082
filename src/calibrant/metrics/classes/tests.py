"""Tests of calibrated class probabilities: Spiegelhalter, Hosmer-Lemeshow, Cox."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import chi2, norm

from ..._brief import Brief
from ..._checks import Array
from ..._types import Labels, Weights
from ...numerics.newton import newton
from ..tests.uniformity import TestResult
from .bins import ForecastBins
from .forecasts import EventForecasts, Probabilities, class_forecasts

_CLIP = 1e-12


@dataclass(frozen=True, slots=True, repr=False)
class CoxCalibration(Brief):
    """Slope and intercept of the outcomes' log odds on the forecasts', standard errors, and the test of 1 and 0."""

    slope: float
    intercept: float
    slope_error: float
    intercept_error: float
    statistic: float
    pvalue: float


def spiegelhalter_test(
    y_true: Labels, y_proba: Probabilities, *, classes: Labels | None = None, sample_weight: Weights = None
) -> TestResult:
    r"""Spiegelhalter's test whether the Brier score is as large as that of calibrated forecasts.

    .. math:: Z = \frac{\sum_t S_t - E S_t}{\sqrt{\sum_t \operatorname{var} S_t}}, \quad
        S_t = \sum_j (p_{tj} - f_{tj})^2, \quad E S_t = 1 - \sum_j p_{tj}^2, \quad
        \operatorname{var} S_t = 4 \sum_j p_{tj}^3 - 4 \Bigl(\sum_j p_{tj}^2\Bigr)^2

    Spiegelhalter (1986), there for two classes. Z is standard normal for independent rows of calibrated forecasts,
    above 0 for overconfident ones.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`.

    Returns
    -------
    TestResult
        With the two-sided p-value; NaN where no outcome is uncertain or all are equally likely.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.spiegelhalter_test([0, 1, 1, 0], [0.1, 0.8, 0.3, 0.2]).statistic
    -0.0880
    """
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    p = forecasts.table()
    own = p[np.arange(len(p)), forecasts.codes]
    expected = np.einsum("ij,ij->i", p, p)  # of the probability of the class that comes
    variance = np.einsum("ij,ij,ij->i", p, p, p) - expected**2
    weights = np.ones(len(p)) if forecasts.weights is None else forecasts.weights
    noise = np.dot(weights, np.maximum(variance, 0.0))
    z = float(np.dot(weights, expected - own) / np.sqrt(noise)) if noise > 1e-30 else float("nan")
    return TestResult(z, float(2 * norm.sf(abs(z))), "Spiegelhalter")


def hosmer_lemeshow_test(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    n_bins: int = 10,
    fitted: bool = False,
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> TestResult:
    r"""Hosmer-Lemeshow test whether bins of similar forecasts have as many events as expected; two classes.

    .. math:: \sum_b \frac{n_b (\bar f_b - \bar p_b)^2}{\bar p_b (1 - \bar p_b)}

    It is compared with the chi-squared law of as many degrees of freedom as there are bins, two less if the forecasts
    were fitted to these rows. Hosmer & Lemeshow (1980).

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`.
    n_bins : int
        Number of bins of (nearly) equal numbers of rows; equal forecasts share a bin, so there may be fewer.
    fitted : bool
        Whether the forecasts come from a logistic regression on these same rows.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.hosmer_lemeshow_test([0, 0, 1, 1], [0.1, 0.1, 0.6, 0.6], n_bins=2)
    TestResult(statistic=1.556, pvalue=0.459, name='Hosmer-Lemeshow')
    """
    problem = class_forecasts(y_true, y_proba, classes, sample_weight).binary("The Hosmer-Lemeshow test")
    cells = ForecastBins.of(problem, "mass", n_bins).used
    variance = cells.forecast * (1 - cells.forecast)
    square = cells.mass * np.square(cells.share - cells.forecast)
    with np.errstate(divide="ignore"):
        statistic = float(np.divide(square, variance, out=np.zeros(len(square)), where=square > 0).sum())
    freedom = len(cells.mass) - (2 if fitted else 0)
    if freedom < 1:
        raise ValueError(f"`n_bins` must leave more bins than 2 where fitted=True; the forecasts fill {freedom + 2}.")
    return TestResult(statistic, float(chi2.sf(statistic, freedom)), "Hosmer-Lemeshow")


def cox_calibration(
    y_true: Labels, y_proba: Probabilities, *, classes: Labels | None = None, sample_weight: Weights = None
) -> CoxCalibration:
    r"""Cox's calibration: slope b and intercept a of the log odds; two classes.

    .. math:: \operatorname{logit} P(f = 1) = a + b \operatorname{logit} p

    Calibrated forecasts have b = 1 and a = 0; b < 1 tells overconfidence, a > 0 too few events forecast. The test of
    both together compares the likelihood ratio with the chi-squared law of 2 degrees of freedom. Cox (1958).

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`; probabilities are kept 1e-12 away from 0 and 1.

    Examples
    --------
    >>> from calibrant import metrics
    >>> fit = metrics.cox_calibration([0, 1, 0, 0, 1, 1], [0.1, 0.1, 0.4, 0.6, 0.8, 0.9])
    >>> fit.slope, fit.intercept
    (0.4635, 0.0607)
    """
    problem = class_forecasts(y_true, y_proba, classes, sample_weight).binary("Cox's calibration")
    p = np.clip(problem.p, _CLIP, 1 - _CLIP)
    x = np.log(p) - np.log1p(-p)
    weights = np.ones(len(x)) if problem.weights is None else problem.weights
    _refuse_endless_slopes(x, problem)
    design = np.column_stack([np.ones(len(x)), x])

    def evaluate(theta: Array) -> tuple[Array, Array, Array]:
        line = design @ theta[0]
        loss = np.dot(weights, np.logaddexp(0, line) - problem.events * line)
        slope = design.T @ (weights * (expit(line) - problem.events))
        curvature = (design * (weights * expit(line) * expit(-line))[:, None]).T @ design
        return np.array([loss]), slope[None, :], curvature[None, :, :]

    start = np.array([[0.0, 1.0]])
    theta = newton(evaluate, start, np.full(2, -np.inf))
    loss, _, curvature = evaluate(theta)
    errors = np.sqrt(np.diag(np.linalg.inv(curvature[0])))
    statistic = max(0.0, 2 * float(evaluate(start)[0][0] - loss[0]))
    intercept, slope = theta[0].tolist()
    return CoxCalibration(slope, intercept, float(errors[1]), float(errors[0]), statistic, float(chi2.sf(statistic, 2)))


def _refuse_endless_slopes(x: Array, problem: EventForecasts) -> None:
    """No slope exists where forecasts are constant, or a threshold on them separates the outcomes."""
    if x.min() == x.max():
        raise ValueError("`y_proba` must have at least two different values: constant forecasts have no slope.")
    yes, no = x[problem.events], x[~problem.events]
    if not (len(yes) and len(no)):
        raise ValueError("`y_true` must have rows of both classes: with one the intercept is infinite.")
    if yes.min() >= no.max() or no.min() >= yes.max():
        raise ValueError("`y_true` must not be separated by a threshold on `y_proba`: the slope is infinite.")
