"""Empirical density calibration beside a loop of scikit-learn's logistic regressions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit, log_expit

from calibrant import Normal
from calibrant.links import BetaLink, Trials, binned
from calibrant.links.trials import FARTHEST
from calibrant.regression.density import DensityCalibrator, quantile_thresholds, segment_logits

from .timing import Line, cpu_seconds

_FREE = 1e-9  # a penalty of no consequence: maximum likelihood, as scikit-learn's without one


def lines(n: int = 100_000, segments: int = 64) -> Iterator[Line]:
    """Fitting 64 beta calibrators to 1e5 rows each, ours with the quantile map and the masses included."""
    forecasts, y = _rows(n)
    edges = quantile_thresholds(y, np.ones(n), segments - 1)
    logits = np.clip(segment_logits(forecasts.to_normal(edges[None, :])), -FARTHEST, FARTHEST)
    which = np.searchsorted(edges, y, side="left")
    reference = _exact(logits, which)
    floor = cpu_seconds(lambda: _loop(logits, which, solver="lbfgs"), 1)
    yield Line(f"scikit-learn (lbfgs), {segments} x {n:.0e} rows, masses given", floor, "itself", floor)
    seconds = cpu_seconds(lambda: _loop(logits, which, solver="newton-cholesky"), 1)
    yield Line("  the same with its newton-cholesky solver", seconds, "scikit-learn (lbfgs)", floor)
    seconds = cpu_seconds(lambda: _binned(logits, which))
    yield Line("our binned fit, masses given", seconds, "scikit-learn (lbfgs)", floor, 1 / 8)
    for polish in (False, True):
        calibrator = DensityCalibrator(thresholds=edges, polish=polish)
        seconds = cpu_seconds(lambda c=calibrator: c.fit(forecasts, y), 3)
        yield Line(
            f"DensityCalibrator(polish={polish}).fit, masses and quantile map too",
            seconds,
            "scikit-learn (lbfgs)",
            floor,
        )
    yield _error("largest error of a probability, binned", _binned(logits, which), (logits, reference), 1e-3)
    yield _error("largest error of a probability, polished", _polished(logits, which), (logits, reference), 1e-5)


def _rows(n: int) -> tuple[Normal, np.ndarray]:
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(0, 2, n), np.exp(0.4 * rng.standard_normal(n))
    return Normal(mu, sigma), mu + 1.5 * sigma * rng.standard_normal(n)


def _loop(logits: np.ndarray, which: np.ndarray, **settings: object) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    out = []
    for k in range(logits.shape[1]):
        x = np.column_stack([log_expit(logits[:, k]), -log_expit(-logits[:, k])])
        model = LogisticRegression(C=np.inf, max_iter=1000, **settings).fit(x, which == k)
        out.append([*model.coef_[0], model.intercept_[0]])
    return np.array(out)


def _exact(logits: np.ndarray, which: np.ndarray) -> np.ndarray:
    return _loop(logits, which, solver="newton-cholesky", tol=1e-10)


def _binned(logits: np.ndarray, which: np.ndarray) -> BetaLink:
    trials = binned(_blocks(logits, which), logits.shape[1])
    return BetaLink.fit(trials, penalty=_FREE, nonnegative=False)


def _polished(logits: np.ndarray, which: np.ndarray) -> BetaLink:
    exact = [Trials.one_of_many(*block) for block in _blocks(logits, which)]
    trials = binned(_blocks(logits, which), logits.shape[1])
    return BetaLink.fit(trials, penalty=_FREE, nonnegative=False, exact=exact)


def _blocks(logits: np.ndarray, which: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    for start in range(0, len(which), 2048):
        rows = slice(start, start + 2048)
        yield logits[rows], which[rows], np.ones(len(which[rows]))


def _error(task: str, link: BetaLink, against: tuple[np.ndarray, np.ndarray], allowed: float) -> Line:
    logits, reference = against
    a, b, m = reference.T
    theirs = expit(a * log_expit(logits) - b * log_expit(-logits) + m)
    worst = float(np.abs(np.exp(link.log_probability(logits)) - theirs).max())
    return Line(f"{task}: {worst:.1e} (as ms)", worst / 1e3, "1", 1e-3, allowed)
