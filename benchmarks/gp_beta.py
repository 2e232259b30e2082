"""GP-Beta: fitting and dense prediction on the paper's toy, and a large heteroscedastic fit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LinearRegression

from calibrant import Normal, metrics
from calibrant.regression.gp_beta import GPBetaCalibrator

from .timing import Line, cpu_seconds


def lines() -> Iterator[Line]:
    """All against one floor; the peer (netcal, 18-21 s for the toy fit) brings torch and pyro and is not run here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="GPBetaCalibrator made the marginal")
        yield from _toy_lines()
        yield from _large_lines()


def _floor() -> float:
    x = np.random.default_rng(0).standard_normal(10_000_000)
    return cpu_seconds(lambda: np.exp(x))


def _toy_lines() -> Iterator[Line]:
    exp = _floor()
    law, y, new, y_new = _toy(0)
    seconds = cpu_seconds(lambda: GPBetaCalibrator().fit(law, y))
    yield Line("toy fit, 360 rows, hyperparameters learned", seconds, "exp of 1e7", exp, 4.0)
    cal = GPBetaCalibrator().fit(law, y)
    seconds = cpu_seconds(lambda: cal.transform(new).logpdf(y_new))
    name = f"transform + log density of 5 000 outcomes (NLL {metrics.nll(y_new, cal.transform(new)):.3f})"
    yield Line(name, seconds, "exp of 1e7", exp, 0.5)
    low, high = law.loc.min() - 8 * law.scale[0], law.loc.max() + 8 * law.scale[0]  # the paper's grid
    grid = np.linspace(low, high, 4096)[None, :]
    seconds = cpu_seconds(lambda: cal.transform(new[:1000]).logpdf(grid))
    yield Line("transform + log density, 1000 x 4096 grid", seconds, "exp of 1e7", exp, 6.0)
    seconds = cpu_seconds(lambda: cal.transform(new[:1000]).crps(y_new[:1000]))
    yield Line("transform + CRPS of 1000 outcomes", seconds, "exp of 1e7", exp)


def _large_lines() -> Iterator[Line]:
    exp = _floor()
    law, y = _skewed(0, 15_000)
    new, y_new = _skewed(1, 20_000)
    seconds = cpu_seconds(lambda: GPBetaCalibrator().fit(law, y))
    loss = metrics.nll(y_new, GPBetaCalibrator().fit(law, y).transform(new))
    name = f"fit, 15 000 heteroscedastic skewed rows (NLL {metrics.nll(y_new, new):.3f} -> {loss:.3f})"
    yield Line(name, seconds, "exp of 1e7", exp, 25.0)


def _toy(seed: int) -> tuple[Normal, np.ndarray, Normal, np.ndarray]:
    """Song et al. (2019), §5: an equal mixture of two lines, forecast by one."""
    rng = np.random.default_rng(seed)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        x = rng.uniform(-10, 40, n)
        return x[:, None], np.where(rng.random(n) < 0.5, 0.5 * x, 0.0) + rng.normal(0, np.sqrt(2), n)

    (x, y), (x_new, y_new) = draw(360), draw(5000)
    model = LinearRegression().fit(x, y)
    sigma = np.sqrt(np.mean((y - model.predict(x)) ** 2))
    return Normal(model.predict(x), sigma), y, Normal(model.predict(x_new), sigma), y_new


def _skewed(seed: int, n: int) -> tuple[Normal, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n)
    scale, mean = 0.3 + 1.2 * x**2, 2 * np.sin(6 * x)
    skewed, symmetric = (rng.gamma(2, 1, n) - 2) / np.sqrt(2), rng.standard_normal(n)
    y = mean + 0.3 * np.cos(3 * x) + scale * np.where(x > 0.4, skewed, symmetric)
    return Normal(mean + rng.normal(0, 0.1, n), scale**0.6 * np.exp(rng.normal(0, 0.2, n))), y
