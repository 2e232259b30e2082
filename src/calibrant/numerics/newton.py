"""Newton's method with line search on many small convex problems at once.

It minimises losses of several parameters, so that a line search on the loss guards it; ``roots`` inverts functions of
one number, which a bracket guards. One large problem without a Hessian matrix is for ``newton_cg``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._checks import Array

# θ (K, d) to losses (K,), gradients (K, d) and Hessians (K, d, d)
Evaluate = Callable[[Array], tuple[Array, Array, Array]]

_ARMIJO = 1e-4
_MOST_HALVINGS = 30
_ROUNDING = 1e-12  # of a loss, relative: sums of weights of 1e14 have no more digits


def newton(evaluate: Evaluate, start: Array, lowest: Array, *, most: int = 100, tolerance: float = 1e-9) -> Array:
    r"""Minimise K convex losses of d parameters each, with lower bounds.

    Steps are :math:`-H^{-1} g` on the parameters that are free, those at a bound whose gradient points outwards stay;
    each problem halves its own step until its loss falls by enough. Plain Newton steps diverge on nearly separated
    data.

    Parameters
    ----------
    evaluate : callable
        θ (K, d) to losses (K,), gradients (K, d) and positive definite Hessians (K, d, d).
    start : array (K, d)
    lowest : array (d,)
        Lower bounds, -inf where there is none.

    Examples
    --------
    >>> def bowl(theta):
    ...     return ((theta - 3.0) ** 2).sum(axis=1), 2 * (theta - 3.0), np.broadcast_to(2 * np.eye(2), (1, 2, 2))
    >>> newton(bowl, np.zeros((1, 2)), np.array([-np.inf, 4.0]))
    array([[3., 4.]])
    """
    theta = np.maximum(start, lowest)
    state = evaluate(theta)
    for _ in range(most):
        step = _step(theta, state[1], state[2], lowest)
        moved, state, theta = _line_search(evaluate, theta, state, (step, lowest))
        if (np.abs(moved) <= tolerance * (1 + np.abs(theta))).all():
            break
    return theta


def _step(theta: Array, gradient: Array, hessian: Array, lowest: Array) -> Array:
    free = ~((theta <= lowest) & (gradient > 0))
    scale = 1 / np.sqrt(np.maximum(np.diagonal(hessian, axis1=1, axis2=2), 1e-300))
    scaled = hessian * scale[:, :, None] * scale[:, None, :]
    scaled = scaled * (free[:, :, None] & free[:, None, :])
    d = theta.shape[1]
    scaled[:, range(d), range(d)] = 1.0 + 1e-12
    return -scale * np.linalg.solve(scaled, (scale * gradient * free)[..., None])[..., 0] * free


def _line_search(
    evaluate: Evaluate, theta: Array, state: tuple[Array, Array, Array], move: tuple[Array, Array]
) -> tuple[Array, tuple[Array, Array, Array], Array]:
    """Halve the steps of those problems whose loss does not fall by enough."""
    step, lowest = move
    length = np.ones(len(theta))
    for _ in range(_MOST_HALVINGS):
        trial = np.maximum(theta + length[:, None] * step, lowest)
        new = evaluate(trial)
        promised = ((trial - theta) * state[1]).sum(axis=1)
        worse = ~(new[0] <= state[0] + _ARMIJO * promised + _ROUNDING * np.abs(state[0]))
        if not worse.any():
            return trial - theta, new, trial
        length[worse] *= 0.5
    length[worse] = 0.0  # nothing is gained any more: rounding
    trial = np.maximum(theta + length[:, None] * step, lowest)
    return trial - theta, evaluate(trial), trial
