"""Values of a process' functions at pairs of rows and thresholds, and the sums over pairs that are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._checks import Array


@dataclass(frozen=True, eq=False)
class Dense:
    """A table, one line a pair.

    Parameters
    ----------
    values : array (n, m)
    """

    values: Array

    def combined(self, theta: Array) -> Array:
        """Sums (n,) of the functions with these coefficients."""
        return np.asarray(self.values @ theta)

    def gathered(self, slopes: Array) -> Array:
        """Sums (m,) over pairs of functions times slopes (n,)."""
        return np.asarray(self.values.T @ slopes)

    def gram(self, weights: Array) -> Array:
        """Sums (m, m) over pairs of products of two functions, weighted."""
        half = np.sqrt(weights)[:, None] * self.values
        return np.asarray(half.T @ half)  # symmetric: half the work

    def variances(self, covariance: Array) -> Array:
        """Variances (n,) of the sums under coefficients with this covariance."""
        return np.asarray(np.vecdot(self.values @ covariance, self.values))

    def squares(self) -> Array:
        """Sums (n,) of the squares of all functions at each pair."""
        return np.asarray(np.vecdot(self.values, self.values))


@dataclass(frozen=True, eq=False)
class Products:
    r"""Functions :math:`f_a(x_{ij}) g_c(t_j)` at n rows and K thresholds: no table of all of them is made.

    Pairs are in the order of the rows; all sums go threshold by threshold, over the a functions of x alone, so that
    they cost :math:`nKa^2 + K(ac)^2` where a table takes :math:`nK(ac)^2`.

    Parameters
    ----------
    first : array (K, n, a)
    second : array (K, c)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> f, g, theta = rng.normal(size=(4, 3, 2)), rng.normal(size=(4, 5)), rng.normal(size=10)
    >>> table = Dense(np.einsum("jia,jc->ijac", f, g).reshape(12, 10))
    >>> bool(np.allclose(Products(f, g).combined(theta), table.combined(theta)))
    True
    """

    first: Array
    second: Array

    def combined(self, theta: Array) -> Array:
        """As `Dense.combined`."""
        mixed = self.second @ theta.reshape(self._shape).T
        return np.asarray(np.matmul(self.first, mixed[:, :, None])[:, :, 0]).T.ravel()

    def gathered(self, slopes: Array) -> Array:
        """As `Dense.gathered`."""
        lines = np.matmul(self._by_threshold(slopes)[:, None, :], self.first)[:, 0, :]
        return np.asarray(lines.T @ self.second).ravel()

    def gram(self, weights: Array) -> Array:
        """As `Dense.gram`."""
        a, c = self._shape
        weighted = self._by_threshold(weights)[:, :, None] * self.first
        squares = np.matmul(weighted.transpose(0, 2, 1), self.first).reshape(-1, a * a)
        table = np.asarray(squares.T @ self._seconds).reshape(a, a, c, c)
        return table.transpose(0, 2, 1, 3).reshape(a * c, a * c)

    def variances(self, covariance: Array) -> Array:
        """As `Dense.variances`."""
        a, c = self._shape
        table = covariance.reshape(a, c, a, c).transpose(1, 3, 0, 2).reshape(c * c, a * a)
        each = (self._seconds @ table).reshape(-1, a, a)
        return np.asarray(np.vecdot(np.matmul(self.first, each), self.first)).T.ravel()

    def squares(self) -> Array:
        """As `Dense.squares`."""
        first, second = (np.asarray(np.vecdot(side, side)) for side in (self.first, self.second))
        return np.asarray(first * second[:, None]).T.ravel()

    @property
    def _shape(self) -> tuple[int, int]:
        return self.first.shape[2], self.second.shape[1]

    @cached_property
    def _seconds(self) -> Array:
        """Products of two functions of t, (K, c²)."""
        return (self.second[:, :, None] * self.second[:, None, :]).reshape(len(self.second), -1)

    def _by_threshold(self, pairs: Array) -> Array:
        return pairs.reshape(-1, len(self.first)).T
