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
from .leaf_codes import Trees, slots_of
from .questions import WORD, Places, Questions

MOST_LEAVES = 8  # of a tree: three bits say which
MOST_OUTPUTS = 100
_ROWS = 16_384  # looked at together
_LOOKUPS = 131_072  # of values of four trees at a row


@dataclass(frozen=True, eq=False)
class Forest:
    r"""T trees of at most eight leaves, each of which adds to one output.

    A row goes left at a node if :math:`x_f \le c`, or if its category is a member of the node's; children that are
    negative are leaves, -1 the first. Rows are not led down the trees: every question that differs from all others is
    answered once, by a bit a row, logic on the bits of 64 rows at a time tells the number of the leaf, and the values
    of four trees are looked up together (bits for leaves after QuickScorer, Lucchese et al. 2015).

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
        questions, outputs = self._layout
        for rows in row_blocks(len(x), block=_ROWS):
            some = x[rows]
            n = len(some)
            answers = questions.answers(np.concatenate([some, np.zeros((-n % WORD, x.shape[1]))]))
            step = 4 * max(1, _LOOKUPS // n)
            for k, trees in enumerate(outputs):
                for start in range(0, len(trees), step):
                    out[rows, k] += trees[start : start + step].sums(answers)[:n]
        return out

    @cached_property
    def _layout(self) -> tuple[Questions, list[Trees]]:
        """All questions, and the trees of each output that ask them."""
        questions, asked = Questions.of(self.feature, self.threshold, self.missing_left, self.members, self.categories)
        slots, leaf = slots_of(self.feature, self.left, self.right)
        values = np.empty(self.value.shape)
        np.put_along_axis(values, leaf, self.value, axis=1)
        trees, ends = Trees(asked, slots, values), np.searchsorted(self.output, np.arange(self.n_outputs + 1))
        return questions, [trees[start:stop].filled(len(questions) - 1) for start, stop in pairwise(ends)]

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
