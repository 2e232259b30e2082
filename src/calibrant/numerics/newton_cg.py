"""Newton's method for one smooth convex problem with many parameters: steps by conjugate gradients.

It only takes products with the Hessian, where ``newton`` factors many small Hessians at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._checks import Array

Product = Callable[[Array], Array]
Evaluate = Callable[[Array], tuple[float, Array, Product]]  # loss, gradient, product of the Hessian with an array

_ARMIJO = 1e-4
_MOST_STEPS, _MOST_HALVINGS, _MOST_PRODUCTS = 100, 30, 500
_EXACT = 1e-11  # length of a step that is rounding; of a large loss its root
_ROUNDING = 1e-12  # of a loss, relative


def newton_cg(evaluate: Evaluate, precondition: Product, start: Array, near: float = _EXACT) -> Array:
    """Minimise a convex loss of an array of parameters.

    Parameters
    ----------
    evaluate : callable
        Parameters to loss, gradient and the product of the Hessian with an array.
    precondition : callable
        Product of an approximate inverse Hessian with an array.
    start : array
    near : float
        Length of a step, in units of the preconditioner, for a loss of 1, that is not worth taking.

    Examples
    --------
    >>> curvature = np.array([1.0, 100.0])
    >>> def bowl(x):
    ...     return 0.5 * float(curvature @ (x - 3.0) ** 2), curvature * (x - 3.0), lambda v: curvature * v
    >>> newton_cg(bowl, lambda v: v, np.zeros(2))
    array([3., 3.])
    """
    theta = start
    loss, gradient, product = evaluate(theta)
    for _ in range(_MOST_STEPS):
        size = float(np.sqrt((gradient * precondition(gradient)).sum()))
        if size <= near * max(1.0, abs(loss)) ** 0.5:
            break
        step = direction(gradient, product, precondition, max(1e-6, min(0.1, size)))
        promised = float((step * gradient).sum())
        length = 1.0
        for _ in range(_MOST_HALVINGS):
            trial = evaluate(theta + length * step)
            if trial[0] <= loss + _ARMIJO * length * promised + _ROUNDING * abs(loss):
                break
            length *= 0.5
        else:
            break  # nothing is gained any more: rounding
        theta = theta + length * step
        loss, gradient, product = trial
    return theta


def direction(gradient: Array, product: Product, precondition: Product, tolerance: float) -> Array:
    """Solution of H step = -gradient, with a residual smaller by ``tolerance``."""
    step = np.zeros_like(gradient)
    residual = -gradient
    towards = ahead = precondition(residual)
    size = first = float((residual * towards).sum())
    for _ in range(_MOST_PRODUCTS):
        bent = product(ahead)
        length = size / float((ahead * bent).sum())
        step = step + length * ahead
        residual = residual - length * bent
        towards = precondition(residual)
        before, size = size, float((residual * towards).sum())
        if size <= tolerance**2 * first:
            break
        ahead = towards + (size / before) * ahead
    return step
