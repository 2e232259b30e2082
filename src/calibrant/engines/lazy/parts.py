"""Sums over the rows of groups, as calibrators learn from them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..._checks import Array
from ...numerics.grid_counts import starts
from ...numerics.nested_grid import NestedGrid
from ...tables.columns import Columns
from ...tables.rows import texts
from ..analysis import joint_labels

Reach = dict[str, tuple[Array, Array]]  # smallest and largest values of each group, by name


@dataclass(frozen=True, eq=False)
class Part:
    """Sums over the rows of a group: a grid, how many rows, and the smallest and largest value of what was asked."""

    grid: NestedGrid
    n_rows: int
    extremes: dict[str, tuple[float, float]]


def parts_by_group(
    names: list[str],
    sums: tuple[NDArray[np.intp], Array, Array, Array],
    level: int | None,
    rows: Array,
    reach: Reach,
) -> dict[str, Part]:
    """Parts of groups, of which each has some sums: codes (m,) of groups, keys of cells, masses and moments (k, m).

    Sums are in any order, those of one cell may come in pieces, and names are in order.
    """
    codes, keys, mass, moment = sums
    order = np.lexsort([keys, codes])
    codes, keys = codes[order], keys[order]
    cells = np.flatnonzero(np.concatenate([[True], (np.diff(codes) != 0) | (np.diff(keys) != 0)]))
    mass, moment = (np.array([np.add.reduceat(row[order], cells) for row in rows_]) for rows_ in (mass, moment))
    codes, keys = codes[cells], keys[cells]
    if level is None:
        moment = mass * keys
    found = {}
    for start, end in pairwise([*starts(codes.astype(np.float64)), len(codes)]):
        code = int(codes[start])
        grid = NestedGrid(keys[start:end], mass[:, start:end], moment[:, start:end], level).coarsened()
        extremes = {name: (float(low[code]), float(high[code])) for name, (low, high) in reach.items()}
        found[names[code]] = Part(grid, int(rows[code]), extremes)
    return found


def array_of(table: pa.Table | pa.RecordBatch, name: str) -> Array:
    """A column of numbers."""
    return np.asarray(table[name].to_numpy(zero_copy_only=False), dtype=np.float64)


def labels_of(table: pa.Table, columns: Columns) -> tuple[list[str], NDArray[np.intp]]:
    """Groups as tables name them, and the number of each row's; texts are made of the different ones only."""
    if not columns.group:
        return [""], np.zeros(table.num_rows, dtype=np.intp)
    coded = [_coded(table[f"g{place}"].combine_chunks()) for place in range(len(columns.group))]
    shape = [len(names) for names, _ in coded]
    joined = np.ravel_multi_index([codes for _, codes in coded], shape) if len(coded) > 1 else coded[0][1]
    found, numbers = _numbered(joined, int(np.prod(shape, dtype=np.float64).clip(max=2.0**62)))
    places = np.unravel_index(found, shape)
    labels = joint_labels(*(names[place] for (names, _), place in zip(coded, places, strict=True)))
    order = np.argsort(labels.astype(str), kind="stable")
    rank = np.empty(len(found), dtype=np.intp)
    rank[order] = np.arange(len(found))
    return [str(label) for label in labels[order]], rank[numbers]


def _numbered(codes: NDArray[np.intp], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Different codes below ``most`` in increasing order, and the number of each row's; few are not sorted."""
    if most > len(codes):
        return np.unique(codes, return_inverse=True)
    there = np.bincount(codes, minlength=most) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


def _coded(column: pa.Array) -> tuple[NDArray[np.object_], NDArray[np.intp]]:
    """Different labels, and the number of each row's."""
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    coded = plain.dictionary_encode(null_encoding="encode")
    names, codes = np.unique(texts(coded.dictionary).astype(str), return_inverse=True)
    return names.astype(object), codes[coded.indices.to_numpy()]
