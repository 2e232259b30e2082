"""Many passes of one recurrent net at once, each with its own masks, which all series share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._checks import Array
from ..numerics.blocks import row_blocks
from .backend import Tensor, need_torch
from .likelihood import drawn
from .recurrent import Masks, draw_masks, gru_forward
from .training import Parameters

_BLOCK = 2**23  # activations of a layer that are held together


class Passes(NamedTuple):
    """A net and the masks of its passes."""

    parameters: Parameters
    masks: Masks
    """(1, passes, width) each"""
    generator: Any
    width: int
    """activations of a row in one pass"""

    @classmethod
    def of(cls, parameters: Parameters, passes: int, rate: float, generator: Any, width: int) -> Passes:
        """With masks drawn anew."""
        return cls(parameters, draw_masks(parameters, passes, rate, generator), generator, width)

    def blocks(self, rows: int) -> Iterator[slice]:
        """Rows that memory has room for."""
        return row_blocks(rows, self.masks[0].shape[1] * self.width, _BLOCK)

    def each(self, inputs: Any) -> Array:
        """Draws of all steps, (rows, steps, passes), of inputs (rows, steps, features)."""
        outputs, _ = self._run(self._spread(inputs), None)
        return self._by_row(drawn(outputs[0], self.generator), len(inputs))

    def ahead(self, seen: Any, coming: Any, lags: int) -> Array:
        """Paths (rows, steps, passes) that begin with the last step of what was seen, (rows, window, features).

        ``coming`` (rows, steps, features) are the inputs of the steps; values that were drawn take the place of the
        first 2 ``lags`` columns.
        """
        x, after = self._spread(seen), self._spread(coming)
        states, path = None, list[Tensor]()
        for step in range(coming.shape[1]):
            x = x if step == 0 else _moved_on(x[:, :, -1:], after[:, :, step : step + 1], path[-1], lags)
            outputs, states = self._run(x, states)
            path.append(drawn(outputs[0, :, -1:], self.generator))
        return self._by_row(need_torch().cat(path, dim=1), len(seen))

    def _spread(self, inputs: Any) -> Tensor:
        """Inputs (1, passes * rows, steps, features), passes outside."""
        weight = self.masks[0]
        return need_torch().as_tensor(inputs, device=weight.device).repeat(weight.shape[1], 1, 1)[None]

    def _run(self, x: Tensor, states: Any) -> tuple[Tensor, Any]:
        rows = x.shape[1] // self.masks[0].shape[1]
        masks = [mask.repeat_interleave(rows, dim=1) for mask in self.masks]
        return gru_forward(self.parameters, x, masks, states)

    def _by_row(self, draws: Tensor, rows: int) -> Array:
        table = draws.reshape(-1, rows, draws.shape[-1]).permute(1, 2, 0)
        return np.ascontiguousarray(table.double().cpu().numpy())


def _moved_on(now: Tensor, coming: Tensor, value: Tensor, lags: int) -> Tensor:
    """Inputs of the coming step (1, batch, 1, features): the new value (batch, 1) first, the oldest one gone."""
    torch = need_torch()
    new = value[None, ..., None]
    past = [new, now[..., : lags - 1], torch.ones_like(new), now[..., lags : 2 * lags - 1]]
    return torch.cat([*past, coming[..., 2 * lags :]], dim=-1)
