"""What a measure of class probabilities makes of perfect calibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._checks import Array, count, sample_weights
from ..._types import Weights
from .forecasts import Probabilities, class_probabilities

Metric = Callable[..., Any]


def noise_floor(
    metric: Metric, y_proba: Probabilities, *, n_draws: int = 100, random_state: Any = 0, sample_weight: Weights = None
) -> float:
    r"""The mean of a measure if the outcomes came with exactly these probabilities: what noise alone makes of it.

    .. math:: \frac1M \sum_{m=1}^M \operatorname{metric}(y^{(m)}, p), \quad y_t^{(m)} \sim p_t

    A measured value near the floor is no sign of miscalibration.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_proba)`` that returns a number, such as :func:`calbin` or :func:`ece`; settings through
        ``functools.partial`` or a lambda.
    y_proba : array-like (n,) or (n, K)
        Probabilities.
    n_draws : int
        Number M of simulated sets of outcomes; the standard error is about 1/√M of the measure's own spread.
    random_state : int or numpy Generator
        The same 100 sets unless told.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice, with an outcome each; of weight 1.5 one row and one that counts half.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import metrics
    >>> p = np.linspace(0.01, 0.99, 500)
    >>> metrics.noise_floor(metrics.ece, p)
    0.054
    """
    count(n_draws, "n_draws")
    proba, _ = class_probabilities(y_proba)
    settings: dict[str, Any] = {}
    weights = sample_weights(sample_weight, len(proba))
    if weights is not None:
        rows, parts = _written_out(weights)
        proba = proba[rows]
        settings = {} if (parts == 1).all() else {"sample_weight": parts}
    rng = np.random.default_rng(random_state)
    below = proba if proba.ndim == 1 else np.cumsum(proba, axis=1)[:, :-1]
    values = [metric(_draw(below, rng), proba, **settings) for _ in range(n_draws)]
    return float(np.mean(values))


def _draw(below: Array, rng: np.random.Generator) -> Any:
    """Class numbers: of two, 1 with the given probability; of more, how many cumulative probabilities were passed."""
    u = rng.random(len(below))
    return (u < below).astype(np.intp) if below.ndim == 1 else (u[:, None] >= below).sum(axis=1)


def _written_out(weights: Array) -> tuple[Any, Array]:
    """Row numbers, each as often as it counts, and what each counts: 1, or the rest of a weight that is no integer."""
    times = np.ceil(weights).astype(np.intp)
    rows = np.repeat(np.arange(len(weights)), times)
    parts = np.ones(len(rows))
    last = np.cumsum(times)[times > 0] - 1
    parts[last] = (weights - times + 1)[times > 0]
    return rows, parts
