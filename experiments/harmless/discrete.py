"""Rounded and zero-inflated outcomes under Normal forecasts, scored by CRPS."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from calibrant.maps import Map, identity

from .cases import Array


class Outcomes(NamedTuple):
    """Normal forecasts and what came."""

    mean: Array
    sd: Array
    y: Array

    @property
    def scores(self) -> Array:
        return (self.y - self.mean) / self.sd


def crps(fitted: Map, rows: Outcomes) -> float:
    """Mean CRPS of the recalibrated forecasts: prefix integrals of F² and (1-F)² on a fine grid of scores."""
    z = rows.scores
    reach = np.append(fitted.inverse(np.array([-9.0, 9.0])), [z.min() - 1, z.max() + 1])
    grid = np.unique(np.concatenate([np.linspace(reach.min(), reach.max(), 200_001), z]))
    t = fitted(grid)
    step = np.diff(grid)
    low, high = ndtr(t) ** 2, ndtr(-t) ** 2
    below = np.append(0.0, np.cumsum(0.5 * step * (low[1:] + low[:-1])))
    above = np.append(np.cumsum((0.5 * step * (high[1:] + high[:-1]))[::-1])[::-1], 0.0)
    return float(np.mean(rows.sd * np.interp(z, grid, below + above)))


def rounded(width: float, varying: bool) -> Callable[[np.random.Generator, int], Outcomes]:
    """The truth of right forecasts, rounded to multiples of the width."""

    def draw(rng: np.random.Generator, n: int) -> Outcomes:
        mean = rng.normal(0.0, 2.0, n) if varying else np.full(n, 0.2)
        return Outcomes(mean, np.ones(n), np.round(rng.normal(mean, 1.0) / width) * width)

    return draw


def zero_inflated(share: float, varying: bool, noisy: bool = False) -> Callable[[np.random.Generator, int], Outcomes]:
    """Zero or gamma, forecast by the Normal with the right mean and standard deviation, or a noisy one."""

    def draw(rng: np.random.Generator, n: int) -> Outcomes:
        scale = np.exp(rng.normal(0.0, 0.5, n)) if varying else np.ones(n)
        y = np.where(rng.random(n) < share, 0.0, rng.gamma(2.0, scale, n))
        mean = (1 - share) * 2 * scale
        sd = np.sqrt((1 - share) * 6 * scale**2 - mean**2)
        return Outcomes(mean, sd * np.exp(rng.normal(0.0, 0.3, n)) if noisy else sd, y)

    return draw


KINDS = {
    **{f"rounded to {w:g}σ, same": rounded(w, False) for w in (0.1, 0.5, 1.0, 2.0, 4.0)},
    **{f"rounded to {w:g}σ, varying": rounded(w, True) for w in (0.1, 0.5, 1.0, 2.0, 4.0)},
    **{f"zeros {s:.0%}, same": zero_inflated(s, False) for s in (0.1, 0.4, 0.8)},
    **{f"zeros {s:.0%}, varying": zero_inflated(s, True) for s in (0.1, 0.4, 0.8)},
    **{f"zeros {s:.0%}, noisy σ": zero_inflated(s, True, True) for s in (0.1, 0.4, 0.8)},
}


def change(kind: str, n: int, draws: int, fit: Callable[[Array], Map]) -> float:
    """Mean CRPS after recalibration over that before, minus 1, on 20 000 fresh rows of each draw."""
    before = after = 0.0
    for draw in range(draws):
        rng = np.random.default_rng([n, draw, 2])
        fitted = fit(KINDS[kind](rng, n).scores)
        fresh = KINDS[kind](rng, 20_000)
        before += crps(identity(), fresh)
        after += crps(fitted, fresh)
    return after / before - 1
