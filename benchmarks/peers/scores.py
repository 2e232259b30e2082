"""Scores of n rows: laws with a closed form, ensembles, quantiles, intervals and vectors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, stats

from .job import OURS, Data, Entry, Job, exact
from .laws import LEVELS

SIZES, MEMBERS = (10_000, 1_000_000), 50
ENSEMBLE_SIZES, VECTOR_SIZES, FEW = (10_000, 100_000), (1_000, 10_000), 20
COVERAGES = np.array([0.5, 0.8, 0.9])
COMPONENTS, DIMENSIONS = 3, 4


# ---- arrays ----
def numbers(n: int) -> Data:
    """Location, scale and shape of each law, and outcomes on the line, above zero and whole."""
    rng = np.random.default_rng(0)
    loc, scale = rng.normal(0, 2, n), np.exp(0.3 * rng.normal(size=n))
    shape = rng.uniform(1, 6, n)
    y = loc + scale * rng.standard_t(6, n)
    return Data(
        y=y,
        loc=loc,
        scale=scale,
        shape=shape,
        positive=scale * rng.gamma(shape),
        count=rng.poisson(4 * shape),
        means=loc[:, None] + rng.normal(size=(n, COMPONENTS)),
        deviations=scale[:, None] * rng.uniform(0.5, 1.5, (n, COMPONENTS)),
    )


def ensembles(n: int) -> Data:
    rng = np.random.default_rng(0)
    return Data(x=rng.normal(size=(n, MEMBERS)), y=rng.normal(0, 1.2, n))


def quantiles(n: int) -> Data:
    """Quantiles at 19 levels, and three nested intervals."""
    rng = np.random.default_rng(0)
    y = rng.normal(0, 1.3, n)
    loc = rng.normal(0, 0.3, n)
    half = stats.norm.ppf((1 + COVERAGES) / 2)
    low, high = loc[:, None] - half, loc[:, None] + half
    return Data(y=y, q=loc[:, None] + stats.norm.ppf(LEVELS), median=loc, low=low, high=high)


def vectors(n: int) -> Data:
    rng = np.random.default_rng(0)
    return Data(x=rng.normal(size=(n, MEMBERS, DIMENSIONS)), y=rng.normal(0, 1.2, (n, DIMENSIONS)))


# ---- what is right, of the first rows ----
def by_definition(law: Callable[[Data, int], Any], outcome: str = "y") -> Callable[[Data], np.ndarray]:
    """The integral of (F(u) - 1{u >= y})², row by row, of scipy's law."""

    def crps(d: Data) -> np.ndarray:
        found = []
        for row in range(FEW):
            one, y = law(d, row), float(getattr(d, outcome)[row])
            low, high = min(one.ppf(1e-12), y), max(one.isf(1e-12), y)
            middle = float(np.clip(one.median(), low, high))
            parts = np.unique([low, y, middle, high])
            found.append(sum(_between(one, y, a, b) for a, b in itertools.pairwise(parts)))
        return np.array(found)

    return crps


def _between(law: Any, y: float, low: float, high: float) -> float:
    side = law.cdf if high <= y else law.sf
    return float(integrate.quad(lambda u: side(u) ** 2, low, high, epsabs=1e-10, epsrel=1e-10, limit=500)[0])


def by_counting(law: Callable[[Data, int], Any]) -> Callable[[Data], np.ndarray]:
    """The sum of (F(k) - 1{k >= y})² over whole numbers, of scipy's law."""

    def crps(d: Data) -> np.ndarray:
        return np.array([_counted(law(d, row), d.count[row]) for row in range(FEW)])

    return crps


def _counted(law: Any, y: int) -> float:
    k = np.arange(int(max(law.isf(1e-13), y)) + 10)
    return float(np.sum((law.cdf(k) - (k >= y)) ** 2))


class _Mixed:
    """The equal mixture of normal laws, as scipy's."""

    def __init__(self, means: np.ndarray, deviations: np.ndarray) -> None:
        self.parts = [stats.norm(m, s) for m, s in zip(means, deviations, strict=True)]

    def cdf(self, u: float) -> float:
        return float(np.mean([each.cdf(u) for each in self.parts]))

    def sf(self, u: float) -> float:
        return float(np.mean([each.sf(u) for each in self.parts]))

    def ppf(self, p: float) -> float:
        return float(min(each.ppf(p) for each in self.parts))

    def isf(self, p: float) -> float:
        return float(max(each.isf(p) for each in self.parts))

    def median(self) -> float:
        return float(np.mean([each.median() for each in self.parts]))


def _true_ensemble(d: Data, fair: bool = False) -> np.ndarray:
    x, y = d.x[:FEW], d.y[:FEW]
    pairs = np.abs(x[:, :, None] - x[:, None, :]).sum(axis=(1, 2))
    over = MEMBERS * (MEMBERS - 1) if fair else MEMBERS**2
    return np.abs(x - y[:, None]).mean(axis=1) - pairs / (2 * over)


def _true_energy(d: Data) -> np.ndarray:
    x, y = d.x[:FEW], d.y[:FEW]
    pairs = np.linalg.norm(x[:, :, None] - x[:, None, :], axis=-1).mean(axis=(1, 2))
    return np.linalg.norm(x - y[:, None], axis=-1).mean(axis=1) - pairs / 2


def _true_interval(d: Data, k: int = 2) -> np.ndarray:
    low, high, alpha = d.low[:, k], d.high[:, k], 1 - COVERAGES[k]
    return (high - low) + 2 / alpha * (low - d.y) * (d.y < low) + 2 / alpha * (d.y - high) * (d.y > high)


def _true_weighted(d: Data) -> np.ndarray:
    """Bracher et al. (2021), eq. 2: w₀ = 1/2, w_k = α_k/2."""
    parts = [(1 - COVERAGES[k]) / 2 * _true_interval(d, k) for k in range(len(COVERAGES))]
    return (0.5 * np.abs(d.y - d.median) + sum(parts)) / (len(COVERAGES) + 0.5)


def _true_pinball(d: Data) -> np.ndarray:
    return np.mean((LEVELS - (d.y[:, None] < d.q)) * (d.y[:, None] - d.q), axis=1)


# ---- entries ----
def _ours(make: Callable[[Any, Data], Any], outcome: str = "y", score: str = "crps") -> Entry:
    def entry(d: Data) -> Any:
        import calibrant

        return getattr(calibrant.metrics, score)(getattr(d, outcome), make(calibrant, d), per_row=True)

    return entry


def _scoringrules(name: str, arguments: Callable[[Data], tuple[Any, ...]], **settings: Any) -> Entry:
    def entry(d: Data) -> Any:
        import scoringrules

        return getattr(scoringrules, name)(*arguments(d), **settings)

    return entry


def _properscoring(name: str, arguments: Callable[[Data], tuple[Any, ...]]) -> Entry:
    def entry(d: Data) -> Any:
        import properscoring

        return getattr(properscoring, name)(*arguments(d))

    return entry


def _our_ensemble(estimator: str) -> Entry:
    def entry(d: Data) -> Any:
        from calibrant import Ensemble

        return Ensemble(d.x).ensemble_crps(d.y, estimator=estimator)

    return entry


def _our_metric(name: str, arguments: Callable[[Data], dict[str, Any]]) -> Entry:
    def entry(d: Data) -> Any:
        from calibrant import metrics

        return getattr(metrics, name)(d.y, **arguments(d), per_row=True)

    return entry


def _quantile_score(d: Data) -> Any:
    import scoringrules

    return scoringrules.quantile_score(d.y[:, None], d.q, LEVELS).mean(axis=1)


def _sklearn_pinball(d: Data) -> Any:
    from sklearn.metrics import mean_pinball_loss

    rows = [
        mean_pinball_loss(d.y[None], d.q[None, :, k], alpha=p, multioutput="raw_values") for k, p in enumerate(LEVELS)
    ]
    return np.mean(rows, axis=0)


# ---- jobs ----
def _law(name: str, words: str, true: Any, ours: Entry, theirs: Entry, **more: Entry) -> Job:
    entries = {OURS: ours, "scoringrules": theirs, **more}
    return Job(f"scores {name}", words, SIZES, numbers, exact(true), entries, "one pass")


JOBS = (
    _law(
        "normal",
        "CRPS of normal laws",
        by_definition(lambda d, i: stats.norm(d.loc[i], d.scale[i])),
        _ours(lambda c, d: c.Normal(d.loc, d.scale)),
        _scoringrules("crps_normal", lambda d: (d.y, d.loc, d.scale)),
        properscoring=_properscoring("crps_gaussian", lambda d: (d.y, d.loc, d.scale)),
    ),
    _law(
        "student",
        "CRPS of Student t laws, 5 degrees of freedom",
        by_definition(lambda d, i: stats.t(5.0, d.loc[i], d.scale[i])),
        _ours(lambda c, d: c.StudentT(d.loc, d.scale, 5.0)),
        _scoringrules("crps_t", lambda d: (d.y, 5.0, d.loc, d.scale)),
    ),
    _law(
        "logistic",
        "CRPS of logistic laws",
        by_definition(lambda d, i: stats.logistic(d.loc[i], d.scale[i])),
        _ours(lambda c, d: c.Logistic(d.loc, d.scale)),
        _scoringrules("crps_logistic", lambda d: (d.y, d.loc, d.scale)),
    ),
    _law(
        "laplace",
        "CRPS of Laplace laws",
        by_definition(lambda d, i: stats.laplace(d.loc[i], d.scale[i])),
        _ours(lambda c, d: c.Laplace(d.loc, d.scale)),
        _scoringrules("crps_laplace", lambda d: (d.y, d.loc, d.scale)),
    ),
    _law(
        "gamma",
        "CRPS of gamma laws",
        by_definition(lambda d, i: stats.gamma(d.shape[i], scale=d.scale[i]), "positive"),
        _ours(lambda c, d: c.Gamma(d.shape, d.scale), "positive"),
        _scoringrules("crps_gamma", lambda d: (d.positive, d.shape, 1 / d.scale)),
    ),
    _law(
        "lognormal",
        "CRPS of log-normal laws",
        by_definition(lambda d, i: stats.lognorm(d.scale[i] / 2, scale=np.exp(0.2 * d.loc[i])), "positive"),
        _ours(lambda c, d: c.LogNormal(0.2 * d.loc, d.scale / 2), "positive"),
        _scoringrules("crps_lognormal", lambda d: (d.positive, 0.2 * d.loc, d.scale / 2)),
    ),
    _law(
        "poisson",
        "CRPS of Poisson laws",
        by_counting(lambda d, i: stats.poisson(4 * d.shape[i])),
        _ours(lambda c, d: c.Poisson(4 * d.shape), "count"),
        _scoringrules("crps_poisson", lambda d: (d.count, 4 * d.shape)),
    ),
    _law(
        "mixture",
        "CRPS of mixtures of three normal laws",
        by_definition(lambda d, i: _Mixed(d.means[i], d.deviations[i])),
        _ours(lambda c, d: c.Mixture([c.Normal(d.means[:, k], d.deviations[:, k]) for k in range(COMPONENTS)])),
        _scoringrules("crps_mixnorm", lambda d: (d.y, d.means, d.deviations)),
    ),
    _law(
        "log-score",
        "Log score of normal laws",
        lambda d: -stats.norm.logpdf(d.y, d.loc, d.scale),
        _ours(lambda c, d: c.Normal(d.loc, d.scale), score="nll"),
        _scoringrules("logs_normal", lambda d: (d.y, d.loc, d.scale)),
    ),
    Job(
        "scores ensemble",
        f"CRPS of ensembles of {MEMBERS}",
        ENSEMBLE_SIZES,
        ensembles,
        exact(_true_ensemble),
        {
            OURS: _our_ensemble("empirical"),
            "scoringrules": _scoringrules("crps_ensemble", lambda d: (d.y, d.x)),
            "properscoring": _properscoring("crps_ensemble", lambda d: (d.y, d.x)),
        },
        "sort",
    ),
    Job(
        "scores fair",
        f"Fair CRPS of ensembles of {MEMBERS}",
        ENSEMBLE_SIZES,
        ensembles,
        exact(lambda d: _true_ensemble(d, fair=True)),
        {
            OURS: _our_ensemble("fair"),
            "scoringrules": _scoringrules("crps_ensemble", lambda d: (d.y, d.x), estimator="fair"),
        },
        "sort",
    ),
    Job(
        "scores quantiles",
        "Pinball loss of 19 quantiles, each row",
        ENSEMBLE_SIZES,
        quantiles,
        exact(_true_pinball),
        {
            OURS: _our_metric("pinball_loss", lambda d: {"quantiles": d.q, "levels": LEVELS}),
            "scoringrules": _quantile_score,
            "scikit-learn": _sklearn_pinball,
        },
        "one pass",
    ),
    Job(
        "scores interval",
        "Interval score of 90 % intervals, each row",
        SIZES,
        quantiles,
        exact(_true_interval),
        {
            OURS: _our_metric("interval_score", lambda d: {"low": d.low[:, 2], "high": d.high[:, 2], "coverage": 0.9}),
            "scoringrules": _scoringrules("interval_score", lambda d: (d.y, d.low[:, 2], d.high[:, 2], 0.1)),
        },
        "one pass",
    ),
    Job(
        "scores weighted-interval",
        "Weighted interval score of three intervals, each row",
        SIZES,
        quantiles,
        exact(_true_weighted),
        {
            OURS: _our_metric(
                "weighted_interval_score",
                lambda d: {"low": d.low, "high": d.high, "coverage": COVERAGES, "median": d.median},
            ),
            "scoringrules": _scoringrules(
                "weighted_interval_score", lambda d: (d.y, d.median, d.low, d.high, 1 - COVERAGES)
            ),
        },
        "one pass",
    ),
    Job(
        "scores energy",
        f"Energy score of {MEMBERS} vectors of {DIMENSIONS}, each row",
        VECTOR_SIZES,
        vectors,
        exact(_true_energy),
        {
            OURS: _our_metric("energy_score", lambda d: {"samples": d.x}),
            "scoringrules": _scoringrules("es_ensemble", lambda d: (d.y, d.x)),
        },
        "one pass",
    ),
)
