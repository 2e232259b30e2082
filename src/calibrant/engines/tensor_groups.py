"""Groups of rows that are tensors: scores of each, and each by its own map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..calibration import Chain
from ..forecasters.backend import Tensor, need_torch
from ..store import export_torch
from .tensor_counts import LEVEL, REACH, WeighedScores, cells_of
from .tensor_rows import BLOCK, TensorRows


def weighed_by_group(rows: TensorRows) -> dict[int, WeighedScores]:
    """Means and weights of the cells of each group; of all rows, however many groups there are."""
    torch = need_torch()
    width = 2 * REACH * 2**LEVEL
    keys = torch.zeros(0, dtype=torch.int64, device=rows.mean.device)
    sums = torch.zeros(0, 3, dtype=torch.float64, device=rows.mean.device)
    for chunk in rows.chunks(BLOCK):
        cell, z, weights = cells_of(chunk)
        used = weights > 0
        new = torch.stack([weights, weights * z, used.double()], 1)[used]
        keys = torch.cat([keys, (chunk.groups.long() * width + cell)[used]])
        keys, place = torch.unique(keys, return_inverse=True)
        sums = sums.new_zeros(len(keys), 3).index_add_(0, place, torch.cat([sums, new]))
    groups, totals = (keys // width).cpu().numpy(), sums.cpu().numpy()
    names, first = np.unique(groups, return_index=True)
    parts = np.split(totals, first[1:])
    return {
        int(name): WeighedScores(part[:, 1] / part[:, 0], part[:, 0], int(part[:, 2].sum()))
        for name, part in zip(names, parts, strict=True)
    }


def each_by_its_own(
    calibrator: Any, rows: TensorRows, levels: Any, call: Callable[[Any, TensorRows], Tensor]
) -> list[Tensor]:
    """What the modules of a fitted `GroupedCalibrator` say, in blocks of rows."""
    torch = need_torch()
    modules: dict[Any, Any] = {}

    def module_of(label: Any) -> Any:
        own = calibrator.calibrators_.get(label)
        key = None if own is None else label
        if key not in modules:
            both = Chain([calibrator.common_] if own is None else [calibrator.common_, own])
            both.calibrators_, both.n_rows_ = both.calibrators, calibrator.n_rows_
            modules[key] = export_torch(both, levels=levels).to(rows.mean.device)
        return modules[key]

    found = []
    for chunk in rows.chunks(BLOCK):
        labels, place, sizes = torch.unique(chunk.groups, return_inverse=True, return_counts=True)
        order = torch.argsort(place)
        members = order.split(sizes.tolist())
        parts = [call(module_of(label), chunk.part(mine)) for label, mine in zip(labels.tolist(), members, strict=True)]
        whole = torch.cat(parts)
        found.append(torch.empty_like(whole).index_copy_(0, order, whole))
    return found
