"""What every picture is: numbers that are computed first, a few words about them, and a way to draw them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..adapters.predicted import predicted_law
from ._axes import COLOURS, DIAGONAL, add_legend, axes_or_new, dress, has_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from .._checks import Array


@dataclass(kw_only=True, eq=False, repr=False)
class Display(ABC):
    """Numbers and their picture; the subclass says them in a few words and draws them.

    Attributes
    ----------
    name : str or None
        What is drawn.
    ax_, figure_
        Where :meth:`plot` drew it.
    """

    _size: ClassVar[tuple[float, float]] = (4.8, 4.8)  # of a new figure, in inches

    name: str | None = None
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw; curves on axes that hold some already are added to them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless told.
        name : str, optional
            What to call it instead of its own name.
        **kwargs
            For the function of matplotlib that draws the main thing.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = axes_or_new(ax, self._figure_size())
        self._draw(self.ax_, (self.name if name is None else name) or "", kwargs)
        return self

    def _figure_size(self) -> tuple[float, float]:
        return self._size

    @abstractmethod
    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        """Draw on the axes."""

    @abstractmethod
    def _words(self) -> str:
        """The main numbers in a few words, for the legend or to look at."""

    def _label(self, title: str) -> str:
        return f"{title}: {self._words()}" if title else self._words()

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<{type(self).__name__}{name}: {self._words()}>"


@dataclass(kw_only=True, eq=False, repr=False)
class ForecastDisplay(Display):
    """Forecasts beside their outcomes."""

    @classmethod
    @abstractmethod
    def from_predictions(cls, *args: Any, **kwargs: Any) -> Self:
        """Compute the numbers from outcomes and forecasts, in this order."""

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the numbers of what a fitted model predicts; options are those of ``from_predictions``."""
        return cls.from_predictions(y, cls._predicted(model, X), name=name or type(model).__name__, **options)

    @classmethod
    def _predicted(cls, model: Any, X: Any) -> Any:
        return predicted_law(model, X)


@dataclass(kw_only=True, eq=False, repr=False)
class CurveDisplay(ForecastDisplay):
    """A curve that follows the diagonal if all is well; several may share axes, and their legend says the numbers."""

    _legend: ClassVar[str] = "upper left"

    line_: Line2D = field(init=False)
    diagonal_: Line2D | None = field(init=False)

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        self.diagonal_ = None
        if not has_label(ax, DIAGONAL):
            dress(ax)
            self.diagonal_ = self._draw_diagonal(ax)
        self._draw_curve(ax, title, kwargs)
        add_legend(ax, self._legend)

    @abstractmethod
    def _draw_diagonal(self, ax: Axes) -> Line2D:
        """The diagonal and what else all curves share."""

    @abstractmethod
    def _draw_curve(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        """The curve and what belongs to it."""

    def _draw_line(self, x: Array, y: Array, title: str, kwargs: dict[str, Any], drawn: int | None = None) -> None:
        """The curve itself, in the next colour after so many that are drawn."""
        before = len(self.ax_.lines) - 1 if drawn is None else drawn
        colour = COLOURS[before % len(COLOURS)]
        style: dict[str, Any] = {"color": colour, "linewidth": 1.8, "label": self._label(title)} | kwargs
        (self.line_,) = self.ax_.plot(x, y, **style)
