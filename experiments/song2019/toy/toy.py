"""Data of the example: an equal mixture of y = 0.5 x + ε and y = ε, seen by a straight line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant import Mixture, Normal

ROWS, FRESH = 360, 5000
NOISE = np.sqrt(2.0)  # ε ~ N(0, variance 2)


@dataclass(frozen=True)
class Toy:
    """Inputs, outcomes and the forecasts of the straight line."""

    x: np.ndarray
    y: np.ndarray
    base: Normal

    @property
    def truth(self) -> Mixture:
        """The law that the outcomes were drawn from."""
        return truth(self.x)


def truth(x: np.ndarray) -> Mixture:
    """The equal mixture of N(0.5 x, 2) and N(0, 2)."""
    return Mixture([Normal(0.5 * x, NOISE), Normal(0 * x, NOISE)])


def toy(seed: int, n: int = ROWS, fresh: int = FRESH) -> tuple[Toy, Toy]:
    """Calibration rows and fresh rows; least squares is fitted on the former, σ is its residual standard deviation."""
    rng = np.random.default_rng(seed)
    (x, y), (x_new, y_new) = _draw(rng, n), _draw(rng, fresh)
    slope, intercept = np.polyfit(x, y, 1)
    sigma = float(np.std(y - (slope * x + intercept), ddof=2))
    old, new = (Normal(slope * v + intercept, sigma) for v in (x, x_new))
    return Toy(x, y, old), Toy(x_new, y_new, new)


def _draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.uniform(-10.0, 40.0, n)
    return x, np.where(rng.random(n) < 0.5, 0.5 * x, 0.0) + rng.normal(0.0, NOISE, n)
