"""One example batch of every law and every map; the common tests fail for a class that is missing here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from calibrant import distributions as d
from calibrant import maps as m

ROWS = 3


def _columns(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(0, 3, ROWS), np.exp(rng.normal(0, 0.7, ROWS))


def _sorted(rng: np.random.Generator, m: int) -> np.ndarray:
    loc, scale = _columns(rng)
    return np.sort(loc[:, None] + scale[:, None] * rng.standard_normal((ROWS, m)), axis=1)


LAWS: dict[str, Callable[[np.random.Generator], d.Distribution]] = {
    "Normal": lambda rng: d.Normal(*_columns(rng)),
    "StudentT": lambda rng: d.StudentT(*_columns(rng), rng.uniform(4, 12, ROWS)),
    "Laplace": lambda rng: d.Laplace(*_columns(rng)),
    "Logistic": lambda rng: d.Logistic(*_columns(rng)),
    "Gumbel": lambda rng: d.Gumbel(*_columns(rng)),
    "LogNormal": lambda rng: d.LogNormal(rng.normal(0, 1, ROWS), rng.uniform(0.2, 0.8, ROWS)),
    "Gamma": lambda rng: d.Gamma(rng.uniform(2, 8, ROWS), np.exp(rng.normal(0, 0.7, ROWS))),
    "Poisson": lambda rng: d.Poisson(np.exp(rng.uniform(-1, 3, ROWS))),
    "NegativeBinomial": lambda rng: d.NegativeBinomial(np.exp(rng.uniform(-1, 3, ROWS)), rng.uniform(0.1, 0.6, ROWS)),
    "Ensemble": lambda rng: d.Ensemble(_sorted(rng, 12)),
    "Ensemble, ties": lambda rng: d.Ensemble(np.round(_sorted(rng, 12), 0) + np.arange(12) // 6),
    "Ensemble, discrete": lambda rng: d.Ensemble(_sorted(rng, 9), kind="discrete"),
    "Quantiles": lambda rng: d.Quantiles(np.array([0.05, 0.25, 0.5, 0.75, 0.95]), _sorted(rng, 5)),
    "Histogram": lambda rng: d.Histogram(np.array([-2.0, -1.0, 0.0, 0.5, 3.0]), rng.dirichlet(np.ones(4), ROWS)),
    "Mixture": lambda rng: d.Mixture(
        (d.Normal(*_columns(rng)), d.Laplace(*_columns(rng))), rng.dirichlet(np.ones(2), ROWS)
    ),
    "Mixture, recalibrated": lambda rng: d.Mixture(
        [d.Recalibrated(d.Normal(*_columns(rng)), _fitted(m.fit_ecdf, 12)(rng)) for _ in range(2)]
    ),
    "Truncated": lambda rng: d.Truncated(d.Normal(rng.normal(1, 1, ROWS), rng.uniform(0.5, 2, ROWS)), 0.0, 6.0),
    "Recalibrated": lambda rng: d.Recalibrated(d.Normal(*_columns(rng)), _fitted(m.fit_spline)(rng)),
    "Joined": lambda rng: d.concatenate([d.Normal(*_columns(rng))[:1], d.Logistic(*_columns(rng))[1:]]),
}


def _fitted(fit: Callable[..., m.Map], n: int = 40) -> Callable[[np.random.Generator], m.Map]:
    def make(rng: np.random.Generator) -> m.Map:
        z = rng.normal(0.4, np.exp(rng.uniform(-0.5, 0.5)), n)
        return fit(z + 0.15 * z**2)

    return make


def _bent(rng: np.random.Generator) -> m.Map:
    knots = np.cumsum(rng.uniform(0.2, 1.0, 6)) - 2
    return m.PiecewiseLinearMap(knots, np.cumsum(rng.uniform(0.2, 1.0, 6)) - 2, (0.8, 1.3))


def _flow(rng: np.random.Generator) -> m.Map:
    a, b = np.exp(rng.normal(0, 0.3, (2, ROWS)))
    heights, centres = np.exp(rng.normal(0, 0.5, (ROWS, 3))), np.sort(rng.normal(0, 1, (ROWS, 3)), axis=1)
    return m.FlowMap(a, b, rng.normal(0, 0.5, ROWS), heights, centres, *np.tile([[0.6], [0.2], [1.2]], ROWS))


def _segments(rng: np.random.Generator) -> m.Map:
    knots = np.sort(rng.normal(0, 1, (ROWS, 4)), axis=1)
    return m.ProbabilityRows.from_log_masses(knots, np.log(rng.dirichlet(np.full(5, 3.0), ROWS)))


def _averaged(rng: np.random.Generator) -> m.Map:
    return m.AveragedBetaMap(rng.normal(0, 0.3, (ROWS, 3)), np.tril(rng.normal(0, 0.1, (ROWS, 3, 3))))


MAPS: dict[str, Callable[[np.random.Generator], m.Map]] = {
    "AffineMap": lambda rng: m.AffineMap(float(rng.normal(0, 0.5)), float(np.exp(rng.normal(0, 0.3)))),
    "AffineMap, rows": lambda rng: m.AffineMap(rng.normal(0, 0.5, ROWS), np.exp(rng.normal(0, 0.3, ROWS))),
    "BetaMap": lambda rng: m.BetaMap(*np.exp(rng.normal(0, 0.3, 2)).tolist(), float(rng.normal(0, 0.5))),
    "BetaMap, rows": lambda rng: m.BetaMap(*np.exp(rng.normal(0, 0.3, (2, ROWS))), rng.normal(0, 0.5, ROWS)),
    "PiecewiseLinearMap": _bent,
    "PiecewiseLinearMap, fitted": _fitted(m.fit_ecdf),
    "ProbabilityMap": _fitted(m.fit_isotonic, 8),
    "StepMap": _fitted(m.fit_step, 8),
    "SplineMap": _fitted(m.fit_spline),
    "SplineMap, kernel": _fitted(m.fit_kernel, 25),
    "UnitTails, rows": lambda rng: m.UnitTails(m.AffineMap(rng.normal(0, 0.5, ROWS), 1.2), -2.0, 2.5),
    "UnitTails": lambda rng: m.UnitTails(m.AffineMap(0.2, float(np.exp(rng.normal(0, 0.3)))), -2.0, 2.5),
}


BATCH_MAPS: dict[str, Callable[[np.random.Generator], m.Map]] = {  # one map a row, and costly
    "FlowMap": _flow,
    "ProbabilityRows": _segments,
    "AveragedBetaMap": _averaged,
}


def some_levels(rng: np.random.Generator, k: int = 7) -> np.ndarray:
    """Probabilities from both tails and the middle."""
    return np.sort(np.concatenate([rng.uniform(0.02, 0.98, k), [1e-4, 1 - 1e-4]]))


def normal_levels(rng: np.random.Generator, k: int = 7) -> np.ndarray:
    return ndtri(some_levels(rng, k))
