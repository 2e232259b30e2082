"""A dropout net as the first author's code trains it: Adadelta, batches of half the rows, patience with its loss."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Layers = list[tuple[Single, Single]]  # weights (inputs, outputs) and biases (outputs,)
WIDTH, DECAY, LENGTH, PASSES = 128, 1e-4, 1.0, 128
DROPOUT = 0.5  # a bit of a random byte says which unit is dropped, so it is this and no other
RHO, EPSILON = 0.95, 1e-7  # Keras's


class AdadeltaNet(RegressorMixin, BaseEstimator):
    r"""Two layers of 128 rectified units, dropout 0.5, left on in forecasts: their mean and variance, and noise.

    Minimises the mean squared error and :math:`\lambda\lVert W\rVert^2` of all weights, without biases; inputs and
    targets are as they are. Batches have half the rows (an odd row is a batch of its own); it ends when the loss of
    an epoch, dropout and penalty in it, has not been below the least so far for `patience` epochs.

    Parameters
    ----------
    rate : float
        Of Adadelta.
    rows : int, optional
        N of the noise :math:`\tau^{-1} = 2N\lambda/\ell^2(1-p)`; where it is not given, the rows that are forecast.
    patience, most_epochs : int
    seed : int
    """

    def __init__(
        self, rate: float = 1.0, rows: int | None = None, patience: int = 256, most_epochs: int = 100_000, seed: int = 0
    ) -> None:
        self.rate = rate
        self.rows = rows
        self.patience = patience
        self.most_epochs = most_epochs
        self.seed = seed

    def fit(self, X: Array, y: Array) -> Self:
        """Train."""
        random = np.random.default_rng(self.seed)
        self.n_features_in_ = X.shape[1]
        x, target = np.asarray(X, np.float32), np.asarray(y, np.float32)
        widths = [X.shape[1], WIDTH, WIDTH, 1]
        flat, self.layers_ = _parts(widths)
        for weight, _ in self.layers_:
            weight[:] = random.uniform(-1, 1, weight.shape) * (6 / sum(weight.shape)) ** 0.5  # Glorot's
        steps = _Adadelta(flat, widths, self.rate)
        least, self.n_epochs_, waited = np.inf, 0, 0
        while waited < self.patience and self.n_epochs_ < self.most_epochs:
            loss = self._epoch(x, target, steps, random)
            waited, least = (0, loss) if loss < least else (waited + 1, least)
            self.n_epochs_ += 1
        return self

    def _epoch(self, x: Single, y: Single, steps: _Adadelta, random: np.random.Generator) -> float:
        """One pass over the rows in new order; the mean loss of its batches."""
        order, size, total = random.permutation(len(y)), max(len(y) // 2, 1), 0.0
        for start in range(0, len(y), size):
            rows = order[start : start + size]
            hidden = self._hidden(x[rows], random)
            error = hidden[-1] @ self.layers_[-1][0][:, 0] + self.layers_[-1][1] - y[rows]
            penalty = DECAY * sum(float(np.vdot(weight, weight)) for weight, _ in self.layers_)
            total += (float(error @ error) / len(rows) + penalty) * len(rows) / len(y)
            self._slopes(hidden, error * np.float32(2 / len(rows)), steps.layers)
            steps.step()
        return total

    def _hidden(self, h: Single, random: np.random.Generator) -> list[Single]:
        """What goes into each layer: inputs, and units of which each row has its own dropped."""
        found = [h]
        for weight, bias in self.layers_[:-1]:
            h = h @ weight
            h += bias
            np.maximum(h, 0, out=h)
            bits = np.frombuffer(random.bytes(h.size // 8), np.uint8)
            h *= (np.unpackbits(bits) << 1).reshape(h.shape)  # 0 or 2
            found.append(h)
        return found

    def _slopes(self, hidden: list[Single], error: Single, slopes: Layers) -> None:
        """Write the gradient, of which ``error`` is that of the outputs."""
        behind = error[:, None]
        for at in reversed(range(len(hidden))):
            weight, (by_weight, by_bias) = self.layers_[at][0], slopes[at]
            np.matmul(hidden[at].T, behind, out=by_weight)
            by_weight += np.float32(2 * DECAY) * weight
            by_bias[:] = behind.sum(axis=0)
            if at:
                behind = behind @ (2 * weight.T)
                behind *= hidden[at] > 0

    def predict(self, X: Array, return_std: bool = False) -> Any:
        """Means of the passes, and with ``return_std`` standard deviations; the same each time."""
        x, random = np.asarray(X, np.float32), np.random.default_rng([self.seed, 1])
        weight, bias = self.layers_[-1]
        passes = np.array([self._hidden(x, random)[-1] @ weight[:, 0] + bias for _ in range(PASSES)], np.float64)
        noise = 2 * (self.rows or len(x)) * DECAY / (LENGTH**2 * (1 - DROPOUT))
        mean, std = passes.mean(axis=0), np.sqrt(noise + passes.var(axis=0))
        return (mean, std) if return_std else mean


class _Adadelta:
    """Steps of parameters, which are one vector, along a gradient that is written into ``layers``."""

    def __init__(self, flat: Single, widths: list[int], rate: float) -> None:
        self.flat, self.rate = flat, np.float32(rate)
        self.slopes, self.layers = _parts(widths)
        self.squares, self.moves = np.zeros_like(flat), np.zeros_like(flat)  # running means of squares

    def step(self) -> None:
        """Move."""
        self.squares += np.float32(1 - RHO) * (self.slopes * self.slopes - self.squares)
        move = np.sqrt((self.moves + np.float32(EPSILON)) / (self.squares + np.float32(EPSILON))) * self.slopes
        self.flat -= self.rate * move
        self.moves += np.float32(1 - RHO) * (move * move - self.moves)


def _parts(widths: list[int]) -> tuple[Single, Layers]:
    """Zeros as one vector, and its parts as layers."""
    shapes = list(pairwise(widths))
    flat = np.zeros(sum((a + 1) * b for a, b in shapes), np.float32)
    layers, at = [], 0
    for a, b in shapes:
        layers.append((flat[at : at + a * b].reshape(a, b), flat[at + a * b : at + (a + 1) * b]))
        at += (a + 1) * b
    return flat, layers
