"""Drift: evidence against forecasts in time, their coverage, and how wide outcomes are believed to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._checks import Array
from ..engines.sides import COVERAGE
from ..metrics.catalogue import _share
from ..monitor import DriftMonitor
from ..monitor.alarms import Alarm
from ..monitor.history import History
from ._axes import COLOURS, GREY, add_legend, add_title, dress, evenly, percent, percents, short_dates
from ._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

STRETCHES = 40  # of the coverage
TOGETHER = "all tests"
_BELIEFS = {"laws": "Believed width", "events": "Believed slope", "tops": "Believed odds ratio"}
_PANELS = 3


@dataclass(kw_only=True, eq=False, repr=False)
class DriftDisplay(Display):
    """What a monitor has seen: e-values with the line of alarm, coverage, and the believed width, in time.

    E-values are on a log scale, the largest of each block; where that of all tests passes the dashed line, 1 / level,
    an alarm is raised. Grey lines stand where the first fault began, as far as can be told. Coverage is that of 90 %
    intervals, with its own 90 % interval; of class probabilities it is how much more often the event came than was
    forecast. The believed width is the posterior mean of what intervals should be multiplied with, 1 if all is well;
    of two classes the slope of the log odds, of more the odds ratio of the most probable one.

    Make it with :meth:`from_monitor` or :meth:`from_predictions`.

    Attributes
    ----------
    x : array (n,)
        Ends of the blocks of rows: times, or numbers of rows.
    log_e : array (n, 1 + K)
        Log e-values of all tests together, and of those of all rows by kind.
    kinds : tuple of str
        What they look for.
    belief : array (n,)
        Believed width.
    places : array (m,)
        Ends of the stretches that coverage is measured in.
    coverage : array (m, 3)
        Its value, low and high end.
    level : float
        Of the monitor.
    alarms : list of Alarm
    task : {"laws", "events", "tops"}
    lines_, limit_, onsets_, axes_, ax_, figure_
        What :meth:`plot` drew: e-values, line of alarm, onsets, and the panels.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import DriftDisplay
    >>> y = np.random.default_rng(0).normal(0, np.repeat([1.0, 1.5], [1000, 200]))
    >>> DriftDisplay.from_predictions(y, Normal(np.zeros(1200), 1.0))
    <DriftDisplay: 1200 rows, intervals 1.7 times too narrow since row 1019>
    """

    _size = (7.2, 6.6)

    x: NDArray[Any]
    log_e: Array
    kinds: tuple[str, ...]
    belief: Array
    places: NDArray[Any]
    coverage: Array
    level: float
    rows: int
    alarms: list[Alarm]
    task: str = "laws"
    lines_: list[Line2D] = field(init=False)
    limit_: Line2D = field(init=False)
    onsets_: list[Line2D] = field(init=False)
    axes_: list[Axes] = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        dist: Any,
        *,
        groups: Any = None,
        time: Any = None,
        level: float = 0.05,
        name: str | None = None,
    ) -> Self:
        """Let a new monitor see forecasts and outcomes.

        Parameters
        ----------
        y_true : array-like (n,)
        dist : Distribution, what ``as_distribution`` accepts, or class probabilities
            n forecasts.
        groups, time
            As in `DriftMonitor.update`.
        level : float
            Of false alarms in the whole run.
        name : str, optional
            What to call it in the title.
        """
        return cls.from_monitor(DriftMonitor(level).update(dist, y_true, groups=groups, time=time), name=name)

    @classmethod
    def from_monitor(cls, monitor: DriftMonitor, *, name: str | None = None) -> Self:
        """Read the past of a monitor."""
        check_is_fitted(monitor)
        past = monitor.history_
        n, laws = len(past), monitor.task_ == "laws"
        x = _places(past, monitor.clock_)
        ends = evenly(n, STRETCHES + 1)[1:] if n > STRETCHES else np.arange(n)
        sums = np.diff(np.cumsum(past.sums[:n], axis=0)[ends], axis=0, prepend=0.0)
        return cls(
            x=x,
            log_e=past.peaks[:n],
            kinds=monitor.kinds_,
            belief=np.exp(past.belief[:n]),
            places=x[ends],
            coverage=np.array([_of_laws(each) if laws else _of_events(each) for each in sums]),
            level=monitor.level,
            rows=monitor.n_rows_,
            alarms=list(monitor.alarms_),
            task=monitor.task_,
            name=name,
        )

    def _words(self) -> str:
        told = self.alarms[0].words if self.alarms else "no drift"
        more = f", and {len(self.alarms) - 1} more" if len(self.alarms) > 1 else ""
        return f"{self.rows} rows, {told}{more}"

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw e-values, coverage and believed width below each other.

        Parameters
        ----------
        ax : matplotlib Axes, or sequence of three, optional
            Where to draw; one is for the e-values alone. A new figure unless told.
        name : str, optional
            What to call it instead of its own name.
        **kwargs
            For matplotlib's ``plot`` of the e-value of all tests.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            shares = {"height_ratios": (1.5, 1, 1)}
            _, ax = plt.subplots(
                _PANELS, 1, figsize=self._figure_size(), layout="constrained", sharex=True, gridspec_kw=shares
            )
        self.axes_ = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(self.axes_) not in (1, _PANELS):
            raise ValueError(f"`ax` must be one axes, or {_PANELS}; got {len(self.axes_)}.")
        return super().plot(self.axes_[0], name=name, **kwargs)

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        for panel in self.axes_:
            dress(panel)
        self._draw_evidence(ax, kwargs)
        if len(self.axes_) == _PANELS:
            self._draw_coverage(self.axes_[1])
            self._draw_belief(self.axes_[2])
        self.onsets_ = [self._onset(panel) for panel in self.axes_ if self.alarms]
        last = self.axes_[-1]
        last.set_xlabel("Rows" if self.x.dtype.kind == "i" else "Time")
        for panel in self.axes_:
            panel.tick_params(labelbottom=panel is last)
            if self.x.dtype.kind == "M":
                short_dates(panel.xaxis)
        add_title(ax, title, loc="left", pad=24)

    def _draw_evidence(self, ax: Axes, kwargs: dict[str, Any]) -> None:
        self.lines_ = []
        for k, label in enumerate((TOGETHER, *self.kinds)):
            first = {"linewidth": 2.2} | kwargs if k == 0 else {"linewidth": 1.0, "alpha": 0.8}
            style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "label": label} | first
            self.lines_ += ax.plot(self.x, self.log_e[:, k] / np.log(10), **style)
        limit = -np.log10(self.level)
        self.limit_ = ax.axhline(limit, color=GREY, linewidth=1.2, linestyle="--", label="alarm")
        lowest, highest = ax.get_ylim()
        ax.set_ylim(lowest, max(highest, 1.15 * limit))
        ax.yaxis.set_major_formatter(lambda value, _: f"1e{value:g}")
        ax.set_ylabel("E-value")
        place: dict[str, Any] = {"bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "ncols": 9}
        add_legend(ax, "lower left", **place, handlelength=1.2, columnspacing=1.0, borderpad=0)

    def _draw_coverage(self, ax: Axes) -> None:
        places = np.concatenate([self.x[:1], self.places])
        value, low, high = np.concatenate([self.coverage[:1], self.coverage]).T
        ax.fill_between(places, low, high, color=COLOURS[0], alpha=0.2, linewidth=0, step="pre")
        ax.step(places, value, where="pre", color=COLOURS[0], linewidth=1.6)
        laws = self.task == "laws"
        ax.axhline(COVERAGE if laws else 0.0, color=GREY, linewidth=1, linestyle="--")
        ax.set_ylabel(f"In {percent(COVERAGE)} intervals" if laws else "Surplus of events")
        percents(ax.yaxis)

    def _draw_belief(self, ax: Axes) -> None:
        ax.plot(self.x, self.belief, color=COLOURS[0], linewidth=1.6)
        ax.axhline(1.0, color=GREY, linewidth=1, linestyle="--")
        ax.set_ylabel(_BELIEFS[self.task])

    def _onset(self, ax: Axes) -> Line2D:
        """Where the fault of the first alarm began."""
        first = self.alarms[0]
        since: Any = first.since if first.since_time is None else first.since_time
        return ax.axvline(since, color=GREY, linewidth=1)


def _places(past: History, clock: str) -> NDArray[Any]:
    """Ends of blocks: times, or how many rows there were."""
    times = past.times[: len(past)]
    if clock == "rows":
        return np.asarray(np.cumsum(past.sums[: len(past), 0]).round().astype(np.int64))
    return times.astype("M8[us]") if clock == "dates" else times


def _of_laws(sums: Array) -> tuple[float, float, float]:
    """Share of outcomes in 90 % intervals, with its interval."""
    inside = _share(np.array([1 - (sums[3] + sums[4]) / sums[0]]), np.ones(1), float(sums[0]))
    return inside.value, inside.low, inside.high


def _of_events(sums: Array) -> tuple[float, float, float]:
    """How much more often the event came than was forecast, with its interval."""
    came, forecast = _share(np.array([sums[3] / sums[0]]), np.ones(1), float(sums[0])), float(sums[4] / sums[0])
    return came.value - forecast, came.low - forecast, came.high - forecast
