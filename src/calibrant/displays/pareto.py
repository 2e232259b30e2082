"""Sharpness against calibration: which methods no other one beats at both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .._types import Numbers, Weights
from ..metrics import anderson_darling, nll
from ._axes import COLOURS, GREY, MOST_TICKS, add_legend, add_title, dress
from ._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MARKERS = "osD^vP"
FAR = 8.0  # times the median distance from the best
FAINT = 0.55
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
    loss_interval, calibration_interval : arrays (m, 2) or None
        Low and high ends around the two, drawn as bars.
    far : array of bool (m,)
        Methods whose loss is so large that the others could not be told apart: an arrow at the edge stands for them.
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
    loss_interval: Array | None = None
    calibration_interval: Array | None = None
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
        cls,
        names: Sequence[str],
        loss: Numbers,
        calibration: Numbers,
        *,
        labels: tuple[str, str] | None = None,
        loss_interval: Any = None,
        calibration_interval: Any = None,
    ) -> Self:
        """Find the front of numbers that are there already, as in the table of a comparison.

        Parameters
        ----------
        names : sequence of str (m,)
        loss, calibration : array-like (m,)
            Smaller is better; infinite where a method failed.
        labels : (str, str), optional
            What they are called.
        loss_interval, calibration_interval : array-like (m, 2), optional
            Low and high ends around them; NaN where there are none.
        """
        first, second = (np.asarray(values, dtype=np.float64) for values in (loss, calibration))
        if not first.shape == second.shape == (len(names),):
            raise ValueError(
                f"`loss` and `calibration` must be as many as the {len(names)} names; "
                f"got shapes {first.shape} and {second.shape}."
            )
        numbers: dict[str, Any] = {"loss": first, "calibration": second, "front": pareto_front(first, second)}
        for name, ends in (("loss_interval", loss_interval), ("calibration_interval", calibration_interval)):
            numbers[name] = None if ends is None else np.asarray(ends, dtype=np.float64).reshape(len(names), 2)
        return cls(names=list(names), labels=cls.labels if labels is None else labels, **numbers)

    def _words(self) -> str:
        front = [name for name, best in zip(self.names, self.front, strict=True) if best]
        return f"{len(self.names)} methods, on the front {', '.join(front)}"

    @property
    def far(self) -> NDArray[np.bool_]:
        """Which methods are further than eight times the median distance behind the best loss."""
        known = self.loss[np.isfinite(self.loss)]
        if len(known) == 0:
            return np.zeros(len(self.loss), dtype=bool)
        typical = float(np.median(known) - known.min())
        return np.asarray(np.isfinite(self.loss) & (typical > 0) & (self.loss - known.min() > FAR * typical))

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        order = np.flatnonzero(self.front)[np.argsort(self.loss[self.front], kind="stable")]
        edge: dict[str, Any] = {"color": GREY, "linewidth": 1.6, "drawstyle": "steps-post", "label": "Pareto front"}
        (self.line_,) = ax.plot(self.loss[order], self.calibration[order], **edge)
        self.dots_ = [self._dot(k, kwargs) for k in range(len(self.names))]
        self._scale(ax)
        self._far_ones(ax)
        ax.set(xlabel=f"{self.labels[0]} (smaller: better)", ylabel=f"{self.labels[1]} (smaller: better)")
        add_legend(ax, "upper left", bbox_to_anchor=(1.0, 1.0))  # never over a dot
        add_title(ax, title)

    def _dot(self, k: int, kwargs: dict[str, Any]) -> Line2D | None:
        """Full on the front, hollow and faint elsewhere, with bars behind it."""
        if not np.isfinite([self.loss[k], self.calibration[k]]).all():
            return None
        far = bool(self.far[k])
        style: dict[str, Any] = {
            "color": COLOURS[k % len(COLOURS)],
            "marker": ">" if far else MARKERS[(k + k // len(COLOURS)) % len(MARKERS)],
            "fillstyle": "full" if self.front[k] else "none",
            "linestyle": "none",
            "alpha": 1.0 if self.front[k] else FAINT,
            "zorder": 3 if self.front[k] else 2.5,
            "label": self._name(k),
        }
        if not far:
            self._bars(k, style["color"])
        return self.ax_.plot([self.loss[k]], [self.calibration[k]], **(style | kwargs))[0]

    def _name(self, k: int) -> str:
        """For the legend, which leaves out labels that begin with an underscore; of arrows with their loss."""
        name = self.names[k].lstrip("_")
        return f"{name} ({self.labels[0]} {self.loss[k]:.4g})" if self.far[k] else name

    def _bars(self, k: int, colour: str) -> None:
        style: dict[str, Any] = {"color": colour, "linewidth": 1.1, "alpha": 0.7 if self.front[k] else 0.3}
        x, y = self.loss[k], self.calibration[k]
        if self.loss_interval is not None and np.isfinite(self.loss_interval[k]).all():
            self.ax_.plot(self.loss_interval[k], [y, y], label="_", **style)
        if self.calibration_interval is not None and np.isfinite(self.calibration_interval[k]).all():
            self.ax_.plot([x, x], self.calibration_interval[k], label="_", **style)

    def _far_ones(self, ax: Axes) -> None:
        """The edge behind the others, with arrows on it."""
        near = np.isfinite(self.loss) & ~self.far
        if not self.far.any() or not near.any():
            return
        ends = [self.loss[near]] if self.loss_interval is None else [self.loss[near], self.loss_interval[near].ravel()]
        places = np.concatenate(ends)
        low, high = (pick(places[np.isfinite(places)]) for pick in (np.min, np.max))
        edge = high + 0.12 * (high - low)
        ax.set_xlim(low - 0.05 * (high - low), edge)
        for k in np.flatnonzero(self.far):
            dot = self.dots_[k]
            if dot is not None:
                dot.set(xdata=[edge], clip_on=False)

    def _scale(self, ax: Axes) -> None:
        ax.locator_params(axis="x", nbins=MOST_TICKS)
        drawn = self.calibration[[dot is not None for dot in self.dots_]]
        if len(drawn) and drawn.min() > 0 and drawn.max() > DECADES * drawn.min():
            ax.set_yscale("log")
            some = partial(_some_plain, "125" if drawn.max() < DECADES**2 * drawn.min() else "1")
            ax.yaxis.set_major_formatter(some)
            ax.yaxis.set_minor_formatter(some)
            ax.tick_params(axis="y", which="minor", length=0)


def _some_plain(first: str, value: float, _: Any) -> str:
    """Numbers with such first digits on a logarithmic axis; powers of ten would need a typesetter."""
    return f"{value:g}" if f"{value:.0e}"[0] in first else ""


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
