"""Sums of small decision trees, as arrays, and their values at many rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .blocks import row_blocks

MOST_LEAVES = 8  # of a tree: one bit of a byte each
MOST_OUTPUTS = 100
_BLOCK = 262_144  # trees times rows looked at together

Bytes = NDArray[np.uint8]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Forest:
    r"""T trees of at most eight leaves, each of which adds to one output.

    A row goes left at a node if :math:`x_f \le c`, or if its category is a member of the node's; children that are
    negative are leaves, -1 the first. Rows are not led down the trees: every node rules out the leaves on one of its
    sides, of all nodes of a feature together that is a byte a tree, looked up by the place of the row's value among the
    feature's thresholds, and the one bit that is left after all features is the row's leaf (after QuickScorer, Lucchese
    et al. 2015).

    Parameters
    ----------
    feature, left, right : ndarray of int (T, 7)
        -1 in ``feature`` where a tree has no such node. Children come after their node.
    threshold : ndarray (T, 7)
    missing_left : ndarray of bool (T, 7)
        Where rows go whose value is missing (NaN), or a category that is not known.
    value : ndarray (T, 8)
        Of the leaves.
    output : ndarray of int (T,)
        In ascending order.
    members : ndarray of int (m, 3)
        Tree, node and a category that goes left there.
    categories : ndarray of int (d,)
        Number of categories of each feature, 0 of numbers.
    n_outputs : int

    Examples
    --------
    >>> left, right = np.full((1, 7), -1), np.full((1, 7), -2)
    >>> feature = np.array([[0, -1, -1, -1, -1, -1, -1]])
    >>> value = np.array([[10.0, 20.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    >>> cuts, none = np.full((1, 7), 0.5), np.empty((0, 3), dtype=int)
    >>> stump = Forest(feature, left, right, cuts, cuts > 0, value, np.array([0]), none, np.array([0]), 1)
    >>> stump(np.array([[0.5], [0.6], [np.nan]])).ravel()
    array([10., 20., 10.])
    """

    feature: Places
    left: Places
    right: Places
    threshold: Array
    missing_left: NDArray[np.bool_]
    value: Array
    output: Places
    members: Places
    categories: Places
    n_outputs: int

    def __len__(self) -> int:
        return len(self.feature)

    def __call__(self, x: Array) -> Array:
        """Sums of the trees' values, (n, n_outputs), at rows (n, d); categories are their numbers."""
        out = np.zeros((len(x), self.n_outputs))
        if not len(self):
            return out
        values = np.zeros((len(self), 256))
        values[:, 1 << np.arange(MOST_LEAVES)] = self.value
        flat, first = values.ravel(), 256 * np.arange(len(self))
        ends = np.searchsorted(self.output, np.arange(self.n_outputs + 1))
        places = [(table, self._places(f, np.ascontiguousarray(x[:, f]))) for f, table in self._tables]
        for rows in row_blocks(len(x), len(self), _BLOCK):
            leaf = np.tile(self._all_leaves, (len(out[rows]), 1))
            for table, place in places:
                leaf &= table.take(place[rows], axis=0)
            found = flat.take(leaf + first)
            for k, (start, stop) in enumerate(pairwise(ends)):
                out[rows, k] = found[:, start:stop].sum(axis=1)
        return out

    @cached_property
    def _cuts(self) -> dict[int, Array]:
        """Thresholds of each feature that is used, sorted; of categories their numbers."""
        return {
            f: np.arange(self.categories[f], dtype=float)
            if self.categories[f]
            else np.unique(self.threshold[self.feature == f])
            for f in np.unique(self.feature[self.feature >= 0]).tolist()
        }

    def _places(self, f: int, x: Array) -> Places:
        """Places of values among the thresholds, or numbers of categories; the last place is for missing ones."""
        cuts = self._cuts[f]
        if self.categories[f]:
            known = (x >= 0) & (x < len(cuts))
            return np.where(known, x, len(cuts)).astype(np.intp)
        place = np.searchsorted(cuts, x)
        place[np.isnan(x)] = len(cuts) + 1
        return place

    @cached_property
    def _all_leaves(self) -> Bytes:
        """A bit for each leaf of each tree."""
        return np.asarray((2 << np.count_nonzero(self.feature >= 0, axis=1)) - 1, dtype=np.uint8)

    @cached_property
    def _below(self) -> tuple[Bytes, Bytes]:
        """Bits of the leaves on the left and on the right of each node."""
        sides = np.zeros((2, *self.feature.shape), dtype=np.uint8)
        tree = np.arange(len(self))
        for node in range(self.feature.shape[1] - 1, -1, -1):
            used = self.feature[:, node] >= 0
            for side, children in zip(sides, (self.left[:, node], self.right[:, node]), strict=True):
                inner = np.where(children >= 0, children, 0)
                bits = np.where(
                    children >= 0, (sides[0] | sides[1])[tree, inner], 1 << np.where(children < 0, ~children, 0)
                )
                side[:, node] = np.where(used, bits, 0)
        return sides[0], sides[1]

    @cached_property
    def _tables(self) -> list[tuple[int, Bytes]]:
        """For each feature that is used, the leaves that each place of its values leaves over, (places, T)."""
        return [(f, self._table(f)) for f in self._cuts]

    def _table(self, f: int) -> Bytes:
        on_left, on_right = self._below
        cuts, known = self._cuts[f], bool(self.categories[f])
        table = np.tile(self._all_leaves, (len(cuts) + (1 if known else 2), 1))
        for node in range(self.feature.shape[1]):
            trees = np.flatnonzero(self.feature[:, node] == f)
            if not len(trees):
                continue
            left = np.zeros((len(table), len(trees)), dtype=bool)
            if known:
                mine = self.members[(self.members[:, 1] == node) & np.isin(self.members[:, 0], trees)]
                left[mine[:, 2], np.searchsorted(trees, mine[:, 0])] = True
            else:
                place = np.searchsorted(cuts, self.threshold[trees, node])
                left[:-1] = np.arange(len(cuts) + 1)[:, None] <= place
            left[-1] = self.missing_left[trees, node]
            table[:, trees] &= ~np.where(left, on_right[trees, node], on_left[trees, node])
        return table

    # ---- soundness ----
    def _check_sound(self) -> None:
        """Raise ValueError if these are no trees; they may come from anywhere."""
        for wrong, what in self._faults():
            if wrong:
                raise ValueError(f"Forest: {what}.")

    def _faults(self) -> Iterator[tuple[bool, str]]:
        trees, nodes = np.shape(self.feature)[:1], np.shape(self.feature)
        inner = (self.feature, self.left, self.right, self.threshold, self.missing_left)
        yield len(nodes) != 2 or nodes[1] != MOST_LEAVES - 1, "trees must have seven nodes at most"
        shapes = [np.shape(part) == nodes for part in inner]
        shapes += [np.shape(self.value) == (*trees, MOST_LEAVES), np.shape(self.output) == trees]
        shapes += [np.ndim(self.members) == 2 and np.shape(self.members)[1] == 3, np.ndim(self.categories) == 1]
        yield not all(shapes), "its arrays must belong together"
        whole = (self.feature, self.left, self.right, self.output, self.members, self.categories)
        yield any(part.dtype.kind != "i" for part in whole) or type(self.n_outputs) is not int, "numbers must be whole"
        yield (
            self.missing_left.dtype.kind != "b" or self.threshold.dtype.kind != "f",
            "its arrays must be of their kind",
        )
        yield self.value.dtype.kind != "f" or not np.isfinite(self.value).all(), "leaves must be finite"
        yield bool(np.isnan(self.threshold).any()), "thresholds must not be missing"
        yield not 1 <= self.n_outputs <= MOST_OUTPUTS or bool(np.any(self.categories < 0)), "counts must be counts"
        yield bool(np.any((self.output < 0) | (self.output >= self.n_outputs))), "outputs must be there"
        yield bool(np.any(np.diff(self.output) < 0)), "outputs must not decrease"
        yield bool(np.any((self.feature < -1) | (self.feature >= len(self.categories)))), "features must be there"
        yield not self._nodes_are_trees(), "children must be each other node and each leaf once, after their node"
        yield not self._members_are_there(), "members must be categories of nodes"

    def _nodes_are_trees(self) -> bool:
        """Nodes first; every node but the root and every leaf is the child of one node that comes before it."""
        used = self.feature >= 0
        if np.any(used[:, 1:] & ~used[:, :-1]):
            return False
        nodes = used.sum(axis=1)
        children = np.concatenate([self.left, self.right], axis=1)
        twice, own = np.concatenate([used, used], axis=1), np.tile(np.arange(used.shape[1]), 2)
        inner, leaf = twice & (children >= 0), twice & (children < 0)
        if np.any(inner & (children <= own)) or np.any(inner & (children >= nodes[:, None])):
            return False
        if np.any(leaf & (~children > nodes[:, None])):
            return False
        tree = np.broadcast_to(np.arange(len(used))[:, None], children.shape)
        name = np.where(children >= 0, children, MOST_LEAVES + ~children)
        seen = np.unique((tree * 2 * MOST_LEAVES + np.where(twice, name, 0))[twice])
        return len(seen) == np.count_nonzero(twice)

    def _members_are_there(self) -> bool:
        tree, node, code = self.members.T
        if np.any(self.members < 0) or np.any(tree >= len(self)) or np.any(node >= MOST_LEAVES - 1):
            return False
        feature = self.feature[tree, node]
        return bool(np.all(feature >= 0) and np.all(code < self.categories[feature]))
