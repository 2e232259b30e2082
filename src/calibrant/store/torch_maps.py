"""Maps of normal scores as modules of torch. Needs torch: imported only where it is asked for."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from .._checks import Array
from ..maps import AffineMap, BetaMap, Map, PiecewiseLinearMap, ProbabilityMap, SplineMap, StepMap
from ..numerics.lookup import KnotIndex
from ..numerics.tails import HALF_LOG_2PI

Tensor = Any  # torch.Tensor
Tables = dict[str, Any]  # numbers of a map by name

_SLACK = 0.02  # of a cell, by which a position in single precision may be off,
_MOST = 2**15  # if there are no more cells than these


def normal_below(z: Tensor) -> Tensor:
    r""":math:`\Phi(z)`, right in the lower tail too, where ``torch.special.ndtr`` is 0."""
    return 0.5 * torch.erfc(-math.sqrt(0.5) * z)


class Knots(nn.Module):
    """How many of the sorted knots are at or below each number: `KnotIndex` on tensors."""

    def __init__(self, knots: Tensor) -> None:
        super().__init__()
        self.register_buffer("knots", knots)
        self.prepare()

    def prepare(self) -> None:
        """Make the grid of these knots; it is no part of the state."""
        grid = KnotIndex(self.knots.double().cpu().numpy(), _SLACK)._grid
        self.centre, self.scale, self.first, self.density, self.last = grid[:5]
        too_fine = self.knots.dtype == torch.float32 and self.last > _MOST
        self.steps = None if too_fine or grid.crowded is not None else grid.steps
        start = torch.as_tensor(grid.start.astype(np.int32), device=self.knots.device)
        padded = torch.cat([self.knots, self.knots.new_full((len(grid.padded) - len(self.knots),), math.nan)])
        for name, table in {"start": start, "padded": padded}.items():
            self.register_buffer(name, table, persistent=False)

    def forward(self, z: Tensor) -> Tensor:
        """Number of knots at or below z; 0 where z is not a number."""
        z = z.detach()
        if self.steps is None:
            return torch.searchsorted(self.knots, torch.where(z.isnan(), -math.inf, z), right=True)
        position = torch.asinh((z - self.centre) * (1 / self.scale)) * self.density - self.first * self.density
        position = torch.where(position > 0, position, 0.0)  # also where it is not a number
        count = self.start[torch.where(position < self.last, position, self.last).int()]
        for step in self.steps:
            count = torch.where(self.padded[count + (step - 1)] <= z, count + step, count)
        return count


class MapModule(nn.Module):
    """A map T of normal scores by its tables; the last of a chain gives probabilities and densities too."""

    kind: ClassVar[type[Map]]

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        for name, table in tables.items():
            if name == "knots":
                self.knots = Knots(table)
            else:
                self.register_buffer(name, table)

    @staticmethod
    def tables(map: Any) -> Tables:
        """The numbers of a map."""
        raise NotImplementedError

    def score(self, z: Tensor) -> Tensor:
        """T(z)."""
        kind = self.kind.__name__
        raise TypeError(f"the distribution function of a {kind} is known but as the last of a chain; quantiles are.")

    def log_slope(self, z: Tensor) -> Tensor:
        """log T'(z)."""
        raise NotImplementedError

    def level(self, z: Tensor) -> Tensor:
        r""":math:`\Phi(T(z))`."""
        return normal_below(self.score(z))

    def log_density(self, z: Tensor) -> Tensor:
        r"""Logarithm of its derivative, :math:`\log T'(z) - T(z)^2/2 - \tfrac12\log 2\pi`."""
        t = self.score(z)
        return self.log_slope(z) - 0.5 * t * t - HALF_LOG_2PI


class Affine(MapModule):
    """A shift and a stretch."""

    kind = AffineMap

    @staticmethod
    def tables(map: AffineMap) -> Tables:
        return {"intercept": map.intercept, "slope": map.slope}

    def score(self, z: Tensor) -> Tensor:
        return self.intercept + self.slope * z

    def log_slope(self, z: Tensor) -> Tensor:
        return self.slope.log().expand_as(z)


class Pieces(MapModule):
    """Pieces of parabolas, among them lines: height, slope and half the change of slope at an anchor of each piece."""

    def _piece(self, z: Tensor) -> tuple[Tensor, Tensor]:
        piece = self.knots(z)
        return piece, torch.where(z.isinf(), 0.0, z - self.knot[piece])

    def score(self, z: Tensor) -> Tensor:
        piece, d = self._piece(z)
        height = self.value[piece] + d * (self.slope[piece] + d * self.bend[piece])
        return torch.where(z.isinf(), z, height)

    def log_slope(self, z: Tensor) -> Tensor:
        piece, d = self._piece(z)
        return torch.log(self.slope[piece] + 2 * d * self.bend[piece])


class Spline(Pieces):
    """Parabolas."""

    kind = SplineMap

    @staticmethod
    def tables(map: SplineMap) -> Tables:
        return {"knots": map.knots, **map._pieces._asdict()}


class Bent(Pieces):
    """A bent line."""

    kind = PiecewiseLinearMap

    @staticmethod
    def tables(map: PiecewiseLinearMap) -> Tables:
        start = np.maximum(np.arange(len(map.knots) + 1) - 1, 0)
        lines = {"knot": map.knots[start], "value": map.levels[start], "slope": map._slopes}
        return {"knots": map.knots, **lines, "bend": np.zeros(len(start))}


class Steps(MapModule):
    """The steps of ranks: probabilities, and no densities."""

    kind = StepMap

    @staticmethod
    def tables(map: StepMap) -> Tables:
        return {"knots": map.knots, "scores": map._scores, "levels": np.append(0.0, map.cumulative)}

    def _step(self, z: Tensor) -> Tensor:
        """Of scores a little to the right, as `StepMap` does: a round trip may miss a knot by rounding."""
        slack = max(1e-9, 4 * torch.finfo(z.dtype).eps)
        return self.knots(z + slack * (1 + z.abs().clamp(max=1e9)))

    def score(self, z: Tensor) -> Tensor:
        return torch.where(z.isnan(), z, self.scores[self._step(z)])

    def level(self, z: Tensor) -> Tensor:
        return torch.where(z.isnan(), z, self.levels[self._step(z)])

    def log_slope(self, z: Tensor) -> Tensor:
        raise TypeError("a step map gives atoms, not a density; use cdf, or map='ecdf' or 'spline'.")


class Probability(MapModule):
    """Lines between probabilities, measured from the nearer end of [0, 1]."""

    kind = ProbabilityMap

    @staticmethod
    def tables(map: ProbabilityMap) -> Tables:
        p, q, r, s, rho = map._table
        ends = {"low": p[:-1], "upper_low": q[:-1], "high": p[1:], "upper_high": q[1:]}
        return {"knots": map.knots, **ends, "image": r[:-1], "upper_image": s[1:], "rho": rho}

    def level(self, z: Tensor) -> Tensor:
        piece, upper = self.knots(z), z > 0
        p, q = normal_below(z), normal_below(-z)
        left = torch.where(upper, self.upper_low[piece] - q, p - self.low[piece]).clamp(min=0)
        right = torch.where(upper, q - self.upper_high[piece], self.high[piece] - p).clamp(min=0)
        below = self.image[piece] + self.rho[piece] * left
        above = self.upper_image[piece] + self.rho[piece] * right
        return torch.where(below < above, below, 1 - above)

    def log_density(self, z: Tensor) -> Tensor:
        return torch.log(self.rho[self.knots(z)]) - 0.5 * z * z - HALF_LOG_2PI


class Beta(MapModule):
    r""":math:`\sigma(a\ln\Phi(z) - b\ln\Phi(-z) + c)`."""

    kind = BetaMap

    @staticmethod
    def tables(map: BetaMap) -> Tables:
        return {"a": map.a, "b": map.b, "c": map.c}

    def _odds(self, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        low, high = torch.special.log_ndtr(z), torch.special.log_ndtr(-z)
        return self.a * low - self.b * high + self.c, low, high

    def level(self, z: Tensor) -> Tensor:
        return torch.sigmoid(self._odds(z)[0])

    def log_density(self, z: Tensor) -> Tensor:
        h, low, high = self._odds(z)
        size = h.abs()
        rate = torch.logaddexp(self.a.log() - low, self.b.log() - high)
        return rate - size - 2 * torch.log1p(torch.exp(-size)) - 0.5 * z * z - HALF_LOG_2PI


KINDS: tuple[type[MapModule], ...] = (Affine, Spline, Bent, Steps, Probability, Beta)  # their numbers are kept


def module_of(map: Map, dtype: Any) -> MapModule:
    """The module of a map, in a precision."""
    for kind in KINDS:
        if kind.kind is type(map):
            return kind({name: _tensor(np.asarray(table), dtype, map) for name, table in kind.tables(map).items()})
    raise TypeError(f"a {type(map).__name__} cannot be exported yet; maps that can are those of QuantileCalibrator.")


def _tensor(table: Array, dtype: Any, map: Map) -> Tensor:
    tensor = torch.tensor(table, dtype=dtype)
    if not np.array_equal(np.isfinite(table), tensor.isfinite().numpy()):
        raise ValueError(f"`dtype` must be torch.float64 for this {type(map).__name__}: it is too steep for {dtype}.")
    return tensor
