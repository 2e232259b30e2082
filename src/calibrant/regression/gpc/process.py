"""A sparse Gaussian process: functions of the inputs with unit prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..._checks import Array
from ...numerics.blocks import row_blocks
from ...numerics.soundness import check_finite, check_numbers
from .designs import Dense

_JITTER = 1e-8  # of the variance, on the diagonal of the landmarks


def _rbf(square: Array) -> tuple[Array, Array]:
    k = np.exp(-0.5 * square)
    return k, -0.5 * k


def _matern52(square: Array) -> tuple[Array, Array]:
    root = np.sqrt(5 * square)
    decay = np.exp(-root)
    return (1 + root + root * root / 3) * decay, -5 / 6 * (1 + root) * decay


# from squared distances in units of the lengths to the kernel and its slope in them
RADIAL: dict[str, Callable[[Array], tuple[Array, Array]]] = {"rbf": _rbf, "matern52": _matern52}


@dataclass(frozen=True, eq=False)
class Process:
    r"""Functions with unit prior whose sum is a process with kernel :math:`s^2 k(x, x')` on its landmarks.

    .. math:: B(x) = k(x, c) L^{-T}, \qquad LL^T = k(c, c),
        \qquad k(x, x') = s^2\, \kappa\Bigl(\sum_d (x_d - x'_d)^2/\ell_d^2\Bigr)

    Nyström's method; exact where the landmarks are all inputs.

    Parameters
    ----------
    landmarks : array (m, d)
    lengths : array (d,)
    scale : float
        s.
    radial : {"rbf", "matern52"}
    linear : bool
        Whether a constant and the inputs themselves, with unit prior, are among the functions.

    Examples
    --------
    >>> process = Process(np.array([[0.0], [1.0]]), np.array([1.0]), 2.0, "rbf", False)
    >>> x = np.array([[0.0], [1.0]])
    >>> (process(x) @ process(x).T).round(3)
    array([[4.   , 2.426],
           [2.426, 4.   ]])
    """

    landmarks: Array
    lengths: Array
    scale: float
    radial: str
    linear: bool

    @property
    def size(self) -> int:
        """Number of functions."""
        return len(self.landmarks) + self.fixed

    @property
    def fixed(self) -> int:
        """Number of those that do not depend on lengths and scale."""
        return (1 + int(self.landmarks.shape[1])) * self.linear

    @cached_property
    def root(self) -> Array:
        """L."""
        gram = self.kernel(self.landmarks)[0] + _JITTER * self.scale**2 * np.eye(len(self.landmarks))
        return np.asarray(cholesky(gram, lower=True))

    def __call__(self, x: Array) -> Array:
        """Values of the functions, (n, size)."""
        wave = solve_triangular(self.root, self.kernel(x)[0].T, lower=True).T
        return np.hstack([np.ones((len(x), 1)), x, wave]) if self.linear else wave

    def combined(self, x: Array, coefficients: Array) -> Array:
        """Sums (n, k) of the functions with coefficients (size, k); the functions themselves are not formed."""
        fixed, free = coefficients[: self.fixed], coefficients[self.fixed :]
        shares = solve_triangular(self.root, free, lower=True, trans="T")
        out = np.concatenate([self.kernel(x[rows])[0] @ shares for rows in row_blocks(len(x), len(self.landmarks))])
        return np.asarray(out + fixed[0] + x @ fixed[1:] if self.linear else out)

    def left_out(self, design: Dense) -> Array:
        """Prior variance at inputs that the functions there do not have, (n,)."""
        wave = design.values[:, self.fixed :]
        return np.asarray(np.maximum(self.scale**2 - np.square(wave).sum(axis=1), 0.0))

    def kernel(self, x: Array) -> tuple[Array, list[Array]]:
        """Covariances with the landmarks (n, m), and their derivatives in log s and the log lengths."""
        parts = [
            np.square((x[:, d, None] - self.landmarks[None, :, d]) / length) for d, length in enumerate(self.lengths)
        ]
        k, slope = RADIAL[self.radial](np.sum(parts, axis=0))
        variance = self.scale**2
        return variance * k, [2 * variance * k, *(-2 * variance * slope * part for part in parts)]

    def _check_sound(self) -> None:
        """Raise ValueError if this is no process: its numbers may come from anywhere."""
        check_numbers(self)
        check_finite(self, "landmarks", "lengths", "scale")
        if self.radial not in RADIAL or self.landmarks.ndim != 2 or self.lengths.shape != self.landmarks.shape[1:]:
            raise ValueError("Process must have a kernel, and a length for each column of its landmarks.")
        if not (self.lengths > 0).all() or not self.scale > 0:
            raise ValueError("Process must have positive lengths and scale.")
