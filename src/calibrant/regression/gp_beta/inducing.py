"""Inducing points: which are chosen, and the slope of the bound in where they lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..._checks import Array
from .kernels import ARD, JITTER, Kernel, Scaling


def choose_inducing(x: Array, scaling: Scaling, most: int, kernel: Kernel | None = None) -> NDArray[np.intp]:
    """Lines of features that leave the least unexplained, one after the other (a pivoted Cholesky factor)."""
    kernel = ARD() if kernel is None else kernel
    lengths = kernel.lengths(scaling, 1.0)
    left = kernel.diagonal(x, lengths)
    factor = np.empty((len(x), most))
    chosen: list[int] = []
    while len(chosen) < most:
        pivot = int(np.argmax(left))
        if left[pivot] < 1e-5:
            break
        k = len(chosen)
        column = kernel.matrix(x, x[pivot : pivot + 1], lengths)[:, 0] - factor[:, :k] @ factor[pivot, :k]
        factor[:, k] = column / np.sqrt(left[pivot])
        left = np.maximum(left - np.square(factor[:, k]), 0.0)
        left[pivot] = 0.0
        chosen.append(pivot)
    return np.array(chosen)


def filled_up(chosen: NDArray[np.intp], x: Array, most: int) -> NDArray[np.intp]:
    """As many as asked for: beside those chosen, forecasts evenly spread along the mean, none twice."""
    order = np.lexsort(x.T[::-1])
    new = np.concatenate([[True], (np.diff(x[order], axis=0) != 0).any(axis=1)])
    others = order[new][~np.isin(order[new], chosen)]
    places = np.linspace(0, len(others) - 1, min(most - len(chosen), len(others))).round().astype(np.intp)
    return np.concatenate([chosen, others[np.unique(places)]])


def by_locations(kernel: Kernel, log_parameters: Array, inducing: Array, x: Array, pull: Array) -> Array:
    r"""Slope in the inducing features (m, c) from ``pull``, that in the whitened features :math:`K_{xu}L^{-\top}`.

    With :math:`P` the pull, :math:`PL^{-1}` is the slope in :math:`K_{xu}`, and
    :math:`L^{-\top}\Lambda(-L^\top\,\mathrm{tril}(L^{-\top}P^\top\phi))L^{-1}` that in :math:`K_u = LL^\top`, where
    :math:`\Lambda` keeps the lower triangle and half the diagonal.
    """
    gram = kernel.matrix(inducing, inducing, log_parameters)
    root = np.linalg.cholesky(gram + JITTER * np.eye(len(gram)))
    inverse, _ = lapack.dtrtri(root, lower=1)
    phi = kernel.matrix(x, inducing, log_parameters) @ inverse.T
    inner = np.tril(root.T @ np.tril(inverse.T @ (pull.T @ phi)))
    inner[np.diag_indices_from(inner)] *= 0.5
    by_gram = -inverse.T @ inner @ inverse
    through = kernel.slope(x, inducing, log_parameters, pull @ inverse)
    return through + kernel.slope(inducing, inducing, log_parameters, by_gram + by_gram.T)
