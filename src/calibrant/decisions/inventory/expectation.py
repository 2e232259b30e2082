r"""What stock is worth on average after a day of sales, for all stocks of a grid at once.

Sales take the oldest units first, so that stock :math:`b = (b_1, \dots, b_m)` goes along one path as demand d grows.
With :math:`K_k(s; b_k, \dots) = \sum_{d \ge 0} P(s + d)\,V(0, \dots, 0, \text{path}_d(b_k, \dots))`,

.. math:: K_k(s; b_k, \cdot) = P(s)\,V(0, \dots, b_k, \cdot) + K_k(s + 1; b_k - 1, \cdot), \quad
    K_k(s; 0, \cdot) = K_{k+1}(s; \cdot), \quad K_{m+1}(s) = P(D \ge s)\,V(0, \dots, 0)

and :math:`K_1(0; b)` is the expectation. It takes a multiplication for each place and unit of demand of the oldest
delivery, whatever the number of deliveries.
"""

from __future__ import annotations

import numpy as np

from ..._checks import Array


def after_sales(value: Array, masses: Array, sold: int) -> Array:
    """Expected value of what is left of each stock when demand has been met as far as it could be.

    Parameters
    ----------
    value : ndarray (n, N_1, ..., N_m, ...)
        Value of what is left, by units of each delivery; the oldest is the first.
    masses : ndarray (n, S + 1)
        P(D = 0), P(D = 1), ..., and P(D >= S), where S is the sum of all N_k - 1.
    sold : int
        The number m of deliveries that are on sale; those after them stay as they are.

    Returns
    -------
    ndarray, shape of ``value``
        By units of each delivery before the sales.

    >>> V = np.array([[0.0, 10.0, 20.0]])  # 10 for each unit that is left
    >>> after_sales(V, np.array([[0.5, 0.25, 0.25]]), 1)
    array([[ 0. ,  5. , 12.5]])
    """
    n, sizes, lines = len(value), value.shape[1 : 1 + sold], [value]
    for _ in sizes:
        lines.append(lines[-1][:, 0])  # nothing left of one delivery more
    table = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1, None] * lines[-1].reshape(n, 1, -1)
    for k in range(sold - 1, 0, -1):
        line = lines[k].reshape(n, sizes[k], -1)
        table = _lengthen(table, line, masses, 1 + sum(size - 1 for size in sizes[:k]))
    if sold:
        table = _shifts(masses, sizes[0]) @ value.reshape(n, sizes[0], -1) + table[:, : sizes[0]]
    return table.reshape(value.shape)


def _lengthen(table: Array, line: Array, masses: Array, keep: int) -> Array:
    """One delivery more in front: K_k (n, keep, N_k * rest) from K_{k+1} (n, S, rest) and values (n, N_k, rest)."""
    n, size, rest = line.shape
    out = np.empty((n, keep, size, rest))
    out[:, :, 0] = table[:, :keep]
    for b in range(1, size):
        table = table[:, 1:] + masses[:, : table.shape[1] - 1, None] * line[:, b, None]
        out[:, :, b] = table[:, :keep]
    return out.reshape(n, keep, size * rest)


def _shifts(masses: Array, size: int) -> Array:
    """P(b - j) at (b, j) for 1 <= j <= b, else 0: (n, size, size)."""
    b, j = np.ogrid[:size, :size]
    return np.where((j >= 1) & (j <= b), masses[:, np.maximum(b - j, 0)], 0.0)
