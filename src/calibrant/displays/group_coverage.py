"""Coverage by group: who gets the intervals that were promised, and who does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array, count
from .._types import Numbers, Weights
from ..calibration.labels import labels_of, rows_by_label
from ._axes import COLOURS, add_title, dress
from ._base import Display
from ._shares import (
    Sides,
    coverage_label,
    draw_sides,
    forecasts_by_name,
    nominal_of,
    shares_inside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST = 40  # groups that can be read
PITCH = 0.25  # inches a group


@dataclass(kw_only=True, eq=False, repr=False)
class GroupCoverageDisplay(Display):
    r"""Share of the outcomes of each group in central intervals, with its 90 % interval, furthest off first.

    .. math:: \hat c_g = \frac1{n_g} \#\{t \in g : l_t \le y_t \le u_t\}

    Where the interval does not reach the dashed line, the group's coverage is not what was promised, more than chance
    explains; of many groups some are off by chance. Wilson's interval of a share stays within 0 and 1.

    Make it with :meth:`from_predictions`, or :meth:`from_measures` of numbers that are there already.

    Attributes
    ----------
    names : list of str
        The groups, furthest off first.
    sides : dict of arrays (m, 3)
        By name of the forecasts: value, low and high end of each group.
    goal : float
        The value of calibrated forecasts.
    label : str
        What the values are.
    of : int
        Number of groups there are; at most 40 are drawn unless told.
    colors : sequence of str
        One for each of the forecasts.
    dots_, goal_, ax_, figure_
        What :meth:`plot` drew; the dots by name of the forecasts.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import GroupCoverageDisplay
    >>> y, groups = [0.1, 2.0, 0.2, -0.3], ["a", "b", "a", "b"]
    >>> display = GroupCoverageDisplay.from_predictions(y, Normal([0.0] * 4, 1.0), groups=groups)
    >>> display.names, display.sides["forecasts"][:, 0]
    (['b', 'a'], array([0.5, 1. ]))
    """

    names: list[str]
    sides: Sides
    goal: float = 0.9
    label: str = coverage_label(0.9)
    of: int = 0
    colors: Sequence[str] = COLOURS
    dots_: dict[str, list[Line2D]] = field(init=False)
    goal_: Line2D = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers,
        dists: Any,
        *,
        groups: Any,
        coverage: float | tuple[float, float] = 0.9,
        most: int = MOST,
        name: str | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Compute the shares of forecasts.

        Parameters
        ----------
        y_true, sample_weight
            As in `metrics.coverage`.
        dists : Distribution, or what ``as_distribution`` accepts; or a dict of such
            n forecasts; several, by name, are drawn beside each other. Groups are sorted by the first.
        groups : array-like (n,)
            Labels.
        coverage : float, or pair of float
            Of the central intervals; or the levels of their ends, (0.05, 0.5) say.
        most : int
            Groups to keep, those furthest off.
        name : str, optional
            What to call a single forecast.
        """
        by_name = forecasts_by_name(dists, name)
        parts = rows_by_label(labels_of(groups, len(np.asarray(y_true))))
        sides = shares_inside(y_true, by_name, list(parts.values()), coverage, sample_weight)
        label = coverage_label(coverage)
        return cls.from_measures(
            list(map(str, parts)), sides, goal=nominal_of(coverage), label=label, most=most, name=name
        )

    @classmethod
    def from_measures(
        cls,
        names: Sequence[str],
        sides: Mapping[str, Array],
        *,
        goal: float = 0.9,
        label: str = coverage_label(0.9),
        most: int = MOST,
        name: str | None = None,
    ) -> Self:
        """Sort numbers that are there already: value, low and high end of each group, by name of the forecasts."""
        values = {side: np.asarray(ends, dtype=np.float64).reshape(-1, 3) for side, ends in sides.items()}
        if not values or any(len(ends) != len(names) for ends in values.values()):
            raise ValueError(f"`sides` must have value, low and high end of each of the {len(names)} groups.")
        off = np.abs(next(iter(values.values()))[:, 0] - goal)
        order = np.argsort(-np.nan_to_num(off, nan=-1.0), kind="stable")[: count(most, "most")]
        kept = {side: ends[order] for side, ends in values.items()}
        return cls(names=[names[k] for k in order], sides=kept, goal=goal, label=label, of=len(names), name=name)

    def _words(self) -> str:
        which = f"{len(self.names)} of {self.of} groups" if self.of > len(self.names) else f"{self.of} groups"
        return f"{which}, furthest off {self.names[0]}" if self.names else which

    def _figure_size(self) -> tuple[float, float]:
        return 5.0, 1.0 + PITCH * max(len(self.names), 2)

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        self.dots_, self.goal_ = draw_sides(ax, self.names, self.sides, self.goal, self.colors, kwargs)
        ax.set_xlabel(self.label)
        add_title(ax, title, loc="left", pad=24)
