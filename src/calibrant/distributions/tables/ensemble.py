"""Ensembles: laws given by samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..._checks import Array, complain, finite, index_of, one_of, to_array
from ..._later import Pending, later
from ..._types import Numbers
from ...maps.base import Side
from ...numerics.blocks import row_blocks
from .lines import SharedOrByRow
from .neighbours import of_members
from .steps import Steps, scaled
from .transport import Transport
from .weighted_members import WeightedMembers, pairs

_VAST = 1e300  # members whose spread may overflow


@later("spread")
@later("tied")
@later("knots")
@later("scores")
@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(SharedOrByRow):
    r"""Laws given by m samples a row, sorted once.

    ``kind="smooth"`` is the polyline through the members and the normal scores of their ranks,
    :math:`(x_{(i)}, \Phi^{-1}(i/(m+1)))`, continued with slope 1/sd: every outcome has a finite score, so a
    calibrator can widen it. Of more than ten members neighbours are taken together, about :math:`1.4\sqrt m` means, so
    that the density is not as uneven as their gaps. In rows where members are equal, which are atoms, each counts on
    its own. ``kind="discrete"`` is the raw law, an atom 1/m at each member.

    Parameters
    ----------
    samples : array-like (n, m)
    weights : None, array-like (m,) or (n, m)
        Frequencies: weight 2 is the member twice, weight 0 is no member (it may be NaN). A member of weight w takes the
        ranks from C + 1 to C + w of W + 1, where C is the weight below it and W the total; one of weight w < 1 takes
        the middle of these. Rows that sum to 1 are probabilities: divided by their largest, so that equal
        probabilities are equal members.
    kind : {"smooth", "discrete"}

    Examples
    --------
    >>> law = Ensemble([[1.0, 2.0, 3.0], [30.0, 10.0, 20.0]])
    >>> law.cdf([2.0, 10.0])
    array([0.5 , 0.25])
    >>> Ensemble([[1.0, 2.0, 3.0]], kind="discrete").cdf([2.0])
    array([0.667])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("samples", "spread", "tied")
    _maybe_by_row: ClassVar[tuple[str, ...]] = ("weights", "knots", "scores")

    samples: Array
    weights: Array | None = None
    kind: Literal["smooth", "discrete"] = "smooth"
    spread: Array = field(init=False)
    tied: NDArray[np.bool_] = field(init=False)
    knots: Array | None = field(init=False, default=None)
    scores: Array | None = field(init=False, default=None)

    def __init__(
        self, samples: Numbers, weights: Numbers | None = None, kind: Literal["smooth", "discrete"] = "smooth"
    ) -> None:
        """Check, sort, and measure the spread of each row."""
        one_of(kind, "kind", ("smooth", "discrete"))
        index = index_of(samples)
        given = _table(samples)
        if weights is None:
            parts = _sorted_rows(given, smooth=kind == "smooth")
        else:
            parts = vars(WeightedMembers.of(given, _member_weights(weights, given)))
        for name, value in (dict.fromkeys(("weights", "knots", "scores")) | {"kind": kind} | parts).items():
            object.__setattr__(self, name, value)
        if index is not None:
            object.__setattr__(self, "_index", index)
        if kind == "smooth":
            _refuse_constant_rows(self.samples)

    def _law(self) -> Transport | Steps:
        if self.kind == "discrete":
            return Steps(self.samples, self.weights)
        if self.knots is not None and self.scores is not None:
            return Transport(self.knots, self.scores, self.spread)
        m = self.samples.shape[1]
        return Transport(self.samples, ndtri(np.arange(1, m + 1) / (m + 1)), self.spread)

    @property
    def has_atoms(self) -> bool:
        """Equal members, or any member of a discrete ensemble."""
        return self.kind == "discrete" or bool(self.tied.any())

    @property
    def is_discrete(self) -> bool:
        """Only atoms if the kind is discrete."""
        return self.kind == "discrete"

    @property
    def support(self) -> tuple[Array, Array]:
        """Smallest and largest member of a discrete ensemble; a smooth one has no ends."""
        if self.kind == "discrete":
            return self.samples[:, 0].copy(), self.samples[:, -1].copy()
        return super().support

    def _kinks(self) -> Array:
        return self.samples if self.knots is None or self.kind == "discrete" else self.knots

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Height of the polyline, or score of the share of members up to y."""
        return self._law().to_normal(y, side)

    def from_normal(self, z: Array) -> Array:
        """Quantiles at normal scores."""
        return self._law().from_normal(z)

    def log_slope(self, y: Array) -> Array:
        """Slope of the polyline."""
        law = self._law()
        if isinstance(law, Transport):
            return law.log_slope(y)
        raise ValueError('a discrete ensemble has no density: use logpmf, or Ensemble(..., kind="smooth").')

    def mean(self) -> Array:
        """Expectations of the law, in closed form; a smooth one has nearly, not exactly, the members' average."""
        return self._law().mean()

    def var(self) -> Array:
        """Variances, in closed form."""
        with np.errstate(over="ignore", under="ignore"):
            return np.square(self.std())

    def std(self) -> Array:
        """Standard deviations, in closed form."""
        return self._law().std()

    def crps(self, y: Any) -> Array:
        """CRPS of the law itself, in closed form; see ``ensemble_crps`` for the classical estimators."""
        return self._law().crps(self._outcomes(y))

    def ensemble_crps(self, y: Any, estimator: Literal["empirical", "fair"] = "empirical") -> Array:
        r"""CRPS of the members, whatever the kind: :math:`\frac1m\sum_i|x_i-y| - \frac1N\sum_i (2i-m-1)\,x_{(i)}`.

        ``"empirical"`` (:math:`N = m^2`) scores the raw empirical law; ``"fair"`` (:math:`N = m(m-1)`) is unbiased for
        the law the members were drawn from, so ensembles of different size compare (Ferro 2014). O(m) a row.

        >>> Ensemble([[1.0, 2.0, 4.0]]).ensemble_crps([2.0])
        array([0.333])
        >>> Ensemble([[1.0, 2.0, 4.0]]).ensemble_crps([2.0], estimator="fair")
        array([0.])
        """
        one_of(estimator, "estimator", ("empirical", "fair"))
        if estimator == "fair":
            _refuse_single_members(self.samples, self.weights)
        return Steps(self.samples, self.weights).crps(self._outcomes(y), fair=estimator == "fair")


def _table(values: Any) -> Array:
    table = to_array(values, "samples")
    if table.ndim != 2:
        raise ValueError(f"`samples` must be (n, m), one row of m samples per forecast; got shape {table.shape}.")
    if table.shape[1] == 0:
        raise ValueError(f"`samples` must have at least one member; got shape {table.shape}.")
    return table


def _member_weights(values: Any, samples: Array) -> Array:
    weights = finite(to_array(values, "weights"), "weights")
    if weights.shape not in (samples.shape, samples.shape[1:]):
        n, m = samples.shape
        raise ValueError(
            f"`weights` must be ({m},) or ({n}, {m}) for samples of shape ({n}, {m}); got shape {weights.shape}."
        )
    complain("weights", "non-negative", weights, weights < 0)
    total = weights.sum(axis=-1)
    complain("sum of weights", "positive", total, ~(total > 0))
    return np.broadcast_to(weights, samples.shape)


def _sorted_rows(samples: Array, *, smooth: bool) -> dict[str, Any]:
    """Sorted copy, and for smooth laws spread, presence of ties and knots, which are worked out when asked for."""
    n, m = samples.shape
    out = np.empty((n, m))
    for rows in row_blocks(n, m):
        part = out[rows]
        part[...] = samples[rows]
        part.sort(axis=1)
    if not (np.isfinite(out[:, 0]).all() and np.isfinite(out[:, -1]).all()):  # sorted: inf and NaN are at the ends
        finite(samples, "samples", "Missing members? Give them weight 0.")
    if not smooth:
        return {"samples": out, "spread": np.zeros(n), "tied": np.zeros(n, dtype=bool)}
    details = Pending(_details, out)
    if not max(out[:, -1].max(initial=0.0), -out[:, 0].min(initial=0.0)) < _VAST:
        _ = details.value
    return {"samples": out} | {name: details.entry(k) for k, name in enumerate(("spread", "tied", "knots", "scores"))}


def _details(members: Array) -> tuple[Array, NDArray[np.bool_], Array | None, Array | None]:
    """Spread, presence of ties, and knots with their scores, of sorted members."""
    spread, tied = np.zeros(len(members)), np.zeros(len(members), dtype=bool)
    for rows in row_blocks(*members.shape):
        part = members[rows]
        tied[rows] = (part[:, 1:] == part[:, :-1]).any(axis=1)
        spread[rows] = _deviation(part)
    finite(spread, "spread of samples", "Members must differ by less than the largest float.")
    knots = of_members(members, tied)
    return (spread, tied, None, None) if knots is None else (spread, tied, *knots)


def _deviation(part: Array) -> Array:
    """Standard deviations with n - 1, of sorted rows; the quick formula where it keeps its digits."""
    m = part.shape[1]
    with np.errstate(all="ignore"):
        mean = part @ np.full(m, 1 / m)
        square = (np.vecdot(part, part) - m * np.square(mean)) / max(m - 1, 1)
        quick = (np.square(mean) < 1e4 * square) & (square > 1e-280) & (square < 1e280)
        spread = np.sqrt(np.where(quick, square, 0.0))
    if not quick.all():
        u, size = scaled(part[~quick])
        with np.errstate(all="ignore"):
            spread[~quick] = np.std(u, axis=1, ddof=min(1, m - 1)) * size
    return np.asarray(spread)


def _refuse_constant_rows(samples: Array) -> None:
    flat = samples[:, 0] == samples[:, -1]
    if flat.any():
        row = int(np.argmax(flat))
        raise ValueError(
            f"`samples` must differ within a row; all members are equal in {int(flat.sum())} of {len(flat)} rows, "
            f"first row {row} (all {samples[row, 0]}). "
            'Use Ensemble(..., kind="discrete"), or ResidualCalibrator for point predictions.'
        )


def _refuse_single_members(samples: Array, weights: Array | None) -> None:
    alone = samples.shape[1] < 2 if weights is None else bool(np.any(pairs(weights) <= 0))
    if alone:
        raise ValueError(
            '`estimator` "fair" needs at least two members (total weight above 1) in every row; use "empirical".'
        )
