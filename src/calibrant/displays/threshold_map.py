"""The map of a threshold classifier over forecast probability and threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import ndtr, ndtri

from .._checks import Array, column
from .._types import Numbers
from ..adapters import as_distribution
from ._axes import add_title
from ._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.contour import QuadContourSet

_SIDE, _MOST_PAIRS = 101, 4000


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdMapDisplay(Display):
    r"""Calibrated probability of :math:`Y \le t` over the forecast probability q and the threshold t.

    Dots are the pairs a `GPCCalibrator` learns from: of rows and thresholds, in one colour where :math:`y \le t`, in
    another where not (Song et al. 2018, fig. 2). Straight horizontal bands would be one map for all thresholds.

    Make it with :meth:`from_calibrator`.

    Attributes
    ----------
    q : array (k,)
        Probabilities before the classifier, after the calibrator's common quantile map.
    t : array (k,)
        Thresholds.
    values : array (k, k)
        Calibrated probability at each t (line) and q (column).
    pairs : (array, array, array)
        t, q and whether y <= t of the drawn pairs.
    name : str or None
        What is drawn.
    contours_, dots_, ax_, figure_
        What :meth:`plot` drew.

    Differs from the paper in: q after the common quantile map, unless the calibrator has ``quantile_map=False``.
    """

    _size = (5.8, 4.4)

    q: Array
    t: Array
    values: Array
    pairs: tuple[Array, Array, Array]
    contours_: QuadContourSet = field(init=False)
    dots_: PathCollection = field(init=False)

    @classmethod
    def from_calibrator(cls, calibrator: Any, forecasts: Any, y: Numbers, *, name: str | None = None) -> Self:
        """Compute the map of a fitted `GPCCalibrator`.

        Parameters
        ----------
        calibrator : fitted GPCCalibrator
        forecasts : Distribution, or what ``as_distribution`` accepts
            n forecasts, those it was fitted on say.
        y : array-like (n,)
            Their outcomes.
        name : str, optional
            What to call it in the title.
        """
        law = calibrator._mapped(as_distribution(forecasts))
        outcome = column(y, "y", len(law))
        low, high = calibrator.range_
        t, q = np.linspace(low, high, _SIDE), np.linspace(0.005, 0.995, _SIDE)
        values = calibrator.probability(ndtri(q)[None, :], t[:, None])
        thresholds = np.linspace(low, high, int(calibrator.n_thresholds))
        rows = np.arange(0, len(law), -(-len(law) * len(thresholds) // _MOST_PAIRS))
        z = law[rows].to_normal(thresholds[None, :])
        below = outcome[rows, None] <= thresholds
        pairs = (np.broadcast_to(thresholds, z.shape).ravel(), ndtr(z).ravel(), below.ravel().astype(float))
        return cls(q=q, t=t, values=values, pairs=pairs, name=name)

    def _words(self) -> str:
        return f"{len(self.q)} probabilities, {len(self.t)} thresholds, {len(self.pairs[0])} pairs"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        style: dict[str, Any] = {"levels": np.linspace(0, 1, 11), "cmap": "Greys", "alpha": 0.8} | kwargs
        self.contours_ = ax.contourf(self.t, self.q, self.values.T, **style)
        t, q, below = self.pairs
        colours = np.where(below > 0, "#0072B2", "#D55E00")
        self.dots_ = ax.scatter(t, q, s=5, c=colours, linewidths=0, alpha=0.5)
        ax.set(xlabel="Threshold t", ylabel="Forecast probability q(t)", ylim=(0, 1), xlim=(self.t[0], self.t[-1]))
        self.figure_.colorbar(self.contours_, ax=ax, label="Calibrated probability of Y ≤ t")
        add_title(ax, title)
