"""GP-Beta: fitting and dense prediction on the paper's toy beside netcal, and a large heteroscedastic fit."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

from calibrant import GPBetaCalibrator, Normal, metrics
from calibrant.regression.gp_beta import calibrator as gp_beta
from calibrant.regression.gp_beta import learning as gp_beta_learning
from experiments.song2019.toy.toy import Toy, toy

from .timing import Line, Measure, Note, cpu_seconds

FLOOR = "exp of 1e7"


def lines() -> Iterator[Line | Measure | Note]:
    """All against one floor; netcal, which brings torch and pyro, where it is installed."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="GPBetaCalibrator made the probabilistic")
        yield from _toy_lines()
        yield from _large_lines()
        yield from _peer_lines()


def _floor() -> float:
    x = np.random.default_rng(0).standard_normal(10_000_000)
    return cpu_seconds(lambda: np.exp(x))


def _toy_lines() -> Iterator[Line]:
    exp = _floor()
    old, new = toy(0)
    seconds = cpu_seconds(lambda: GPBetaCalibrator().fit(old.base, old.y))
    yield Line("toy fit, 360 rows, hyperparameters learned", seconds, FLOOR, exp, 4.0)
    cal = GPBetaCalibrator().fit(old.base, old.y)
    seconds = cpu_seconds(lambda: cal.transform(new.base).logpdf(new.y))
    name = f"transform + log density of 5 000 outcomes (NLL {metrics.nll(new.y, cal.transform(new.base)):.3f})"
    yield Line(name, seconds, FLOOR, exp, 0.5)
    grid = _grid(old)
    seconds = cpu_seconds(lambda: cal.transform(new.base[:1000]).logpdf(grid))
    yield Line("transform + log density, 1000 x 4096 grid", seconds, FLOOR, exp, 6.0)
    seconds = cpu_seconds(lambda: cal.transform(new.base[:1000]).crps(new.y[:1000]))
    yield Line("transform + CRPS of 1000 outcomes", seconds, FLOOR, exp)


def _large_lines() -> Iterator[Line | Measure]:
    exp = _floor()
    law, y = _skewed(0, 15_000)
    new, y_new = _skewed(1, 20_000)
    seconds = cpu_seconds(lambda: GPBetaCalibrator().fit(law, y))
    loss = metrics.nll(y_new, GPBetaCalibrator().fit(law, y).transform(new))
    name = f"fit, 15 000 heteroscedastic skewed rows (NLL {metrics.nll(y_new, new):.3f} -> {loss:.4f})"
    yield Line(name, seconds, FLOOR, exp, 25.0)
    best = metrics.nll(y_new, _converged(law, y).transform(new))
    yield Measure(f"  its NLL above that of a fit run to convergence ({best:.4f})", loss - best, "nats", 0.005)


def _converged(law: Normal, y: np.ndarray) -> GPBetaCalibrator:
    """Twice the inducing points, hyperparameters learned on all rows until nothing moves."""
    with mock.patch.object(gp_beta, "MOST_ROWS", len(y)), mock.patch.multiple(gp_beta_learning, GAIN=1e-4, FTOL=1e-9):
        return GPBetaCalibrator(48, kernel="ard").fit(law, y)


def _peer_lines() -> Iterator[Line | Measure | Note]:
    """One run each of netcal's GP-Beta, and ours beside it."""
    try:
        import torch
        from netcal.regression import GPBeta
    except ImportError:
        yield Note("netcal: not installed (pip install torch, then netcal, in an environment of its own)")
        return
    torch.set_num_threads(1)
    torch.manual_seed(0)
    (old, new), peer, cal = toy(0), GPBeta(), GPBetaCalibrator()
    with contextlib.redirect_stderr(io.StringIO()):  # its progress bar
        theirs = cpu_seconds(lambda: peer.fit((old.base.loc, old.base.scale), old.y), 1)
    yield Line("netcal: toy fit, one run", theirs, "itself", theirs)
    yield Line("  ours", cpu_seconds(lambda: cal.fit(old.base, old.y)), "netcal", theirs, 1 / 50)
    loss = -float(np.log(_peer_density(peer, new.base, new.y[None, :, None])).mean())
    name = f"  our NLL of 5 000 outcomes less netcal's ({loss:.3f})"
    yield Measure(name, metrics.nll(new.y, cal.transform(new.base)) - loss, "nats", 0.0)
    few, grid = new.base[:100], _grid(old)
    theirs = cpu_seconds(lambda: _peer_density(peer, few, grid[0]), 1)
    yield Line("netcal: density, 100 x 4096 grid, one run", theirs, "itself", theirs)
    yield Line("  ours", cpu_seconds(lambda: cal.transform(few).pdf(grid)), "netcal", theirs, 1 / 50)


def _peer_density(peer: Any, law: Normal, t: np.ndarray) -> np.ndarray:
    return np.asarray(peer.transform((law.loc, law.scale), t=t)[1])


def _grid(data: Toy) -> np.ndarray:
    """The paper's: eight standard deviations beyond all means."""
    low, high = data.base.loc.min() - 8 * data.base.scale[0], data.base.loc.max() + 8 * data.base.scale[0]
    return np.linspace(low, high, 4096)[None, :]


def _skewed(seed: int, n: int) -> tuple[Normal, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n)
    scale, mean = 0.3 + 1.2 * x**2, 2 * np.sin(6 * x)
    skewed, symmetric = (rng.gamma(2, 1, n) - 2) / np.sqrt(2), rng.standard_normal(n)
    y = mean + 0.3 * np.cos(3 * x) + scale * np.where(x > 0.4, skewed, symmetric)
    return Normal(mean + rng.normal(0, 0.1, n), scale**0.6 * np.exp(rng.normal(0, 0.2, n))), y
