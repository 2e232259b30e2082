"""PIT histogram: flat if the forecasts are calibrated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array, count, probability
from .._types import Numbers, Weights
from ..metrics import calibration_curve
from ..metrics._inputs import paired, total
from ._axes import COLOURS, GREY, add_legend, add_title, dress, percent
from ._base import ForecastDisplay
from ._consistency import bar_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle


@dataclass(kw_only=True, eq=False, repr=False)
class PITDisplay(ForecastDisplay):
    r"""Histogram of the PIT values :math:`F_t(y_t)`, flat at 1 if the forecasts are calibrated.

    A valley in the middle: intervals too narrow; a hill: too wide; a slope: predictions too high (falling) or too low
    (rising). All bars of a perfect forecaster are in the band with at least the stated probability.

    An outcome on an atom has a whole interval of PIT values; its mass is spread evenly over
    :math:`[P_t(Y < y_t), P_t(Y \le y_t)]` (the non-randomised histogram of Czado et al. 2009).

    Make it with :meth:`from_predictions` or :meth:`from_estimator`.

    Attributes
    ----------
    edges : array (n_bins + 1,)
        Ends of the bins.
    density : array (n_bins,)
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
    >>> PITDisplay.from_predictions([-1.0, 0.2, 3.0, 0.1], Normal([0.0] * 4, 1.0), n_bins=4).density
    array([1., 0., 2., 1.])
    """

    _size = (5.2, 3.6)

    edges: Array
    density: Array
    band: tuple[float, float]
    coverage: float
    bars_: BarContainer = field(init=False)
    uniform_: Line2D = field(init=False)
    band_: Rectangle = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers,
        dist: Any,
        *,
        n_bins: int = 10,
        name: str | None = None,
        coverage: float = 0.95,
        sample_weight: Weights = None,
    ) -> Self:
        """Compute the histogram of forecasts.

        Parameters
        ----------
        y_true, dist, sample_weight
            As in `metrics.nll`.
        n_bins : int
            Number of bars.
        name : str, optional
            What to call them in the title.
        coverage : float
            Probability with which the band holds all bars of a perfect forecaster.
        """
        count(n_bins, "n_bins")
        share = probability(coverage, "coverage")
        y, law, weights = paired(y_true, dist, sample_weight)
        levels, observed = calibration_curve(y, law, levels=n_bins, sample_weight=weights)
        low, high = bar_band(total(y, weights), n_bins, share)
        return cls(
            edges=np.append(0.0, levels),
            density=np.diff(observed, prepend=0.0) * n_bins,
            band=(low * n_bins, high * n_bins),
            coverage=share,
            name=name,
        )

    def _words(self) -> str:
        return f"{len(self.density)} bars from {self.density.min():.3g} to {self.density.max():.3g}"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        label = f"{percent(self.coverage)} of perfect forecasters"
        self.band_ = ax.axhspan(*self.band, color=GREY, alpha=0.22, linewidth=0, label=label)
        style: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.7} | kwargs
        self.bars_ = ax.bar(self.edges[:-1], self.density, 0.94 * np.diff(self.edges), align="edge", **style)
        self.uniform_ = ax.axhline(1.0, color=GREY, linewidth=1)
        ax.hlines(self.band, 0, 1, color=GREY, linewidth=1, linestyles=":")
        ax.set(xlim=(0, 1), ylim=(0, 1.25 * max(self.density.max(), self.band[1])))
        ax.set(xlabel="PIT value F(y)", ylabel="Density (1: perfect)")
        add_legend(ax, "upper center")
        add_title(ax, title)
