"""Which leaf each row comes to, of many trees at once: logic on words of 64 rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._checks import Array
from .questions import Places, Words

MANY = 4_096  # rows above which it pays to look up the values of four trees at once, else of two
_SWAPS = ((4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333), (1, 0x5555555555555555))


def slots_of(feature: Places, left: Places, right: Places) -> tuple[Places, Places]:
    """The slots of nodes (T, 7) and of leaves (T, 8), where rows are while they are there.

    All rows begin in slot 0; those that go left at node k move to slot k + 1, the others stay. Leaves that a tree does
    not have get the slots that are left over.

    Examples
    --------
    >>> feature, left, right = np.array([[0, 0, -1]]), np.array([[1, -1, -1]]), np.array([[-3, -2, -1]])
    >>> slots_of(feature, left, right)
    (array([[0, 1, 0]]), array([[2, 1, 0, 3]]))
    """
    trees, nodes = feature.shape
    node, leaf = np.zeros((trees, nodes), dtype=np.intp), np.tile(np.arange(nodes + 1), (trees, 1))
    for k in range(nodes):
        tree = np.flatnonzero(feature[:, k] >= 0)
        for child, slot in ((left[tree, k], np.full(len(tree), k + 1)), (right[tree, k], node[tree, k])):
            inner = child >= 0
            node[tree[inner], child[inner]] = slot[inner]
            leaf[tree[~inner], ~child[~inner]] = slot[~inner]
    return node, leaf


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees of one output, a multiple of four.

    Parameters
    ----------
    asked : ndarray of int (T, 7)
        The question of each node.
    slots : ndarray of int (T, 7)
        Those of the nodes.
    values : ndarray (T, 8)
        Of the slots.
    """

    asked: Places
    slots: Places
    values: Array

    def __len__(self) -> int:
        return len(self.asked)

    def __getitem__(self, some: slice) -> Trees:
        return Trees(self.asked[some], self.slots[some], self.values[some])

    def filled(self, never: int) -> Trees:
        """With trees beside them that add nothing; ``never`` is the question that is answered by no."""
        more = ((0, -len(self) % 4), (0, 0))
        asked = np.pad(self.asked, more, constant_values=never)
        return Trees(asked, np.pad(self.slots, more), np.pad(self.values, more))

    def sums(self, answers: Words) -> Array:
        """Sums of the values of all trees (64 w,), by the answers (questions, w)."""
        bits = _pairs(_codes(answers, self.asked, self.slots))
        codes = bits.view(np.uint8).transpose(1, 0, 2).reshape(bits.shape[1], -1)
        table = _both(self.values)
        if codes.shape[1] >= MANY:
            second = codes[1::2].astype(np.uint16)
            second *= np.uint16(table.shape[1])
            codes, table = second + codes[::2], _both(table)
        place = codes + table.shape[1] * np.arange(len(codes))[:, None]
        return np.asarray(table.ravel().take(place, mode="clip").sum(axis=0))


def _both(table: Array) -> Array:
    """Sums of values of two trees after each other, the code of the first counting single."""
    return (table[1::2, :, None] + table[::2, None, :]).reshape(len(table) // 2, -1)


def _codes(answers: Words, asked: Places, slots: Places) -> Words:
    """Bits of the slots that rows end up in, (3, T, w)."""
    trees, words = len(asked), answers.shape[1]
    there, old = np.empty((8, trees, words), dtype=np.uint64), np.empty((trees, words), dtype=np.uint64)
    every, tree = there.reshape(-1, words), np.arange(trees)
    answers.take(asked[:, 0], axis=0, out=there[1], mode="clip")
    np.invert(there[1], out=there[0])
    for k in range(1, asked.shape[1]):
        new, place = there[k + 1], slots[:, k] * trees + tree
        answers.take(asked[:, k], axis=0, out=new, mode="clip")
        every.take(place, axis=0, out=old, mode="clip")
        new &= old
        old ^= new
        every[place] = old
    _, one, two, three, four, five, six, seven = there
    three ^= seven
    four ^= five
    for bit, parts in zip(there, ((one, three, five), (two, three, six), (four, six, seven)), strict=False):
        np.bitwise_xor(parts[0], parts[1], out=bit)
        bit ^= parts[2]
    return there[:3]


def _pairs(codes: Words) -> Words:
    """Bytes (8, T/2, w) of two trees after each other, of which byte i of ``[j]`` is of row j n/8 + i."""
    bits = np.zeros((8, codes.shape[1] // 2, codes.shape[2]), dtype=np.uint64)
    bits[:3], bits[3:6] = codes[:, ::2], codes[:, 1::2]
    for shift, mask in _SWAPS:  # of bit j of [i] with bit i of [j]
        halves = bits.reshape(4 // shift, 2, shift, *bits.shape[1:])
        low, high = halves[:, 0], halves[:, 1]
        moved = low >> np.uint64(shift)
        moved ^= high
        moved &= np.uint64(mask)
        high ^= moved
        moved <<= np.uint64(shift)
        low ^= moved
    return bits
