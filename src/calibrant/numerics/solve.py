"""Inverting an increasing function, many numbers at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._checks import Array

_WIDEST = 1e154  # squares stay finite


def solve_increasing(
    height_and_slope: Callable[[Array], tuple[Array, Array]], target: Array, start: Array, *, most: int = 200
) -> Array:
    """The z with height(z) = target: Newton steps, and bisection (in asinh z) where they leave the bracket.

    ``height_and_slope`` increases and takes an array shaped like ``target``; infinite targets are their own answers.
    """
    z = np.clip(np.broadcast_to(start, target.shape).astype(np.float64), -1e150, 1e150)
    low, high = np.full(target.shape, -_WIDEST), np.full(target.shape, _WIDEST)
    known = np.isinf(target)
    for _ in range(most):
        height, slope = height_and_slope(z)
        below = height < target
        low, high = np.where(below, z, low), np.where(below, high, z)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            step = z + (target - height) / slope
        middle = np.sinh(0.5 * (np.arcsinh(low) + np.arcsinh(high)))
        step = np.where((step >= low) & (step <= high), step, middle)
        settled = (np.abs(step - z) <= 4e-15 * (1 + np.abs(z))) | known
        z = step
        if settled.all():
            break
    return np.where(known, target, z)
