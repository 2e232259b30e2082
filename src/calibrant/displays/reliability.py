"""Reliability diagram: forecast probability against observed frequency."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array, probability
from .._later import Pending, later
from .._types import Labels, Weights
from ..adapters.class_scores import ClassScores
from ..metrics.classes.bins import ForecastBins
from ..metrics.classes.forecasts import Probabilities
from ._axes import DIAGONAL, GREY, dress, percent
from ._base import CurveDisplay
from ._reliability import Bins, chosen_event, frequencies, perfect_forecasters, width_bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

COUNTS = "_counts"  # a label with an underscore stays out of the legend


@later("band_forecast")
@later("band_low")
@later("band_high")
@later("floor")
@dataclass(kw_only=True, eq=False, repr=False)
class ReliabilityDisplay(CurveDisplay):
    r"""Observed frequency of a class against its forecast probability; calibrated forecasts follow the diagonal.

    DeGroot and Fienberg (1982); Bella et al. (2010). In bins, the mean forecast of each bin and the share of its rows
    with the class. With ``n_bins="pav"``, the increasing curve by pooled adjacent violators at every forecast, which
    needs no bins (CORP; Dimitriadis et al. 2021). The band holds the whole curve of a perfect forecaster with the
    stated probability: outcomes are drawn with the forecast probabilities 4 999 times, always with the same seed.
    Below, the number of rows by forecast.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`. Call ``plot(ax=...)`` of a second display on the
    axes of the first to compare.

    Attributes
    ----------
    forecast, observed : arrays (m,)
        The points, or the corners of the curve.
    band_forecast, band_low, band_high : arrays (k,)
        The band; outcomes are drawn when it, or the floor, is first asked for.
    coverage : float
        Probability that it holds the curve of a perfect forecaster.
    edges, counts : arrays (b + 1,), (b,)
        Number of rows, counted with their weights, by forecast.
    error, floor : float
        Mean distance of forecast and frequency (in bins, the expected calibration error), and what a perfect forecaster
        scores.
    n_bins : int, (int, "left" or "right"), "mass" or "pav"
    name : str or None
        What is drawn.
    line_, band_, histogram_, diagonal_, ax_, counts_ax_, figure_
        What :meth:`plot` drew; ``diagonal_`` is None where the axes had it already.

    Examples
    --------
    >>> from calibrant.displays import ReliabilityDisplay
    >>> y, p = ["no", "yes", "no", "yes", "yes"], [0.1, 0.3, 0.3, 0.7, 0.9]
    >>> display = ReliabilityDisplay.from_predictions(y, p, n_bins=2)
    >>> display.forecast, display.observed
    (array([0.233, 0.8  ]), array([0.333, 1.   ]))
    """

    _size = (4.8, 6.2)

    forecast: Array
    observed: Array
    band_forecast: Array
    band_low: Array
    band_high: Array
    coverage: float
    edges: Array
    counts: Array
    error: float
    floor: float
    n_bins: Bins = 10
    band_: PolyCollection = field(init=False)
    histogram_: StepPatch = field(init=False)
    counts_ax_: Axes = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Labels,
        y_proba: Probabilities,
        *,
        label: Any = None,
        n_bins: Bins = 10,
        name: str | None = None,
        coverage: float = 0.95,
        sample_weight: Weights = None,
    ) -> Self:
        """Compute the diagram of class probabilities.

        Parameters
        ----------
        y_true, y_proba, sample_weight
            As in `metrics.brier_score`.
        label : optional
            The class whose probability is drawn. Unless told, the second of two; of more, whichever is most probable.
        n_bins : int, pair of int and {"left", "right"}, "mass" or "pav"
            So many bins of equal width, ten with equal numbers of rows, or none. A forecast on an inner edge is in the
            bin above; with ``(10, "right")`` in the one below: [0, 0.1], (0.1, 0.2], ... as in Kuleshov et al. (2018),
            §2.2 and fig. 2.
        name : str, optional
            What to call the forecasts in the legend.
        coverage : float
            Probability with which the band holds the whole curve of a perfect forecaster.
        """
        event = chosen_event(y_true, y_proba, label, sample_weight)
        curve = frequencies(event, n_bins)
        share, (kind, columns) = probability(coverage, "coverage"), width_bins(n_bins)
        drawn = Pending(perfect_forecasters, curve, n_bins == "pav", share)
        forecast, observed = curve.corners() if n_bins == "pav" else (curve.forecast, curve.observed)
        return cls(
            forecast=forecast,
            observed=observed,
            band_forecast=drawn.entry(0),
            band_low=drawn.entry(1),
            band_high=drawn.entry(2),
            coverage=share,
            edges=np.linspace(0, 1, columns + 1),
            counts=ForecastBins.of(event, kind, columns).mass,
            error=curve.error,
            floor=drawn.entry(3),
            n_bins=n_bins,
            name=name,
        )

    @classmethod
    def _predicted(cls, model: Any, X: Any) -> ClassScores:
        if not hasattr(model, "predict_proba"):
            kind = type(model).__name__
            raise TypeError(f"`model` must have predict_proba; {kind} does not. Wrap it: CalibratedClassifier(model).")
        return ClassScores(np.asarray(model.predict_proba(X)), classes=model.classes_)

    def _words(self) -> str:
        return f"error {self.error:.3f}, floor {self.floor:.3f}"

    def _draw_curve(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        self.counts_ax_ = next(child for child in list[Any](ax.child_axes) if child.get_label() == COUNTS)
        marker: dict[str, Any] = {} if self.n_bins == "pav" else {"marker": "o", "markersize": 5}
        self._draw_line(self.forecast, self.observed, title, marker | kwargs)
        colour = self.line_.get_color()
        shade: dict[str, Any] = {"color": colour, "alpha": 0.15, "linewidth": 0}
        self.band_ = ax.fill_between(
            self.band_forecast, self.band_low, self.band_high, label=f"_{percent(self.coverage)} band", **shade
        )
        self.histogram_ = self.counts_ax_.stairs(self.counts, self.edges, color=colour, linewidth=1.4)

    def _draw_diagonal(self, ax: Axes) -> Line2D:
        """With axes for the counts below."""
        diagonal = ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, label=DIAGONAL)[0]
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", ylabel="Observed frequency")
        ax.tick_params(labelbottom=False)
        counts = ax.inset_axes((0.0, -0.27, 1.0, 0.22), sharex=ax, label=COUNTS)
        dress(counts)
        counts.set(xlabel="Forecast probability", ylabel="Rows")
        return diagonal
