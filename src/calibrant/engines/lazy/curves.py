"""Maps of normal scores, and the normal distribution function, as expressions of arithmetic that every engine has."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import erfcx

from ...maps import AffineMap, Map, PiecewiseLinearMap, SplineMap
from .frames import chosen
from .steps import Steps

MOST_PIECES = 1024  # of a map, each a branch of a tree of conditions
_CENTRE = 3.75  # of the tail's argument, at which half of the polynomial's range is behind it
_DEGREE = 20
_FARTHEST = 30.0  # argument of the tail beyond which it is 0
_ROOT_HALF = float(np.sqrt(0.5))

Piece = tuple[float, float, float, float]  # where it is anchored, height and slope there, half the change of slope


def is_expressible(curve: Map) -> bool:
    """Whether a map that all rows share is a few pieces of lines or parabolas."""
    if isinstance(curve, AffineMap):
        return curve.rows is None
    return isinstance(curve, (SplineMap, PiecewiseLinearMap)) and curve.knots.size < MOST_PIECES


def mapped(curve: Any, z: Any) -> Any:
    """T(z), by halving the pieces until one is left."""
    if isinstance(curve, AffineMap):
        return z * float(curve.slope) + float(curve.intercept)
    pieces = _parabolas(curve) if isinstance(curve, SplineMap) else _lines(curve)
    return _branch(z, curve.knots.tolist(), pieces)


def _parabolas(curve: SplineMap) -> list[Piece]:
    return list(zip(*(part.tolist() for part in curve._pieces), strict=True))


def _lines(curve: PiecewiseLinearMap) -> list[Piece]:
    start = np.maximum(np.arange(curve.knots.size + 1) - 1, 0)
    parts = (curve.knots[start], curve.levels[start], curve._slopes, np.zeros(start.size))
    return list(zip(*(part.tolist() for part in parts), strict=True))


def _branch(z: Any, knots: list[float], pieces: list[Piece]) -> Any:
    """The piece that z is on, of one more than there are knots; a knot belongs to the piece on its right."""
    if not knots:
        return _height(z, *pieces[0])
    half = len(knots) // 2
    low = _branch(z, knots[:half], pieces[: half + 1])
    return chosen((z < knots[half], low), otherwise=_branch(z, knots[half + 1 :], pieces[half + 1 :]))


def _height(z: Any, knot: float, value: float, slope: float, bend: float) -> Any:
    """Height of a parabola; the product with a bend of 0 is left out, as z may be infinite."""
    d = z - knot
    return (d * bend + slope) * d + value if bend else d * slope + value


def normal_below(t: Any, steps: Steps) -> Any:
    r""":math:`\Phi(t)` within 1e-14: :math:`\tfrac12 e^{-x^2} p(s)/(1 + 2x)` below 0, :math:`x = |t|/\sqrt2`.

    p is the polynomial through :math:`(1 + 2x) e^{x^2} \operatorname{erfc} x` in
    :math:`s = (x - 3.75)/(x + 3.75)` (Shepherd & Laframboise 1981): engines have exponentials, and no erf.
    """
    (x,) = steps.keep([chosen((t.abs() > _FARTHEST / _ROOT_HALF, _FARTHEST), otherwise=t.abs() * _ROOT_HALF)])
    (s,) = steps.keep([(x - _CENTRE) / (x + _CENTRE)])
    first, *others = _tail_polynomial()
    total = s * first + others[0]
    for coefficient in others[1:]:
        total = total * s + coefficient
    (tail,) = steps.keep([(x * x * -1.0).exp() * total / (x * 4.0 + 2.0)])
    return chosen((t < 0, tail), otherwise=tail * -1.0 + 1.0)


@lru_cache(maxsize=1)
def _tail_polynomial() -> list[float]:
    """Coefficients, that of the highest power first."""

    def scaled(s: Any) -> Any:
        x = _CENTRE * (1 + s) / (1 - s)
        return (1 + 2 * x) * erfcx(x)

    found = chebyshev.cheb2poly(chebyshev.chebinterpolate(scaled, _DEGREE))
    return [float(value) for value in found[::-1]]
