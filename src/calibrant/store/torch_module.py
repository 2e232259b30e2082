"""Calibrated normal forecasts as a module of torch. Needs torch: imported only where it is asked for."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import torch
from torch import nn

from .torch_maps import KINDS, Knots, MapModule, Tensor


class CalibratedNormal(nn.Module):
    r"""Calibrated laws of normal forecasts with mean :math:`\mu` and standard deviation :math:`\sigma`.

    .. math:: q_\tau = \mu + \sigma k_\tau, \qquad F(y) = \Phi\big(T((y - \mu) / \sigma)\big), \qquad
        \log f(y) = \log\varphi(T(z)) + \log T'(z) - \log\sigma, \quad z = (y - \mu)/\sigma

    Made by `export_torch`, or again by `from_state` of its ``state_dict()``. All is differentiable in mean, std and y,
    and nothing is trained: the numbers are buffers. Tensors of one shape, or shapes that broadcast, of any floating
    type; the answers have that type, or float32 where it is a shorter one.

    Parameters
    ----------
    maps : list of MapModule
        First to last.
    levels, standard : tensor (L,)
        Levels, and the quantiles that a standard normal forecast has there once it is calibrated.
    """

    def __init__(self, maps: list[MapModule], levels: Tensor, standard: Tensor) -> None:
        super().__init__()
        self.maps = nn.ModuleList(maps)
        self.register_buffer("kinds", torch.tensor([KINDS.index(type(map)) for map in maps]))
        self.register_buffer("levels", levels)
        self.register_buffer("standard", standard)
        self.register_load_state_dict_post_hook(_prepare)

    @classmethod
    def from_state(cls, state: dict[str, Tensor]) -> CalibratedNormal:
        """The module whose ``state_dict()`` this is, also after ``torch.save`` and ``torch.load``.

        Examples
        --------
        >>> from calibrant import Normal, QuantileCalibrator, export_torch
        >>> cal = QuantileCalibrator().fit(Normal([0.0, 1.0, 2.0], 1.0), [0.5, 0.5, 3.5])
        >>> module = export_torch(cal, levels=[0.5])
        >>> again = CalibratedNormal.from_state(module.state_dict())
        >>> bool((again(torch.zeros(1), torch.ones(1)) == module(torch.zeros(1), torch.ones(1))).all())
        True
        """
        names = ("kinds", "levels", "standard")
        if not set(names) <= set(state):
            raise ValueError(f"`state` must be the state_dict of a module by export_torch, with {', '.join(names)}.")
        maps = []
        for place, kind in enumerate(state["kinds"].tolist()):
            head = f"maps.{place}."
            own = {name.removeprefix(head): table for name, table in state.items() if name.startswith(head)}
            maps.append(KINDS[kind]({name.removesuffix(".knots"): table for name, table in own.items()}))
        return cls(maps, state["levels"], state["standard"])

    def forward(self, mean: Tensor, std: Tensor) -> Tensor:
        """Quantiles at the levels, (..., L)."""
        (mean, std), kind = self._read(mean, std)
        return (mean.unsqueeze(-1) + std.unsqueeze(-1) * self.standard).to(kind)

    def cdf(self, mean: Tensor, std: Tensor, y: Tensor) -> Tensor:
        """Distribution function at y."""
        z, _, kind = self._score(mean, std, y)
        for map in self.maps[:-1]:
            z = map.score(z)
        return self.maps[-1].level(z).to(kind)

    def log_prob(self, mean: Tensor, std: Tensor, y: Tensor) -> Tensor:
        """Logarithm of the density at y; TypeError where the map has steps."""
        z, std, kind = self._score(mean, std, y)
        ends, log_slope = z.isinf(), -torch.log(std)
        for map in self.maps[:-1]:
            log_slope, z = log_slope + map.log_slope(z), map.score(z)
        return torch.where(ends, -math.inf, self.maps[-1].log_density(z) + log_slope).to(kind)

    def _read(self, *columns: Tensor) -> tuple[list[Tensor], Any]:
        """Tensors in the precision of the inputs or of the tables, the longer, and the type of the answer."""
        for column in columns:
            if not isinstance(column, torch.Tensor):
                raise TypeError(f"mean, std and y must be tensors; got {type(column).__name__}.")
        kind = reduce(torch.promote_types, [column.dtype for column in columns], torch.float32)
        work = torch.promote_types(kind, self.standard.dtype)
        return [column.to(work) for column in columns], kind

    def _score(self, mean: Tensor, std: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Any]:
        """Normal scores in the precision of the tables, standard deviations, and the type of the answer."""
        (mean, std, y), kind = self._read(mean, std, y)
        return ((y - mean) / std).to(self.standard.dtype), std.to(self.standard.dtype), kind


def _prepare(module: CalibratedNormal, keys: Any) -> None:
    """After a state is loaded, what is made from it is made again."""
    for part in module.modules():
        if isinstance(part, Knots):
            part.prepare()
