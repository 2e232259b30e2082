"""Sharpness against calibration: which methods no other one beats at both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .._types import Numbers, Weights
from ..metrics import anderson_darling, nll
from ._axes import COLOURS, GREY, add_legend, add_title, dress
from ._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MARKERS = "osD^vP"
DECADES = 10.0  # from this ratio of the largest to the smallest error on, the axis is logarithmic


@dataclass(kw_only=True, eq=False, repr=False)
class ParetoDisplay(Display):
    r"""Calibration against the logarithmic score, one dot a method, and the Pareto front of the two.

    Carney and Cunningham (2006) see forecasting as two objectives: NLL, which rewards sharpness, and Anderson and
    Darling's A² of the PIT values, which is small for calibrated forecasts. A method is on the front if no other is at
    least as good at both and better at one.

    Make it with :meth:`from_predictions`, or :meth:`from_measures` of numbers that are there already.

    Attributes
    ----------
    names : list of str
    loss, calibration : arrays (m,)
        The two objectives; smaller is better.
    front : array of bool (m,)
        Which methods are on the front.
    labels : (str, str)
        What the objectives are called.
    dots_, line_, ax_, figure_
        What :meth:`plot` drew; methods without finite numbers have no dot (None).

    Examples
    --------
    >>> from calibrant.displays.pareto import ParetoDisplay
    >>> display = ParetoDisplay.from_measures(["none", "scale", "quantile"], [2.0, 1.5, 1.4], [9.0, 0.8, 0.9])
    >>> display.front
    array([False,  True,  True])
    """

    _size = (5.2, 3.8)

    names: list[str]
    loss: Array
    calibration: Array
    front: NDArray[np.bool_]
    labels: tuple[str, str] = ("NLL", "A² of the PIT values")
    dots_: list[Line2D | None] = field(init=False)
    line_: Line2D = field(init=False)

    @classmethod
    def from_predictions(cls, y_true: Numbers, dists: Mapping[str, Any], *, sample_weight: Weights = None) -> Self:
        """Compute NLL and A² of several forecasts of the same outcomes.

        Parameters
        ----------
        y_true, sample_weight
            As in `metrics.nll`.
        dists : dict of Distribution, or of what ``as_distribution`` accepts
            n forecasts by each method, by name.
        """
        both = [[measure(y_true, d, sample_weight=sample_weight) for d in dists.values()] for measure in _MEASURES]
        return cls.from_measures(list(dists), *both)

    @classmethod
    def from_measures(
        cls, names: Sequence[str], loss: Numbers, calibration: Numbers, *, labels: tuple[str, str] | None = None
    ) -> Self:
        """Find the front of numbers that are there already, as in the table of a comparison.

        Parameters
        ----------
        names : sequence of str (m,)
        loss, calibration : array-like (m,)
            Smaller is better; infinite where a method failed.
        labels : (str, str), optional
            What they are called.
        """
        first, second = (np.asarray(values, dtype=np.float64) for values in (loss, calibration))
        if not first.shape == second.shape == (len(names),):
            raise ValueError(
                f"`loss` and `calibration` must be as many as the {len(names)} names; "
                f"got shapes {first.shape} and {second.shape}."
            )
        numbers: dict[str, Any] = {"loss": first, "calibration": second, "front": pareto_front(first, second)}
        return cls(names=list(names), labels=cls.labels if labels is None else labels, **numbers)

    def _words(self) -> str:
        front = [name for name, best in zip(self.names, self.front, strict=True) if best]
        return f"{len(self.names)} methods, on the front {', '.join(front)}"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        order = np.flatnonzero(self.front)[np.argsort(self.loss[self.front], kind="stable")]
        edge: dict[str, Any] = {"color": GREY, "linewidth": 1.2, "drawstyle": "steps-post", "label": "Pareto front"}
        (self.line_,) = ax.plot(self.loss[order], self.calibration[order], **edge)
        self.dots_ = [self._dot(k, kwargs) for k in range(len(self.names))]
        self._scale(ax)
        ax.set(xlabel=f"{self.labels[0]} (smaller: better)", ylabel=f"{self.labels[1]} (smaller: better)")
        add_legend(ax, "upper left", bbox_to_anchor=(1.0, 1.0))  # never over a dot
        add_title(ax, title)

    def _dot(self, k: int, kwargs: dict[str, Any]) -> Line2D | None:
        """Full on the front, hollow elsewhere."""
        if not np.isfinite([self.loss[k], self.calibration[k]]).all():
            return None
        style: dict[str, Any] = {
            "color": COLOURS[k % len(COLOURS)],
            "marker": MARKERS[k // len(COLOURS) % len(MARKERS)],
            "fillstyle": "full" if self.front[k] else "none",
            "linestyle": "none",
            "label": self.names[k].lstrip("_"),  # labels with an underscore stay out of the legend
        }
        return self.ax_.plot([self.loss[k]], [self.calibration[k]], **(style | kwargs))[0]

    def _scale(self, ax: Axes) -> None:
        drawn = self.calibration[[dot is not None for dot in self.dots_]]
        if len(drawn) and drawn.min() > 0 and drawn.max() > DECADES * drawn.min():
            ax.set_yscale("log")
            for set_format in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
                set_format(_some_plain)


def _some_plain(value: float, _: Any) -> str:
    """Ones, twos and fives of a logarithmic axis in digits; powers of ten would need a typesetter."""
    return f"{value:g}" if f"{value:.0e}"[0] in "125" else ""


_MEASURES = (nll, anderson_darling)


def pareto_front(loss: Array, calibration: Array) -> NDArray[np.bool_]:
    """Which pairs no other pair is at least as small as in both, and smaller in one; NaN never is.

    >>> pareto_front(np.array([1.0, 2.0, 2.0]), np.array([3.0, 1.0, 2.0]))
    array([ True,  True, False])
    """
    known = np.isfinite(loss) & np.isfinite(calibration)
    worse = (loss[:, None] >= loss) & (calibration[:, None] >= calibration)
    strictly = (loss[:, None] > loss) | (calibration[:, None] > calibration)
    return np.asarray(known & ~(worse & strictly & known).any(axis=1))
