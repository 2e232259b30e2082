"""PIT histogram: flat if the forecasts are calibrated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array, count, probability, sample_weights
from ..adapters import as_distribution
from ..metrics import calibration_curve
from ._axes import COLOURS, GREY, axes_or_new, dress, percent, predicted_law
from ._consistency import bar_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle


@dataclass(kw_only=True)
class PITDisplay:
    r"""Histogram of the PIT values :math:`F_t(y_t)`, flat at 1 if the forecasts are calibrated.

    A valley in the middle: intervals too narrow; a hill: too wide; a slope: predictions too high (falling) or too low
    (rising). All bars of a perfect forecaster are in the band with at least the stated probability.

    An outcome on an atom has a whole interval of PIT values; its mass is spread evenly over
    :math:`[P_t(Y < y_t), P_t(Y \le y_t)]` (the non-randomised histogram of Czado et al. 2009).

    Make it with :meth:`from_predictions` or :meth:`from_estimator`.

    Attributes
    ----------
    edges : array (bins + 1,)
        Ends of the bins.
    density : array (bins,)
        Heights of the bars: share of rows, times the number of bins.
    band : (float, float)
        Lower and upper end of the band, as a density.
    coverage : float
        Probability that it holds all bars of a perfect forecaster; a lower bound.
    name : str or None
        What is drawn.
    bars_, uniform_, band_, ax_, figure_
        What :meth:`plot` drew.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import PITDisplay
    >>> PITDisplay.from_predictions([-1.0, 0.2, 3.0, 0.1], Normal([0.0] * 4, 1.0), bins=4).density
    array([1., 0., 2., 1.])
    """

    edges: Array
    density: Array
    band: tuple[float, float]
    coverage: float
    name: str | None = None
    bars_: BarContainer = field(init=False, repr=False)
    uniform_: Line2D = field(init=False, repr=False)
    band_: Rectangle = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        dist: Any,
        *,
        bins: int = 10,
        name: str | None = None,
        coverage: float = 0.95,
        sample_weight: Any = None,
    ) -> Self:
        """Compute the histogram of forecasts.

        Parameters
        ----------
        y_true : array-like (n,)
            Outcomes.
        dist : Distribution, or what ``as_distribution`` accepts
            n forecasts.
        bins : int
            Number of bars.
        name : str, optional
            What to call them in the title.
        coverage : float
            Probability with which the band holds all bars of a perfect forecaster.
        sample_weight : array-like (n,), optional
            Frequencies: weight 2 is the row twice.

        Returns
        -------
        PITDisplay
        """
        count(bins, "bins")
        share = probability(coverage, "coverage")
        law = as_distribution(dist)
        weights = sample_weights(sample_weight, len(law))
        levels, observed = calibration_curve(y_true, law, levels=bins, sample_weight=weights)
        rows = len(law) if weights is None else float(weights.sum())
        low, high = bar_band(rows, bins, share)
        return cls(
            edges=np.append(0.0, levels),
            density=np.diff(observed, prepend=0.0) * bins,
            band=(low * bins, high * bins),
            coverage=share,
            name=name,
        )

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the histogram of what a fitted model predicts; options are those of :meth:`from_predictions`."""
        return cls.from_predictions(y, predicted_law(model, X), name=name or type(model).__name__, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the histogram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless told.
        name : str, optional
            What to call it instead of its own name.
        **kwargs
            For matplotlib's ``bar``.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = axes_or_new(ax, (5.2, 3.6))
        ax, title = self.ax_, self.name if name is None else name
        dress(ax)
        label = f"{percent(self.coverage)} of perfect forecasters"
        self.band_ = ax.axhspan(*self.band, color=GREY, alpha=0.22, linewidth=0, label=label)
        style: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.7} | kwargs
        self.bars_ = ax.bar(self.edges[:-1], self.density, 0.94 * np.diff(self.edges), align="edge", **style)
        self.uniform_ = ax.axhline(1.0, color=GREY, linewidth=1)
        ax.hlines(self.band, 0, 1, color=GREY, linewidth=1, linestyles=":")
        ax.set(xlim=(0, 1), ylim=(0, 1.25 * max(self.density.max(), self.band[1])))
        ax.set(xlabel="PIT value F(y)", ylabel="Density (1: perfect)")
        ax.legend(loc="upper center", frameon=False, fontsize="small")
        if title:
            ax.set_title(title, fontsize="medium")
        return self
