"""Newton's method on many problems at once."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from calibrant.numerics.newton import newton

FREE = np.array([-np.inf, -np.inf])


def soft(theta):
    """Sums of log cosh: an undamped Newton step from 3 overshoots ever further."""
    t = np.tanh(theta)
    hessian = np.zeros((len(theta), 2, 2))
    hessian[:, [0, 1], [0, 1]] = 1 - t**2
    return np.log(np.cosh(theta)).sum(axis=1), t, hessian


def test_line_search_converges_where_plain_steps_diverge():
    start = np.array([[3.0, -3.0], [0.1, 0.0]])
    plain = start[0] - np.tanh(start[0]) / (1 - np.tanh(start[0]) ** 2)
    assert np.abs(plain).max() > 90
    assert np.allclose(newton(soft, start, FREE), 0, atol=1e-8)


def test_bounds_agree_with_scipy():
    rng = np.random.default_rng(0)
    lowest = np.array([0.0, -np.inf, 0.0])
    for _ in range(20):
        root = rng.normal(size=(3, 3))
        h, g = root @ root.T + 0.1 * np.eye(3), rng.normal(size=3)

        def quadratic(theta, h=h, g=g):
            return 0.5 * np.vecdot(theta @ h, theta) + theta @ g, theta @ h + g, h[None]

        ours = newton(quadratic, np.ones((1, 3)), lowest)[0]
        theirs = minimize(
            lambda t, h=h, g=g: 0.5 * t @ h @ t + g @ t,
            np.ones(3),
            jac=lambda t, h=h, g=g: h @ t + g,
            bounds=[(0, None), (None, None), (0, None)],
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-10},
        ).x
        assert np.allclose(ours, theirs, atol=1e-5)
