"""Two-sided scale: scores stretched on one side and pressed on the other, smoothly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._checks import Array, finite, positive, to_array
from .base import Map, Side, across

CENTRE = 1.3545308064813  # E[x^4 / sqrt(1 + x^2)] of a standard normal x
_FARTHEST = 1e300  # where slopes have long reached their limits


@dataclass(frozen=True, eq=False, repr=False)
class SkewMap(Map):
    r"""Slope :math:`e^\varepsilon` far below the location and :math:`e^{-\varepsilon}` far above it.

    .. math:: T(z) = m + s\,S\Big(\frac{z-m}{s}\Big), \quad
        S(u) = \sinh(\operatorname{asinh} u - \varepsilon) + c\sinh\varepsilon

    A law becomes :math:`e^{-\varepsilon}` as wide below and :math:`e^\varepsilon` as wide above: a skew to the right
    where :math:`\varepsilon > 0`. The constant :math:`c = E[x^4/\sqrt{1+x^2}]`, x standard normal, leaves the likeliest
    location where it was: near :math:`\varepsilon = 0` the two do not depend on each other.

    Parameters
    ----------
    skew : float or ndarray (n,)
        :math:`\varepsilon`.
    location, scale : float
        m and s.

    Examples
    --------
    >>> SkewMap(0.5).inverse(np.array([-2.0, 0.0, 2.0])).round(2)
    array([-1.55, -0.16,  2.31])

    Differs from the paper in: Jones and Pewsey (2009) have no constant; their median moves with the skew.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("skew",)

    skew: Any = 0.0
    location: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        finite(to_array(self.skew, "skew"), "skew")
        finite(to_array(self.location, "location"), "location")
        positive(to_array(self.scale, "scale"), "scale")

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """T(z)."""
        skew = across(self.skew, z)
        bent = np.sinh(np.arcsinh((z - self.location) / self.scale) - skew)
        return np.asarray(self.location + self.scale * (bent + CENTRE * np.sinh(skew)))

    def inverse(self, t: Array) -> Array:
        """The same with the other sign."""
        skew = across(self.skew, t)
        bent = (t - self.location) / self.scale - CENTRE * np.sinh(skew)
        return np.asarray(self.location + self.scale * np.sinh(np.arcsinh(bent) + skew))

    def log_slope(self, z: Array) -> Array:
        r"""Log cosh of :math:`\operatorname{asinh} u - \varepsilon` less that of :math:`\operatorname{asinh} u`."""
        place = self._place(z)
        return _log_cosh(place - across(self.skew, z)) - _log_cosh(place)

    def _place(self, z: Array) -> Array:
        return np.arcsinh(np.clip((z - self.location) / self.scale, -_FARTHEST, _FARTHEST))


def _log_cosh(x: Array) -> Array:
    size = np.abs(x)
    return np.asarray(size + np.log1p(np.exp(-2 * size)) - np.log(2))
