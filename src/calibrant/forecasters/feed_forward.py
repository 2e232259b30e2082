"""Nets of fully connected layers, whatever is made of their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import Array, count, one_of
from ..distributions import Distribution, Mixture, Normal
from .backend import Tensor, need_torch
from .base import NetRegressor
from .mlp import mlp_shapes, start_mlp
from .training import Parameters

LAWS = ("normal", "mixture")


class FeedForward(NetRegressor):
    """What nets of fully connected layers share; ``_n_outputs`` a row."""

    hidden: Sequence[int]
    activation: str
    law: str
    _n_outputs = 2

    def _widths(self) -> list[int]:
        return [self.n_features_in_, *self.hidden, self._n_outputs]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return mlp_shapes(self._widths(), self._members(), self.activation)

    def _start(self, generator: Any) -> Parameters:
        return start_mlp(self._shapes(), generator)

    def _check(self) -> None:
        super()._check()
        one_of(self.activation, "activation", ("relu", "prelu"))
        one_of(self.law, "law", LAWS)
        widths: Any = self.hidden
        if not isinstance(widths, (list, tuple, np.ndarray)) or not len(widths):
            raise ValueError(f"`hidden` must be widths of one layer or more, (128, 128) say; got {widths!r}.")
        for width in widths:
            count(width, "hidden")

    def _activations(self, passes: int = 1) -> int:
        """Of a row in the widest layer, over all members and passes."""
        return self._members() * passes * max(self._widths())

    def _of_components(self, mean: Array, var: Array) -> Distribution:
        """The law of components (c, n) of the standardised target: their mixture, or the normal law of its moments.

        ``var`` has their shape, or one that spreads to it.
        """
        [centre], [scale] = self.target_.mean, self.target_.scale
        if self.law == "mixture" or len(mean) == 1:
            each = zip(mean, np.broadcast_to(var, mean.shape), strict=True)
            parts = [Normal(centre + scale * m, scale * np.sqrt(v)) for m, v in each]
            return parts[0] if len(parts) == 1 else Mixture(parts)
        middle = np.add.reduce(mean) / len(mean)
        spread = np.add.reduce(np.square(mean - middle)) / len(mean)
        return Normal(centre + scale * middle, scale * np.sqrt(spread + np.add.reduce(var) / len(var)))

    def _check_sound(self) -> None:
        super()._check_sound()
        if self.inputs_.mean.shape != (self.n_features_in_,) or self.target_.mean.shape != (1,):
            raise ValueError(f"{type(self).__name__} must have a scaling of each feature and of the target.")


def normal_losses(y: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    r"""Negative log likelihoods :math:`\frac12\log 2\pi\sigma^2 + (y-\mu)^2/2\sigma^2`."""
    return 0.5 * ((2 * np.pi * var).log() + (y - mean).square() / var)


def drop(shape: Sequence[int], rate: float, generator: Any) -> Tensor:
    r"""Factors 0 with probability p, and :math:`1/(1-p)` else: they leave means as they are."""
    torch = need_torch()
    chance = torch.rand(tuple(shape), generator=generator, device=generator.device)
    return chance.ge_(rate).div_(1 - rate)
