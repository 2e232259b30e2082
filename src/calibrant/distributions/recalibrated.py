"""A law seen through a map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._checks import Array
from ..maps.base import Map, Side
from ..numerics.blocks import BLOCK
from ..numerics.tails import HALF_LOG_2PI
from .base import Distribution
from .integrals.mapped_polyline import MappedPolyline, mapped_normal
from .integrals.shared_nodes import SharedNodes
from .integrals.standard import StandardLaw
from .location_scale import LocationScale
from .tables.ensemble import Ensemble
from .tables.quantiles import Quantiles
from .tables.transport import Transport

MOST_KINKS = 512  # beyond that many knots a map is as good as smooth for quadrature


@dataclass(frozen=True, eq=False, repr=False)
class Recalibrated(Distribution):
    r"""The law whose normal scores are T of the base's: :math:`F'(y) = \Phi(T(z))`.

    Parameters
    ----------
    base : Distribution
    map : Map
        Shared by all rows, or a batch with one map per row.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.maps import AffineMap
    >>> law = Recalibrated(Normal([0.0, 10.0], 1.0), AffineMap(slope=0.5))  # twice as wide
    >>> law.std()
    array([2., 2.])
    """

    base: Distribution
    map: Map

    def __post_init__(self) -> None:
        """Check that a batch of maps has one map per row."""
        for name, value, kind in (("base", self.base, Distribution), ("map", self.map, Map)):
            if not isinstance(value, kind):
                raise TypeError(f"`{name}` must be a {kind.__name__}; got {type(value).__name__}.")
        if self.map.rows not in (None, len(self.base)):
            raise ValueError(
                f"`map` must have one map per forecast; got {self.map.rows} for {len(self.base)} forecasts."
            )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.base)

    @property
    def index(self) -> Any:
        """Its own, or that of the base."""
        return self.base.index if self._index is None else self._index

    @property
    def has_atoms(self) -> bool:
        """Atoms come from the base or from steps of the map."""
        return self.base.has_atoms or self.map.has_steps

    @property
    def is_discrete(self) -> bool:
        """Only atoms if the base has only atoms or the map only steps."""
        return self.base.is_discrete or self.map.has_steps

    @property
    def on_integers(self) -> bool:
        """As the base, unless the map moves atoms."""
        return self.base.on_integers

    @property
    def tail_index(self) -> Array:
        """The base's: maps have slope 1 in the tails of a heavy-tailed base."""
        return self.base.tail_index

    @property
    def support(self) -> tuple[Array, Array]:
        """The base's."""
        return self.base.support

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """T(z)."""
        return self.map(self.base.to_normal(y, side), side)

    def from_normal(self, z: Array) -> Array:
        """The base's quantile at the inverse of the map."""
        return self.base.from_normal(self.map.inverse(z))

    def log_slope(self, y: Array) -> Array:
        """Slopes add, nothing cancels."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """T(z) and the sum of the slopes, from one evaluation of the base."""
        z, log_slope = self.base.score_and_log_slope(y)
        t, log_bend = self.map.value_and_log_slope(z)
        return t, log_slope + log_bend

    def logpdf(self, y: Any) -> Array:
        """Log density; the map gives its score and slope together."""
        return self._by_blocks(_log_density, self._points(y), block=8 * BLOCK)  # tables of maps serve more points

    def _kinks(self) -> Array:
        knots = [k for k in (self.map.bends[None, :], self.map.row_bends) if 0 < k.shape[1] <= MOST_KINKS]
        return np.hstack([self.base._kinks(), *(self.base.from_normal(k) for k in knots)])

    def _standard(self) -> tuple[LocationScale, StandardLaw] | None:
        """The base and the one standard law of which all rows are moved and stretched copies, if there is one."""
        if not isinstance(self.base, LocationScale) or self.map.rows is not None:
            return None
        standard = self.base.shared_standard()
        return None if standard is None else (self.base, StandardLaw.of(standard, self.map))

    def _polyline(self) -> MappedPolyline | None:
        """The base's polylines and the integrals of the map, where the base has such and all rows share the map."""
        line = self.base._law() if isinstance(self.base, (Quantiles, Ensemble)) else None
        if not isinstance(line, Transport) or self.map.rows is not None or self.map.has_steps:
            return None
        return MappedPolyline(line, mapped_normal(self.map))

    @cached_property
    def _nodes(self) -> SharedNodes | None:
        return SharedNodes.of(self) if len(self) else None

    def _by_nodes(self, at_nodes: Any, by_quadrature: Any) -> Array:
        """What nodes that rows share give, where there are such and they suffice; quadrature elsewhere."""
        if self._nodes is None:
            return np.asarray(by_quadrature(self, slice(None)))
        out, doubt = at_nodes(self._nodes)
        if doubt.any():
            out[doubt] = by_quadrature(self[doubt], doubt)
        return np.asarray(out)

    def mean(self) -> Array:
        """Expectations; one integral serves all rows of a location-scale base, and all segments of tables."""
        if (line := self._polyline()) is not None:
            return line.mean()
        if (shared := self._standard()) is None:
            return self._by_nodes(SharedNodes.mean, lambda law, rows: Distribution.mean(law))
        base, law = shared
        return base.unstandardised(np.full(len(self), law.mean))

    def var(self) -> Array:
        """Variances; one integral serves all rows of a location-scale base, and all segments of tables."""
        if (line := self._polyline()) is not None:
            return line.var()
        if (shared := self._standard()) is None:
            return np.square(self.std())
        base, law = shared
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.square(base.scale) * law.var)

    def std(self) -> Array:
        """Standard deviations; one integral serves all rows of a location-scale base."""
        if (line := self._polyline()) is not None:
            return np.sqrt(line.var())
        if (shared := self._standard()) is None:
            return self._by_nodes(SharedNodes.std, _std)
        base, law = shared
        return np.asarray(base.scale * np.sqrt(law.var))

    def crps(self, y: Any) -> Array:
        """CRPS; prefix integrals over the knots serve all rows of a location-scale base, and all segments of tables."""
        if (line := self._polyline()) is not None:
            return line.crps(self._outcomes(y))
        if (shared := self._standard()) is None:
            y = self._outcomes(y)
            return self._by_nodes(lambda nodes: nodes.crps(y), lambda law, rows: Distribution.crps(law, y[rows]))
        base, law = shared
        return base.scale * law.crps(base.standardised(self._outcomes(y)))


def _std(law: Recalibrated, rows: Any) -> Array:
    with np.errstate(over="ignore"):
        return np.sqrt(Distribution.var(law))


def _log_density(law: Recalibrated, y: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        z, log_slope = law.base.score_and_log_slope(y)
        mapped = law.map.log_density(z)
        out = log_slope + mapped
    out -= HALF_LOG_2PI
    np.copyto(out, -np.inf, where=mapped == -np.inf)
    return out
