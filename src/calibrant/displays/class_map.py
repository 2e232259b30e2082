"""What calibration did to class probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .._types import Labels
from ..adapters.class_labels import as_labels
from ..adapters.class_scores import as_scores
from ..metrics.classes.forecasts import Probabilities
from ._axes import COLOURS, add_legend, add_title, dashed_diagonal, dress
from ._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

POINTS = 900  # dots at most
CLASSES = len(COLOURS)  # drawn at most, the most probable ones


@dataclass(kw_only=True, eq=False, repr=False)
class ClassMapDisplay(Display):
    r"""Calibrated against uncalibrated probability, one dot a row and class; on the diagonal nothing changes.

    Of two classes the second is drawn. A thin line: the calibrator looks at one class at a time. A cloud: the
    probabilities of the other classes count as well, as in vector scaling or the Dirichlet map.

    Make it with :meth:`from_forecasts`.

    Attributes
    ----------
    before, after : arrays (m, k)
        Probabilities of the drawn rows and classes.
    classes : array (k,)
        The classes drawn.
    name : str or None
        What is drawn.
    dots_, diagonal_, ax_, figure_
        What :meth:`plot` drew; one set of dots a class.

    Examples
    --------
    >>> from calibrant.displays.class_map import ClassMapDisplay
    >>> display = ClassMapDisplay.from_forecasts([0.1, 0.9], [0.2, 0.8], classes=["no", "yes"])
    >>> display.classes, display.before[:, 0], display.after[:, 0]
    (array(['yes'], dtype='<U3'), array([0.1, 0.9]), array([0.2, 0.8]))
    """

    _size = (4.6, 4.6)

    before: Array
    after: Array
    classes: NDArray[Any]
    dots_: list[Line2D] = field(init=False)
    diagonal_: Line2D = field(init=False)

    @classmethod
    def from_forecasts(
        cls, before: Probabilities, after: Probabilities, *, classes: Labels | None = None, name: str | None = None
    ) -> Self:
        """Take the probabilities of some rows and classes.

        Parameters
        ----------
        before, after : array-like (n,) or (n, K), or ClassScores
            Probabilities, and what a calibrator made of them.
        classes : array-like (K,), optional
            What the columns are called; their numbers unless told.
        name : str, optional
            What to call it in the title.
        """
        first, second = (as_scores(side).probabilities() for side in (before, after))
        if first.shape != second.shape:
            raise ValueError(f"`after` must have the shape of `before`; got {second.shape} for {first.shape}.")
        labels = np.arange(first.shape[1]) if classes is None else as_labels(classes, "classes")
        if len(labels) != first.shape[1]:
            raise ValueError(f"`classes` must name the {first.shape[1]} columns; got {len(labels)} names.")
        likely = np.sort(np.argsort(-first.mean(axis=0), kind="stable")[:CLASSES])
        drawn = np.array([1]) if first.shape[1] == 2 else likely
        most = min(len(first), POINTS // len(drawn))
        rows = np.linspace(0, len(first) - 1, most).round().astype(np.intp)
        return cls(before=first[rows][:, drawn], after=second[rows][:, drawn], classes=labels[drawn], name=name)

    def _words(self) -> str:
        return f"{len(self.before)} rows, {len(self.classes)} of the classes drawn"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        self.diagonal_ = dashed_diagonal(ax)
        self.dots_ = []
        for k, label in enumerate(self.classes.tolist()):
            text = f" {label}"  # labels that begin with an underscore stay out of the legend
            style: dict[str, Any] = {"color": COLOURS[k], "markersize": 2.5, "alpha": 0.7, "label": text} | kwargs
            self.dots_ += ax.plot(self.before[:, k], self.after[:, k], "o", **style)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        ax.set(xlabel="Uncalibrated probability", ylabel="Calibrated probability")
        add_legend(ax, "upper left")
        add_title(ax, title)
