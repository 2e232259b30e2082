"""Calibration curve: nominal against observed levels, with the band of perfect forecasters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array, probability, sample_weights
from ..adapters import as_distribution
from ..distributions.base import Distribution
from ..metrics import calibration_curve, calibration_error, calibration_floor, pit
from ._axes import COLOURS, GREY, axes_or_new, dress, has_label, percent, predicted_law
from ._consistency import curve_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

POINTS = 2048  # steps drawn at most; more could not be seen
ATOM_LEVELS = 500  # of the smooth curve of laws with atoms
DIAGONAL = "_diagonal"  # a label with an underscore stays out of the legend


@dataclass(kw_only=True)
class CalibrationCurveDisplay:
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
    name: str | None = None
    line_: Line2D = field(init=False, repr=False)
    diagonal_: Line2D | None = field(init=False, repr=False)
    band_: PolyCollection | None = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_predictions(
        cls, y_true: Any, dist: Any, *, name: str | None = None, coverage: float = 0.95, sample_weight: Any = None
    ) -> Self:
        """Compute the curve of forecasts.

        Parameters
        ----------
        y_true : array-like (n,)
            Outcomes.
        dist : Distribution, or what ``as_distribution`` accepts
            n forecasts.
        name : str, optional
            What to call them in the legend.
        coverage : float
            Probability with which the band holds the whole curve of a perfect forecaster.
        sample_weight : array-like (n,), optional
            Frequencies: weight 2 is the row twice.

        Returns
        -------
        CalibrationCurveDisplay
        """
        law = as_distribution(dist)
        weights = sample_weights(sample_weight, len(law))
        error = calibration_error(y_true, law, sample_weight=weights)
        levels, observed = _curve(y_true, law, weights)
        rows = len(law) if weights is None else float(weights.sum())
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

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the curve of what a fitted model predicts; options are those of :meth:`from_predictions`."""
        return cls.from_predictions(y, predicted_law(model, X), name=name or type(model).__name__, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve; on axes that hold one already, add to it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless told.
        name : str, optional
            What to call the curve instead of its own name.
        **kwargs
            For matplotlib's ``plot`` of the curve.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = axes_or_new(ax, (4.8, 4.8))
        self._draw_reference(self.ax_)
        title = self.name if name is None else name
        label = f"{title + ': ' if title else ''}error {self.error:.3f}, floor {self.floor:.3f}"
        colour = COLOURS[(len(self.ax_.lines) - 1) % len(COLOURS)]
        style: dict[str, Any] = {"color": colour, "linewidth": 1.8, "label": label} | kwargs
        (self.line_,) = self.ax_.plot(self.levels, self.observed, **style)
        self.ax_.legend(loc="upper left", frameon=False, fontsize="small")
        return self

    def _draw_reference(self, ax: Axes) -> None:
        """Diagonal and band, once for all curves that share them."""
        self.diagonal_ = self.band_ = None
        if not has_label(ax, DIAGONAL):
            dress(ax)
            (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, label=DIAGONAL)
            ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
            ax.set(xlabel="Nominal level p", ylabel="Share of outcomes below the p-quantile")
        label = f"{percent(self.coverage)} of perfect forecasters, n = {self.rows:.10g}"
        if not has_label(ax, label):
            style: dict[str, Any] = {"color": GREY, "alpha": 0.22, "linewidth": 0, "label": label}
            self.band_ = ax.fill_between(self.band_levels, self.band_low, self.band_high, **style)


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
    kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), POINTS)).round().astype(np.intp))
    share = below[kept] / below[-1]
    if len(kept) < len(values):
        return _framed(values[kept], share)
    return _framed(np.repeat(values, 2), np.repeat(np.append(0.0, share), 2)[1:-1])


def _framed(levels: Array, observed: Array) -> tuple[Array, Array]:
    return np.concatenate([[0.0], levels, [1.0]]), np.concatenate([[0.0], observed, [1.0]])
