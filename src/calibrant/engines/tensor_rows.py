"""Columns of normal forecasts as tensors, checked where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from .._checks import complain, sample_weights
from ..forecasters.backend import Tensor, need_torch

BLOCK = 2**22  # rows at a time, so that what comes between stays in the device's cache


@dataclass(frozen=True, eq=False)
class TensorRows:
    """Columns (n,) of one device; ``gaps`` tells whether some std is missing or infinite."""

    mean: Tensor
    std: Tensor
    y: Tensor = None
    weights: Tensor = None
    groups: Tensor = None
    shape: tuple[int, ...] = ()
    gaps: bool = False

    def __len__(self) -> int:
        return len(self.mean)

    def part(self, rows: Any) -> TensorRows:
        """Some of the rows."""
        columns = {name: column[rows] for name, column in vars(self).items() if hasattr(column, "dtype")}
        return replace(self, **columns)

    def chunks(self, rows: int) -> Iterator[TensorRows]:
        """A bounded number of rows at a time."""
        for start in range(0, len(self), rows):
            yield self.part(slice(start, start + rows))

    def scores(self) -> Tensor:
        """(y - mean) / std, in single precision at least; NaN or infinite where one of them is."""
        torch = need_torch()
        columns = (self.y, self.mean, self.std)
        kind = reduce(torch.promote_types, [column.dtype for column in columns], torch.float32)
        y, mean, std = (column.to(kind) for column in columns)
        if self.gaps:
            std = torch.where(std.isfinite(), std, torch.nan)
        return (y - mean).div_(std)


def read_tensors(forecasts: Any, y: Any = None, *, sample_weight: Any = None, groups: Any = None) -> TensorRows:
    """Columns of one length from tensors of one shape; mean and std may be single numbers."""
    torch = need_torch("engines.tensors needs")
    given = dict(zip(("mean", "std"), _mean_and_std(forecasts, torch), strict=True))
    given |= {"y": y, "weights": sample_weight, "groups": groups}
    there = {name: column for name, column in given.items() if column is not None}
    for name, column in there.items():
        if not isinstance(column, torch.Tensor):
            raise TypeError(f"`{_said(name)}` must be a tensor; got {type(column).__name__}.")
    if groups is not None and (groups.is_floating_point() or groups.is_complex()):
        raise TypeError(f"`groups` must be whole numbers, one a row; got {groups.dtype}.")
    whole = max(there.values(), key=lambda column: int(column.numel()))
    shape = tuple(whole.shape)
    flat = {name: _column(name, column, shape, whole.device) for name, column in there.items()}
    if not len(flat["mean"]):
        raise ValueError("`mean` must have at least one row; it is empty.")
    return TensorRows(**flat, shape=shape, gaps=_check(flat))


def _mean_and_std(forecasts: Any, torch: Any) -> tuple[Any, Any]:
    while isinstance(forecasts, torch.distributions.Independent):
        forecasts = forecasts.base_dist
    if isinstance(forecasts, torch.distributions.Normal):
        return forecasts.loc, forecasts.scale
    if isinstance(forecasts, (tuple, list)) and len(forecasts) == 2:
        return forecasts[0], forecasts[1]
    kind = type(forecasts).__name__
    raise TypeError(f"`forecasts` must be a pair of tensors (mean, std) or a torch.distributions.Normal; got {kind}.")


def _said(name: str) -> str:
    return "sample_weight" if name == "weights" else name


def _column(name: str, column: Tensor, shape: tuple[int, ...], where: Any) -> Tensor:
    if name in ("mean", "std") and column.numel() == 1:
        return column.detach().reshape(1).to(where).expand(_size(shape))
    if tuple(column.shape) != shape:
        raise ValueError(f"`{_said(name)}` must have the shape of the others, {shape}; got {tuple(column.shape)}.")
    if column.device != where:
        raise ValueError(f"`{_said(name)}` must be on the device of the others, {where}; it is on {column.device}.")
    return column.detach().reshape(-1)


def _size(shape: tuple[int, ...]) -> int:
    return reduce(lambda one, two: one * two, shape, 1)


def _check(columns: dict[str, Tensor]) -> bool:
    """Raise unless every std and weight is what it must be; whether some std is missing or infinite."""
    std = columns["std"]
    low, high = std.aminmax()
    if not low > 0:  # or missing
        complain("std", "positive", std.float().cpu().numpy(), (std <= 0).cpu().numpy(), "Constant predictions?")
    weights = columns.get("weights")
    if weights is not None and not (weights.min() >= 0 and 0 < weights.max() < float("inf")):
        sample_weights(weights.float().cpu().numpy(), len(weights))
    return not high < float("inf") or not low > 0
