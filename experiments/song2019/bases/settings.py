"""The settings among which a base is chosen: by name, what makes the model for so many rows and a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from calibrant.forecasters import DropoutMLP
from calibrant.forecasters.scaling import Scaling

from ..table1.net import AdadeltaNet
from ..table1.process import CodeProcess

Array = NDArray[np.float64]
Make = Callable[[Array, Array, int], Any]  # training rows, their targets, a seed
INPUTS = ("raw", "standardised")


class PlainNet(DropoutMLP):
    """A net trained by Adam on inputs and targets as they are."""

    def _scales(self, X: Array, y: Array, weights: Array) -> tuple[Scaling, Scaling]:
        return Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1])), Scaling(np.zeros(1), np.ones(1))


def _adam(**options: Any) -> Make:
    def make(X: Array, y: Array, seed: int) -> PlainNet:
        return PlainNet(precision=1 / noise(len(y)), random_state=seed, **options)

    return make


def _adadelta(rate: float) -> Make:
    return lambda X, y, seed: AdadeltaNet(rate, len(y), seed=seed)


def noise(rows: int) -> float:
    r""":math:`\tau^{-1}` of so many rows."""
    plain = DropoutMLP()
    return 2 * rows * plain.weight_decay / (plain.length_scale**2 * (1 - plain.dropout))


def _process(lengths: bool) -> Make:
    def make(X: Array, y: Array, seed: int) -> GaussianProcessRegressor:
        kernel = ConstantKernel() * RBF(np.ones(X.shape[1]) if lengths else 1.0) + WhiteKernel()
        return GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)

    return make


MODELS: dict[str, dict[str, Make]] = {
    "NN": {
        "Adadelta 1": _adadelta(1.0),
        "Adadelta 0.001": _adadelta(0.001),
        "Adam, stopped early": _adam(),
        "Adam, 40 epochs": _adam(max_epochs=40, validation_fraction=0.0),
        "Adam, 400 epochs": _adam(max_epochs=400, validation_fraction=0.0),
    },
    "GPR": {
        "one length": _process(lengths=False),
        "a length each": _process(lengths=True),
        "the code's": lambda X, y, seed: CodeProcess(),
    },
}
