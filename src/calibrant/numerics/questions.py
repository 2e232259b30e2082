"""What decision trees ask of rows, and the answers: a bit a row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

WORD = 64  # rows whose answers are one number
_SETS = 32  # of categories, asked for together

Bools = NDArray[np.bool_]
Places = NDArray[np.intp]
Words = NDArray[np.uint64]


class Cuts(NamedTuple):
    """Questions x <= c of one feature; ``missing`` is the answer for a value that is missing."""

    column: int
    missing: bool
    values: Array


class Labels(NamedTuple):
    """Categories of one feature that are asked for; ``size`` is how many there are, and stands for all others."""

    column: int
    size: int
    codes: Places


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions of nodes that differ, those of numbers first; the last one is always answered by no.

    Parameters
    ----------
    features : ndarray of int
        Those that are asked for; columns are places among them.
    cuts : tuple of Cuts
    labels : tuple of Labels
    sets : tuple of (ndarray of int (m, k))
        A column for each question of categories: places among the codes of all labels, whose rows are a yes; the place
        after the last is of no rows.
    """

    features: Places
    cuts: tuple[Cuts, ...]
    labels: tuple[Labels, ...]
    sets: tuple[Places, ...]

    @classmethod
    def of(
        cls, feature: Places, threshold: Array, missing: Bools, members: Places, categories: Places
    ) -> tuple[Self, Places]:
        """Questions of trees, and which one each node (T, 7) asks; the arguments are those of `Forest`.

        Examples
        --------
        >>> feature, cut = np.array([[1, 0, -1]]), np.array([[0.5, 0.0, 0.0]])
        >>> asked, number = Questions.of(feature, cut, cut > 0, np.array([[0, 1, 2]]), np.array([3, 0]))
        >>> number
        array([[0, 1, 2]])
        >>> x = np.zeros((64, 2))
        >>> x[8] = 2.0, 1.0  # the second bit of the first byte
        >>> [f"{row[0]:016x}" for row in asked.answers(x)]
        ['fffffffffffffffd', '0000000000000002', '0000000000000000']
        """
        features = np.unique(feature[feature >= 0])
        column, sizes = np.searchsorted(features, feature), np.append(categories, 0)[feature]
        of_cuts, of_labels = (feature >= 0) & (sizes == 0), (feature >= 0) & (sizes > 0)
        cuts, number = _cuts(column[of_cuts], missing[of_cuts], threshold[of_cuts])
        tree, node = np.nonzero(of_labels & missing)
        wanted = np.concatenate([members, np.column_stack([tree, node, sizes[tree, node]])])
        labels, place = _labels(column[wanted[:, 0], wanted[:, 1]], wanted[:, 2], categories[features])
        flat = wanted[:, 0] * feature.shape[1] + wanted[:, 1]
        sets, other = _sets(flat, place, np.flatnonzero(of_labels), sum(len(each.codes) for each in labels))
        questions = cls(features, cuts, labels, sets)
        asked = np.full(feature.shape, len(questions) - 1)
        asked[of_cuts], asked[of_labels] = number, other + sum(len(each.values) for each in cuts)
        return questions, asked

    def __len__(self) -> int:
        return sum(len(each.values) for each in self.cuts) + sum(len(each.T) for each in self.sets) + 1

    def answers(self, x: Array) -> Words:
        """Bits (questions, n/64) of rows (n, d); bit j of byte i is that of row n j/8 + i. n is a multiple of 64."""
        shape = len(self.features), len(x)
        columns = x[:, self.features].reshape(8, shape[1] // 8, shape[0]).transpose(2, 1, 0).reshape(shape)
        out, first = np.zeros((len(self), len(x) // WORD), dtype=np.uint64), 0
        for column, missing, values in self.cuts:
            last = first + len(values)
            numbers = np.where(np.isnan(columns[column]), -np.inf, columns[column]) if missing else columns[column]
            _compare(np.less_equal, numbers, values, out[first:last])
            first = last
        there = self._there(columns)
        for places in self.sets:
            told = out[first : first + places.shape[1]]
            for place in places:
                told |= there.take(place, axis=0)
            first += len(told)
        return out

    def _there(self, columns: Array) -> Words:
        """Bits of the rows in each category that is asked for; the last one is none."""
        out = np.zeros((sum(len(each.codes) for each in self.labels) + 1, columns.shape[1] // WORD), dtype=np.uint64)
        first = 0
        for column, size, codes in self.labels:
            x, last = columns[column], first + len(codes)
            code = np.where((x >= 0) & (x < size), x, size).astype(np.intp)
            _compare(np.equal, code, codes, out[first:last])
            first = last
        return out


def _compare(how: np.ufunc, x: NDArray[Any], values: NDArray[Any], out: Words) -> None:
    out.view(np.uint8)[:] = np.packbits(how(x, values[:, None]), axis=1, bitorder="little")


def _cuts(column: Places, missing: Bools, threshold: Array) -> tuple[tuple[Cuts, ...], Places]:
    """Questions that differ, by feature, and which one each of these is."""
    known, number = _different(column, missing, threshold)
    kind = 2 * known[0] + known[1]
    mine = [kind == one for one in np.unique(kind)]
    return tuple(Cuts(int(known[0][m][0]), bool(known[1][m][0]), known[2][m]) for m in mine), number


def _labels(column: Places, code: Places, sizes: Places) -> tuple[tuple[Labels, ...], Places]:
    """Categories that differ, by feature, and which one each of these is."""
    (columns, codes), number = _different(column, code)
    return tuple(Labels(int(one), int(sizes[one]), codes[columns == one]) for one in np.unique(columns)), number


def _sets(node: Places, place: Places, nodes: Places, none: int) -> tuple[tuple[Places, ...], Places]:
    """Sets of places that differ, the largest first, and which one each of the nodes has."""
    order = np.lexsort([place, node])
    starts, stops = (np.searchsorted(node[order], nodes, side) for side in ("left", "right"))
    each = [tuple(place[order[start:stop]].tolist()) for start, stop in zip(starts, stops, strict=True)]
    known = sorted(set(each), key=lambda one: (-len(one), one))
    number = {one: k for k, one in enumerate(known)}
    parts = [known[start : start + _SETS] for start in range(0, len(known), _SETS)]
    tables = tuple(np.array(list(zip_longest(*part, fillvalue=none)), dtype=np.intp) for part in parts)
    tables = tuple(table.reshape(-1, len(part)) for table, part in zip(tables, parts, strict=True))
    return tables, np.array([number[one] for one in each], dtype=np.intp)


def _different(*columns: NDArray[Any]) -> tuple[list[NDArray[Any]], Places]:
    """Rows of a table that differ, sorted, by columns, and which one each row is."""
    order = np.lexsort(columns[::-1])
    lines = [each[order] for each in columns]
    new = np.any([np.append(True, each[1:] != each[:-1])[: len(order)] for each in lines], axis=0)
    number = np.empty(len(order), dtype=np.intp)
    number[order] = np.cumsum(new) - 1
    return [each[new] for each in lines], number
