"""Calibration curve: nominal against observed levels, with the band of perfect forecasters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array, probability
from .._types import Numbers, Weights
from ..distributions.base import Distribution
from ..metrics import calibration_curve, calibration_error, calibration_floor, pit
from ..metrics._inputs import paired, total
from ._axes import DIAGONAL, GREY, evenly, has_label, percent
from ._base import CurveDisplay
from ._consistency import curve_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

POINTS = 2048  # steps drawn at most; more could not be seen
ATOM_LEVELS = 500  # of the smooth curve of laws with atoms


@dataclass(kw_only=True, eq=False, repr=False)
class CalibrationCurveDisplay(CurveDisplay):
    r"""Share of outcomes below the predicted p-quantile, for every level p; calibrated forecasts follow the diagonal.

    .. math:: \hat p(p) = \tfrac1T \#\{t : F_t(y_t) \le p\}

    Kuleshov et al. (2018), eq. 8 and fig. 3, at full resolution: the empirical distribution function of the PIT values.
    The band holds the whole curve of a perfect forecaster with the stated probability, so a curve that leaves it
    anywhere is evidence of miscalibration. Below the diagonal to the left and above it to the right: intervals too
    wide; the other way round: too narrow; above all along: predictions too high.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`. Call ``plot(ax=...)`` of a second display on the
    axes of the first to compare.

    Attributes
    ----------
    levels, observed : arrays (m,)
        Corners of the curve.
    band_levels, band_low, band_high : arrays (k,)
        The band.
    coverage : float
        Probability that it holds the curve of a perfect forecaster; a lower bound for laws with atoms.
    rows : float
        Number of rows, counted with their weights.
    error, floor : float
        Calibration error at 10 levels, and what a perfect forecaster scores on as many rows.
    name : str or None
        What is drawn.
    line_, diagonal_, band_, ax_, figure_
        What :meth:`plot` drew; ``diagonal_`` and ``band_`` are None where the axes had them already.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import CalibrationCurveDisplay
    >>> display = CalibrationCurveDisplay.from_predictions([-1.0, 0.0, 3.0, 0.1], Normal([0.0] * 4, 1.0))
    >>> display.error, display.floor
    (0.0875, 0.4125)
    """

    levels: Array
    observed: Array
    band_levels: Array
    band_low: Array
    band_high: Array
    coverage: float
    rows: float
    error: float
    floor: float
    band_: PolyCollection | None = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers,
        dist: Any,
        *,
        name: str | None = None,
        coverage: float = 0.95,
        sample_weight: Weights = None,
    ) -> Self:
        """Compute the curve of forecasts.

        Parameters
        ----------
        y_true, dist, sample_weight
            As in `metrics.nll`.
        name : str, optional
            What to call them in the legend.
        coverage : float
            Probability with which the band holds the whole curve of a perfect forecaster.
        """
        y, law, weights = paired(y_true, dist, sample_weight)
        error = calibration_error(y, law, sample_weight=weights)
        levels, observed = _curve(y, law, weights)
        rows = total(y, weights)
        share = probability(coverage, "coverage")
        band_levels, low, high = curve_band(rows, share)
        return cls(
            levels=levels,
            observed=observed,
            band_levels=band_levels,
            band_low=low,
            band_high=high,
            coverage=share,
            rows=rows,
            error=error,
            floor=calibration_floor(rows),
            name=name,
        )

    def _words(self) -> str:
        return f"error {self.error:.3f}, floor {self.floor:.3f}"

    def _draw_diagonal(self, ax: Axes) -> Line2D:
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set(xlabel="Nominal level p", ylabel="Share of outcomes below the p-quantile")
        return ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, label=DIAGONAL)[0]

    def _draw_curve(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        self.band_ = None
        label = f"{percent(self.coverage)} of perfect forecasters, n = {self.rows:.10g}"
        if not has_label(ax, label):
            style: dict[str, Any] = {"color": GREY, "alpha": 0.22, "linewidth": 0, "label": label}
            self.band_ = ax.fill_between(self.band_levels, self.band_low, self.band_high, **style)
        self._draw_line(self.levels, self.observed, title, kwargs)


def _curve(y_true: Any, law: Distribution, weights: Array | None) -> tuple[Array, Array]:
    """Corners of the curve from (0, 0) to (1, 1): steps at the PIT values, or a smooth curve where laws have atoms."""
    if law.has_atoms:
        grid = np.linspace(0.0, 1.0, ATOM_LEVELS + 1)
        return calibration_curve(y_true, law, levels=grid, sample_weight=weights)
    values = pit(y_true, law)
    if weights is None:
        values, below = np.sort(values), np.arange(1.0, len(values) + 1)
    else:
        order = np.argsort(values)
        values, below = values[order], np.cumsum(weights[order])
    kept = evenly(len(values), POINTS)
    share = below[kept] / below[-1]
    if len(kept) < len(values):
        return _framed(values[kept], share)
    return _framed(np.repeat(values, 2), np.repeat(np.append(0.0, share), 2)[1:-1])


def _framed(levels: Array, observed: Array) -> tuple[Array, Array]:
    return np.concatenate([[0.0], levels, [1.0]]), np.concatenate([[0.0], observed, [1.0]])
