"""What a calibrator does to single forecasts: calibrated against uncalibrated probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .._checks import Array, count
from ..adapters import as_distribution
from ..distributions import Distribution
from ._axes import add_legend, add_title, dashed_diagonal, dress, evenly
from ._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_SCORES = np.linspace(-3.5, 3.5, 201)
_ROUNDING = 1e-9  # in probabilities: lines closer than this are one


@dataclass(kw_only=True, eq=False, repr=False)
class CalibrationMapDisplay(Display):
    r"""Calibrated probability :math:`G_t(y)` against uncalibrated :math:`F_t(y)`, one line an instance.

    One line for all instances: the calibrator learned one map (quantile recalibration). Many: it treats forecasts
    differently (Song et al. 2019, fig. 2, right). On the diagonal nothing changes. Of one instance it is the "marginal
    calibration map" of Song et al. (2018), fig. 3, middle.

    Make it with :meth:`from_forecasts` or :meth:`from_estimator`.

    Attributes
    ----------
    before, after : arrays (k, p)
        Probabilities along each line.
    rows : array (k,)
        Which forecasts are drawn.
    medians : array (k,)
        Their uncalibrated medians, which colour the lines.
    name : str or None
        What is drawn.
    shared : bool
        Whether all forecasts have one line in common, which is then drawn once.
    lines_, diagonal_, ax_, figure_
        What :meth:`plot` drew.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import CalibrationMapDisplay
    >>> display = CalibrationMapDisplay.from_forecasts(Normal([0.0, 5.0], 1.0), Normal([0.0, 5.0], [2.0, 3.0]))
    >>> display.rows
    array([0, 1])

    Differs from fig. 2 of Song et al. (2019) in: forecasts are evenly spread over their medians, nine by default, where
    the figure has those of mean 0, 5 and 7; the lines of one calibrator only, where it has the isotonic one beside.
    """

    _size = (4.6, 4.4)

    before: Array
    after: Array
    rows: NDArray[np.intp]
    medians: Array
    shared: bool = False
    lines_: list[Line2D] = field(init=False)
    diagonal_: Line2D = field(init=False)

    @classmethod
    def from_forecasts(cls, before: Any, after: Any, *, rows: Any = 9, name: str | None = None) -> Self:
        """Compute the lines of some forecasts.

        Parameters
        ----------
        before, after : Distribution, or what ``as_distribution`` accepts
            n forecasts, and what a calibrator made of them.
        rows : int or array-like of int
            Which forecasts to draw; a number stands for that many, evenly spread over their medians.
        name : str, optional
            What to call them in the title.
        """
        base, law = as_distribution(before), as_distribution(after)
        if len(base) != len(law):
            raise ValueError(f"`after` must have one forecast per forecast before; got {len(law)} for {len(base)}.")
        chosen = _chosen(rows, base)
        calibrated = law[chosen].cdf(base[chosen].from_normal(_SCORES[None, :]))
        several = isinstance(rows, (int, np.integer)) and len(chosen) > 1
        shared = several and bool(np.ptp(calibrated, axis=0).max() < _ROUNDING)
        if shared:  # one line tells it all
            chosen, calibrated = chosen[:1], calibrated[:1]
        return cls(
            before=np.broadcast_to(ndtr(_SCORES), calibrated.shape),
            after=calibrated,
            rows=chosen,
            medians=base[chosen].median(),
            name=name,
            shared=shared,
        )

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, rows: Any = 9, name: str | None = None) -> Self:
        """Compute the lines of a fitted `CalibratedRegressor`: what it makes of its base model's forecasts."""
        sides = (model.predict_dist(X, calibrated=False), model.predict_dist(X))
        return cls.from_forecasts(*sides, rows=rows, name=name or type(model).__name__)

    def _words(self) -> str:
        return "one line for all forecasts" if self.shared else f"lines of {len(self.rows)} forecasts"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        import matplotlib

        dress(ax)
        self.diagonal_ = dashed_diagonal(ax)
        place = np.argsort(np.argsort(self.medians)) / max(len(self.medians) - 1, 1)
        colours = matplotlib.colormaps["viridis"](0.9 * place)
        self.lines_ = []
        for q, r, median, colour in zip(self.before, self.after, self.medians, colours, strict=True):
            label = "all forecasts" if self.shared else f"median {median:.3g}"
            style: dict[str, Any] = {"color": colour, "linewidth": 1.6, "label": label} | kwargs
            self.lines_ += ax.plot(q, r, **style)
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="Uncalibrated probability F(y)", ylabel="Calibrated probability")
        ax.set_aspect("equal")
        if len(self.lines_) <= 9:
            add_legend(ax, "upper left")
        add_title(ax, title)


def _chosen(rows: Any, law: Distribution) -> NDArray[np.intp]:
    if not isinstance(rows, (int, np.integer)):
        return np.atleast_1d(np.arange(len(law))[np.asarray(rows)])
    return np.argsort(law.median(), kind="stable")[evenly(len(law), count(rows, "rows"))]
