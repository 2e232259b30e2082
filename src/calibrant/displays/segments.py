"""Where forecasts are most wrong: the coverage of each segment that was found, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._types import Weights
from ..engines.sides import COVERAGE, measured_share
from ..metrics.evaluation import LawEvaluation
from ..select.segments.find import evaluated, find_segments
from ._axes import COLOURS, add_title, dress
from ._base import Display
from ._shares import Sides, coverage_label, draw_sides, forecasts_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

PITCH = 0.5  # inches a segment
SURPLUS = "Came more often than forecast"


@dataclass(kw_only=True, eq=False, repr=False)
class SegmentDisplay(Display):
    """Share of outcomes in 90 % intervals in the segments where forecasts are wrong, with its 90 % interval.

    Of classes: how much more often the event came than was forecast (the second of two classes, else the most probable
    one). Segments were found on other rows than those that are drawn. Make it with :meth:`from_predictions`.

    Attributes
    ----------
    names : list of str
        The segments in words, the worst first.
    faults : list of str
        What is wrong with each.
    sides : dict of arrays (m, 3)
        By name of the forecasts: value, low and high end of each segment.
    goal : float
        The value of calibrated forecasts.
    label : str
        What the values are.
    colors : sequence of str
        One for each of the forecasts.
    dots_, goal_, ax_, figure_
        What :meth:`plot` drew; the dots by name of the forecasts.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import SegmentDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice(["north", "south"], (1000, 1))
    >>> y = rng.normal(0, np.where(X[:, 0] == "south", 2.0, 1.0))
    >>> SegmentDisplay.from_predictions(y, Normal(np.zeros(1000), 1.0), X)
    <SegmentDisplay: 1 segment, first x0 = south: 1.9 times too narrow>
    """

    names: list[str]
    faults: list[str]
    sides: Sides
    goal: float = COVERAGE
    label: str = coverage_label(COVERAGE)
    colors: Sequence[str] = COLOURS
    dots_: dict[str, list[Line2D]] = field(init=False)
    goal_: Line2D = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        dists: Any,
        X: Any,
        *,
        max_conditions: int = 2,
        name: str | None = None,
        sample_weight: Weights = None,
        random_state: Any = 0,
    ) -> Self:
        """Find the segments and measure them.

        Parameters
        ----------
        y_true, X, max_conditions, sample_weight, random_state
            As in `find_segments`.
        dists : Distribution, class scores, or what ``as_distribution`` accepts; or a dict of such
            n forecasts; several, by name, are drawn beside each other. Segments are those of the first.
        name : str, optional
            What to call a single forecast.
        """
        by_name = forecasts_by_name(dists, name)
        options = {"sample_weight": sample_weight, "random_state": random_state}
        found = find_segments(y_true, next(iter(by_name.values())), X, max_conditions, **options)
        parts, sides, laws = found.measured_in(X), {}, True
        for side, forecasts in by_name.items():
            evaluation, weights, used = evaluated(y_true, forecasts, sample_weight)
            rows = [(np.cumsum(used) - 1)[part] for part in parts]
            measured = [measured_share(evaluation[part], weights[part]) for part in rows]
            sides[side] = np.array([(each.value, each.low, each.high) for each in measured]).reshape(-1, 3)
            laws = isinstance(evaluation, LawEvaluation)
        names, faults = [each.name for each in found], [each.fault for each in found]
        goal, label = (COVERAGE, coverage_label(COVERAGE)) if laws else (0.0, SURPLUS)
        return cls(names=names, faults=faults, sides=sides, goal=goal, label=label, name=name)

    def _words(self) -> str:
        if not self.names:
            return "no segment"
        return f"{len(self.names)} segment{'s' * (len(self.names) > 1)}, first {self.names[0]}: {self.faults[0]}"

    def _figure_size(self) -> tuple[float, float]:
        return 6.0, 1.2 + PITCH * max(len(self.names), 2)

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        lines = [f"{name}\n{fault}" for name, fault in zip(self.names, self.faults, strict=True)]
        self.dots_, self.goal_ = draw_sides(ax, lines, self.sides, self.goal, self.colors, kwargs)
        ax.set_xlabel(self.label)
        add_title(ax, title, loc="left", pad=24)
