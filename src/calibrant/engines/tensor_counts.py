r"""Weights and means of rows by cells of :math:`\operatorname{asinh} z`, on the device where the rows are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from .._checks import Array
from ..forecasters.backend import Tensor, need_torch
from .tensor_kernel import HALF, counted
from .tensor_rows import BLOCK, TensorRows

REACH = 42  # of asinh z on both sides; rows with scores beyond, 8.7e17, are left out
LEVEL, COARSE = 11, 7  # 2^level cells to a unit
FEW = 65_536  # rows that are taken as they are
MANY = 2**25  # rows, of which more are counted by fewer cells
TOLD = 2**22  # rows at least that tell how far these must reach and where in them rows lie
CHUNK = 2**24  # rows counted at a time: in single precision no count of them is rounded
_FUSED = "template <typename T> T place(T y, T mean, T std) { return asinh((y - mean) / std); }"


class Cells(NamedTuple):
    """Of asinh z between -reach and reach, so many on either side of 0."""

    reach: float
    half: int


ALL = Cells(REACH, REACH * 2**LEVEL)


class WeighedScores(NamedTuple):
    """Scores (m,), their weights, and how many rows they stand for."""

    scores: Array
    mass: Array | None
    rows: int


def weighed_scores(rows: TensorRows) -> WeighedScores:
    r"""Scores of few rows as they are; of many, the means of cells :math:`\lfloor 2^{11}\operatorname{asinh} z\rfloor`.

    Of more than 2²⁵ rows without weights, all are counted by 2 048 cells that reach farther than the scores of every
    k-th, 2²² of them at least, which also tell the means of cells. Where that is not far enough for all rows, or some
    are missing, cells are 1/128 wide. Rows whose score is not finite are not counted, nor are rows of weight 0.
    """
    if len(rows) <= FEW:
        return _as_they_are(rows)
    if rows.weights is not None or len(rows) <= MANY:
        mass, moment, used = _sums(rows, ALL)
    else:
        some = rows.part(slice(None, None, max(len(rows) // TOLD, 1)))
        cells = Cells(float(_farthest(some)), HALF)
        counts = _counts(rows, cells)
        used = counts.sum()
        if used < len(rows):
            cells = Cells(REACH, REACH * 2**COARSE)
            counts = _counts(rows, cells)
            used = counts.sum()
        mass = counts.double()
        moment = mass * _means(some, cells)
    there = mass.nonzero()[:, 0]
    mass, moment = need_torch().stack([mass[there], moment[there]]).cpu().numpy()
    return WeighedScores(moment / mass, mass, int(used))


def _as_they_are(rows: TensorRows) -> WeighedScores:
    """In double precision."""
    host = replace(rows, **{name: getattr(rows, name).cpu().double() for name in ("mean", "std", "y")})
    scores = host.scores().numpy()
    weights = None if rows.weights is None else rows.weights.cpu().double().numpy()
    used = np.isfinite(scores) if weights is None else np.isfinite(scores) & (weights > 0)
    return WeighedScores(scores[used], None if weights is None else weights[used], int(used.sum()))


def cells_of(rows: TensorRows, cells: Cells = ALL) -> tuple[Tensor, Tensor, Tensor]:
    """The cell of each row, its score, and its weight; 0 where it has no cell."""
    torch = need_torch()
    z = rows.scores()
    place = z.float().asinh()
    there = place.abs() < cells.reach
    weights = there.double() if rows.weights is None else torch.where(there, rows.weights, 0).double()
    cell = torch.where(there, place * (cells.half / cells.reach), 0).floor_().long() + cells.half
    return cell, torch.where(there, z, 0), weights


def _sums(rows: TensorRows, cells: Cells) -> tuple[Tensor, Tensor, Tensor]:
    """Weights and weighted scores by cell, and how many rows have a weight."""
    torch = need_torch()
    mass, moment = torch.zeros(2, 2 * cells.half, dtype=torch.float64, device=rows.mean.device)
    used = torch.zeros((), dtype=torch.int64, device=rows.mean.device)
    for chunk in rows.chunks(BLOCK):
        cell, z, weights = cells_of(chunk, cells)
        mass.index_add_(0, cell, weights)
        moment.index_add_(0, cell, weights * z)
        used += (weights > 0).sum()
    return mass, moment, used


def _counts(rows: TensorRows, cells: Cells) -> Tensor:
    """Rows by cell, exactly: in one pass over the columns, where a kernel can; places first, then counts, elsewhere."""
    torch = need_torch()
    quickly = counted(rows, cells.reach) if cells.half == HALF else None
    if quickly is not None:
        return quickly
    total = torch.zeros(2 * cells.half, dtype=torch.int64, device=rows.mean.device)
    for chunk in rows.chunks(CHUNK):
        total += torch.histc(_places(chunk), 2 * cells.half, -cells.reach, cells.reach).long()
    return total


def _farthest(rows: TensorRows) -> Tensor:
    """Some way beyond the scores of these rows, as asinh z."""
    place = _places(rows).abs().nan_to_num_(0.0, 0.0)
    return (1.25 * place.max() + 0.5).clamp(max=REACH)


def _places(rows: TensorRows) -> Tensor:
    """asinh z in single precision; on a GPU in one pass over the columns, where they need no more than that."""
    torch = need_torch()
    columns = (rows.y, rows.mean, rows.std)
    if rows.mean.is_cuda and not rows.gaps and all(column.dtype == torch.float32 for column in columns):
        return _kernel()(*columns)
    return rows.scores().float().asinh_()


@cache
def _kernel() -> Callable[..., Tensor]:
    """Compiled once, in a quarter of a second."""
    made: Callable[..., Tensor] = need_torch().cuda.jiterator._create_jit_fn(_FUSED)
    return made


def _means(rows: TensorRows, cells: Cells) -> Tensor:
    """Mean score of some rows by cell; where there is none, the middle."""
    torch = need_torch()
    mass, moment, _ = _sums(rows, cells)
    middle = torch.arange(0.5 - cells.half, cells.half, dtype=torch.float64, device=mass.device)
    middle *= cells.reach / cells.half
    return torch.where(mass > 0, moment / mass.clamp(min=1.0), torch.sinh(middle))
