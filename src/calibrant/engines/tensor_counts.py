r"""Weights and means of rows by cells of :math:`\operatorname{asinh} z`, on the device where the rows are."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._checks import Array
from ..forecasters.backend import Tensor, need_torch
from .tensor_rows import BLOCK, TensorRows

REACH = 42  # of asinh z on both sides; rows with scores beyond, 8.7e17, are left out
LEVEL, COARSE = 11, 5  # 2^level cells to a unit: those that are handed on, those that all of many rows are counted by
FEW = 65_536  # rows that are taken as they are
MANY = 2**25  # rows; of more, about so many tell where in the coarse cells they lie
CHUNK = 2**24  # rows counted at a time: in single precision no count of them is rounded


class WeighedScores(NamedTuple):
    """Scores (m,), their weights, and how many rows they stand for."""

    scores: Array
    mass: Array | None
    rows: int


def weighed_scores(rows: TensorRows) -> WeighedScores:
    r"""Scores of few rows as they are; of many, the means of cells :math:`\lfloor 2^{11}\operatorname{asinh} z\rfloor`.

    Of more than 2²⁵ rows without weights, all are counted by cells 1/32 wide, and every k-th, 2²⁴ of them at least,
    tells how they lie within. Rows whose score is not finite are not counted, nor are rows of weight 0.
    """
    if len(rows) <= FEW:
        return _as_they_are(rows)
    if rows.weights is not None or len(rows) <= MANY:
        mass, moment, used = _sums(rows)
    else:
        mass, moment, _ = _sums(rows.part(slice(None, None, -(-len(rows) // MANY))))
        counts = _counts(rows)
        mass, moment = _stretched(mass, moment, counts.double())
        used = counts.sum()
    cells = mass.nonzero()[:, 0]
    mass, moment = need_torch().stack([mass[cells], moment[cells]]).cpu().numpy()
    return WeighedScores(moment / mass, mass, int(used))


def _as_they_are(rows: TensorRows) -> WeighedScores:
    """In double precision."""
    host = replace(rows, **{name: getattr(rows, name).cpu().double() for name in ("mean", "std", "y")})
    scores = host.scores().numpy()
    weights = None if rows.weights is None else rows.weights.cpu().double().numpy()
    used = np.isfinite(scores) if weights is None else np.isfinite(scores) & (weights > 0)
    return WeighedScores(scores[used], None if weights is None else weights[used], int(used.sum()))


def cells_of(rows: TensorRows) -> tuple[Tensor, Tensor, Tensor]:
    """The cell of each row, its score, and its weight; 0 where it has no cell."""
    torch = need_torch()
    z = rows.scores()
    place = z.float().asinh()
    there = place.abs() < REACH
    weights = there.double() if rows.weights is None else torch.where(there, rows.weights, 0).double()
    cell = torch.where(there, place * 2**LEVEL, 0).floor_().long() + REACH * 2**LEVEL
    return cell, torch.where(there, z, 0), weights


def _sums(rows: TensorRows) -> tuple[Tensor, Tensor, Tensor]:
    """Weights and weighted scores by cell, and how many rows have a weight."""
    torch = need_torch()
    mass, moment = torch.zeros(2, 2 * REACH * 2**LEVEL, dtype=torch.float64, device=rows.mean.device)
    used = torch.zeros((), dtype=torch.int64, device=rows.mean.device)
    for chunk in rows.chunks(BLOCK):
        cell, z, weights = cells_of(chunk)
        mass.index_add_(0, cell, weights)
        moment.index_add_(0, cell, weights * z)
        used += (weights > 0).sum()
    return mass, moment, used


def _counts(rows: TensorRows) -> Tensor:
    """Rows by coarse cell, exactly."""
    torch = need_torch()
    cells = 2 * REACH * 2**COARSE
    total = torch.zeros(cells, dtype=torch.int64, device=rows.mean.device)
    for chunk in rows.chunks(CHUNK):
        total += torch.histc(chunk.scores().float().asinh_(), cells, -REACH, REACH).long()
    return total


def _stretched(mass: Tensor, moment: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Sums of some rows, stretched so that coarse cells weigh what they do with all rows."""
    torch = need_torch()
    mass, moment = mass.reshape(len(counts), -1), moment.reshape(len(counts), -1)
    unseen = (mass.sum(1) == 0) & (counts > 0)
    mass[unseen, mass.shape[1] // 2] = 1.0
    middle = (torch.arange(len(counts), device=mass.device) + 0.5) * 2.0**-COARSE - REACH
    moment[unseen, mass.shape[1] // 2] = torch.sinh(middle.double())[unseen]
    factor = (counts / mass.sum(1).clamp(min=1.0))[:, None]
    return (mass * factor).reshape(-1), (moment * factor).reshape(-1)
