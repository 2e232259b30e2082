"""Monotone flows: the beta map with steps on top, one map a row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import log_expit, log_ndtr

from .._checks import Array
from ..numerics.lines import count_below
from ..numerics.tails import HALF_LOG_2PI, log_tails, normal_hazard, score_of_logit, sigmoid
from .base import Map, Side, across

_NEAR = 36.0  # scores
_CLOSE = 1e-7  # of h before the last step, which squares what is left


def smooth_step(u: Array, centre: Array, width: Array | float) -> tuple[Array, Array]:
    r""":math:`\sigma((u-\kappa)/s) - \tfrac12` and its slope."""
    step = sigmoid((u - centre) / width)
    return step - 0.5, step * (1 - step) / width


def hat_step(u: Array, low: Array, knot: Array, high: Array) -> tuple[Array, Array]:
    r"""The integral of a hat less ½, and the hat: 0 up to ``low``, highest at ``knot``, 0 from ``high`` on, area 1.

    >>> step, hat = hat_step(np.array([0.0, 1.0, 2.5, 4.0]), 0.0, 1.0, 4.0)
    >>> step, hat
    (array([-0.5   , -0.25  ,  0.3125,  0.5   ]), array([0.  , 0.5 , 0.25, 0.  ]))
    """
    up, down = np.clip((u - low) / (knot - low), 0.0, 1.0), np.clip((high - u) / (high - knot), 0.0, 1.0)
    whole = high - low
    step = ((knot - low) * up**2 + (high - knot) * (1 - down**2)) / whole
    return step - 0.5, 2 * np.minimum(up, down) / whole


def hat_ends(knots: Array) -> tuple[Array, Array]:
    """Where hats at rising knots (..., J) begin and end: at the neighbours, the outer ones as far beyond.

    >>> hat_ends(np.array([0.0, 1.0, 3.0]))
    (array([-1.,  0.,  1.]), array([1., 3., 5.]))
    """
    first, last = 2 * knots[..., :1] - knots[..., 1:2], 2 * knots[..., -1:] - knots[..., -2:-1]
    return np.concatenate([first, knots[..., :-1]], -1), np.concatenate([knots[..., 1:], last], -1)


class _Flow(Map):
    """What flows share, whatever their steps are."""

    a: Array
    b: Array
    c: Array
    heights: Array
    location: Array
    scale: Array

    @abstractmethod
    def _step(self, u: Array, j: int) -> tuple[Array, Array]:
        """The j-th step of every row at standard scores (n,) or (n, k), between -½ and ½, and its slope."""

    @abstractmethod
    def _height(self, u: Array) -> Array:
        """All steps together, each as high as it is."""

    @abstractmethod
    def _height_and_slope(self, u: Array) -> tuple[Array, Array]:
        """These and their slope in u."""

    def _logit(self, z: Array) -> Array:
        if z.ndim == 2 and len(z) == 1 < len(self.a) and self._steps_are_shared():
            return self._at_shared(z)
        u = (z - across(self.location, z)) / across(self.scale, z)
        low, high = log_tails(u)
        h = across(self.a, z) * low - across(self.b, z) * high + across(self.c, z)
        return np.asarray(h + self._height(u))

    def _steps_are_shared(self) -> bool:
        """Whether all rows have the same steps but for their heights."""
        own = [getattr(self, name) for name in self._by_row if name not in ("a", "b", "c", "heights")]
        return all((part == part[:1]).all() for part in own)

    def _at_shared(self, z: Array) -> Array:
        """All rows at the same scores (1, k), whose steps are the same: one product of matrices."""
        u, one = (z - self.location[0]) / self.scale[0], self[:1]
        steps = [one._step(u, j)[0] for j in range(self.heights.shape[1])]
        lines = np.concatenate([log_ndtr(u), -log_ndtr(-u), np.ones(u.shape), *steps])
        return np.asarray(np.column_stack([self.a, self.b, self.c, self.heights]) @ lines)

    def _logit_and_slope(self, z: Array) -> tuple[Array, Array]:
        """h and dh/dz."""
        scale = across(self.scale, z)
        u = (z - across(self.location, z)) / scale
        a, b = across(self.a, z), across(self.b, z)
        low, high = log_tails(u)
        h = a * low - b * high + across(self.c, z)
        slope = a * _hazard(-u, low) + b * _hazard(u, high)
        steps, rises = self._height_and_slope(u)
        h += steps
        slope += rises
        return h, slope / scale

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Score of R(Φ(z)), from the smaller tail."""
        return score_of_logit(self._logit(np.asarray(z)))

    def probabilities(self, z: Array) -> tuple[Array, Array]:
        """σ(h) and σ(-h)."""
        h = self._logit(z)
        return sigmoid(h.copy()), sigmoid(-h)

    def log_slope(self, z: Array) -> Array:
        r"""Log dT/dz: :math:`\ln h' + \ln\sigma(|h|)` less the log hazard of the smaller tail."""
        return self.value_and_log_slope(z)[1]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one logit."""
        h, slope = self._logit_and_slope(np.asarray(z))
        t = score_of_logit(h)
        with np.errstate(divide="ignore"):
            return t, np.asarray(np.log(slope) + log_expit(np.abs(h)) - np.log(normal_hazard(np.abs(t))))

    def inverse(self, t: Array) -> Array:
        """Solve h(z) = logit Φ(t) by guarded Newton steps."""
        t = np.asarray(t, dtype=float)
        with np.errstate(invalid="ignore"):
            logit = log_ndtr(t) - log_ndtr(-t)
        target = np.broadcast_to(logit, np.broadcast_shapes(t.shape, np.shape(across(self.a, t))))
        start = across(self.location, t) + across(self.scale, t) * t
        return self._solve(_Flow._logit_and_slope, target, start, met=_CLOSE)


def _hazard(u: Array, log_upper: Array) -> Array:
    """Normal hazards from the log of the upper tail; as far out as that has digits."""
    if not (np.abs(u) < _NEAR).all():
        return normal_hazard(u)
    out = -0.5 * u * u
    out -= HALF_LOG_2PI
    out -= log_upper
    return np.asarray(np.exp(out, out=out))


@dataclass(frozen=True, eq=False, repr=False)
class FlowMap(_Flow):
    r"""Increasing by construction, with as many shapes as steps; a batch, one map a row.

    .. math:: R = \sigma(h), \quad h = a\ln q - b\ln(1-q) + c + \sum_j e_j\,[\sigma((u-\kappa_j)/s) - \tfrac12],
        \quad q = \Phi(u), \; u = (z - m)/r

    with :math:`a, b > 0` and :math:`e_j \ge 0`; the identity at a = b = 1, c = 0, e = 0, m = 0, r = 1. Everything is
    computed from :math:`\ln\Phi(\pm u)` and hazard rates, finite in both tails.

    Parameters
    ----------
    a, b, c : ndarray (n,)
    heights, centres : ndarray (n, J)
        :math:`e_j` and :math:`\kappa_j`.
    width, location, scale : ndarray (n,)
        s, m and r.

    Examples
    --------
    >>> one = np.ones(1)
    >>> two_modes = FlowMap(one, one, 0 * one, 3 * np.ones((1, 1)), np.zeros((1, 1)), 0.5 * one, 0 * one, one)
    >>> two_modes(np.array([[-1.0, 0.0, 1.0]])).round(2) + 0.0
    array([[-1.58,  0.  ,  1.58]])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("a", "b", "c", "heights", "centres", "width", "location", "scale")

    a: Array
    b: Array
    c: Array
    heights: Array
    centres: Array
    width: Array
    location: Array
    scale: Array

    def _step(self, u: Array, j: int) -> tuple[Array, Array]:
        return smooth_step(u, across(self.centres[:, j], u), across(self.width, u))

    def _height(self, u: Array) -> Array:
        total = np.zeros(u.shape)
        for _, height in self._parts(u):
            total += height
        total -= across(0.5 * self.heights.sum(axis=1), u)
        return total

    def _height_and_slope(self, u: Array) -> tuple[Array, Array]:
        total, slope = np.zeros(u.shape), np.zeros(u.shape)
        for step, height in self._parts(u):
            total += height
            np.subtract(1, step, out=step)
            step *= height
            slope += step
        total -= across(0.5 * self.heights.sum(axis=1), u)
        slope /= across(self.width, u)
        return total, slope

    def _parts(self, u: Array) -> Iterator[tuple[Array, Array]]:
        """Each step from 0 to 1, and times its height."""
        for j in range(self.heights.shape[1]):
            step = u - across(self.centres[:, j], u)
            step /= across(self.width, u)
            sigmoid(step)
            yield step, step * across(self.heights[:, j], u)


class _Pieces(NamedTuple):
    """Hats together: between places (n, J + 2) their sum is linear, so that the steps are parabolas; flat beyond."""

    places: Array
    starts: Array  # (n, J + 3): places that pieces are measured from
    values: Array  # there
    slopes: Array
    bends: Array
    line: Array  # the places of all rows, where these are the same

    @classmethod
    def of(cls, heights: Array, knots: Array) -> _Pieces:
        """Hats of these heights, as areas."""
        low, high = hat_ends(knots)
        none = np.zeros((len(heights), 1))
        places = np.concatenate([low[:, :1], knots, high[:, -1:]], axis=1)
        rise = np.concatenate([none, 2 * heights / (high - low), none], axis=1)
        gaps = np.diff(places)
        areas = np.cumsum(0.5 * (rise[:, 1:] + rise[:, :-1]) * gaps, axis=1)
        first = -0.5 * heights.sum(axis=1, keepdims=True)
        values = np.concatenate([first, first, first + areas], axis=1)
        bends = np.concatenate([none, np.diff(rise) / gaps, none], axis=1)
        starts = np.concatenate([places[:, :1], places], axis=1)
        line = places[0] if (places == places[:1]).all() else places
        return cls(places, starts, values, np.concatenate([none, rise], axis=1), bends, line)

    def __call__(self, u: Array) -> tuple[Array, Array]:
        """Steps and slopes at u, (n,) or (n, k)."""
        piece = count_below(self.line, u)
        lines = np.arange(len(self.places)) * self.starts.shape[1]
        piece += lines[:, None] if u.ndim == 2 else lines
        beyond = u - self.starts.ravel().take(piece)
        slope = self.slopes.ravel().take(piece)
        with np.errstate(invalid="ignore"):  # infinitely far, where steps are flat
            bent = self.bends.ravel().take(piece) * beyond
            value = self.values.ravel().take(piece) + beyond * (slope + 0.5 * bent)
            slope = slope + bent
        far = ~np.isfinite(beyond)
        if far.any():
            value, slope = np.where(far, self.values.ravel().take(piece), value), np.where(far, 0.0, slope)
        return value, slope


@dataclass(frozen=True, eq=False, repr=False)
class HatFlowMap(_Flow):
    r"""A flow whose steps rise as hats: its slope in h is linear between knots that lie anywhere; one map a row.

    .. math:: h = a\ln q - b\ln(1-q) + c + \sum_j e_j\,\Big[\int_{-\infty}^u B_j - \tfrac12\Big], \quad
        q = \Phi(u), \; u = (z - m)/r

    and :math:`R = \sigma(h)` as of `FlowMap`; the hat :math:`B_j` is highest at knot j, 0 at its neighbours, of area 1.

    Parameters
    ----------
    a, b, c : ndarray (n,)
    heights, knots : ndarray (n, J)
        :math:`e_j`, and where the hats are, rising; J is 0 or at least 2.
    location, scale : ndarray (n,)
        m and r.

    Examples
    --------
    >>> one = np.ones(1)
    >>> edge = HatFlowMap(one, one, 0 * one, np.array([[0.0, 3.0]]), np.array([[-1.0, 0.0]]), 0 * one, one)
    >>> edge(np.array([[-1.0, 0.0, 1.0]])).round(2) + 0.0
    array([[-1.75,  0.  ,  1.75]])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("a", "b", "c", "heights", "knots", "location", "scale")
    _ascending: ClassVar[tuple[str, ...]] = ("knots",)

    a: Array
    b: Array
    c: Array
    heights: Array
    knots: Array
    location: Array
    scale: Array

    @property
    def row_bends(self) -> Array:
        """The knots, and where the outer hats end, in normal scores."""
        if not self.knots.shape[1]:
            return self.knots
        return np.asarray(self.location[:, None] + self.scale[:, None] * self._pieces.places)

    @cached_property
    def _pieces(self) -> _Pieces:
        return _Pieces.of(self.heights, self.knots)

    def _height(self, u: Array) -> Array:
        return self._height_and_slope(u)[0]

    def _height_and_slope(self, u: Array) -> tuple[Array, Array]:
        if not self.knots.shape[1]:
            return np.zeros(u.shape), np.zeros(u.shape)
        return self._pieces(u)

    def _step(self, u: Array, j: int) -> tuple[Array, Array]:
        low, high = hat_ends(self.knots)
        return hat_step(u, *(across(each[:, j], u) for each in (low, self.knots, high)))
