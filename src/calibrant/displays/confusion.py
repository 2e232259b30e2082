"""Confusion tables before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .._types import Labels, Weights
from ..adapters.class_labels import as_labels
from ..metrics.classes.labels import confusion
from ._axes import add_title, percent
from ._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

MOST_TEXTS = 15  # classes; the cells of larger tables are too small for numbers


@dataclass(kw_only=True, eq=False, repr=False)
class ConfusionDisplay(Display):
    r"""Number of rows by real class (line) and predicted class (column), before and after.

    Colours are the shares within the real class; cells show count and share. Beside each class stands its proportion
    among the real and the predicted labels: decisions are calibrated (type CD of Bella et al. 2010) where these agree.

    Make it with :meth:`from_predictions`, or :meth:`from_report` of what a `DecisionCalibrator` has learned.

    Attributes
    ----------
    classes : array (K,)
    tables : list of arrays (K, K)
        Counts, one table or two.
    names : list of str
    images_, texts_, axes_, figure_
        What :meth:`plot` drew, a list entry per table; ``texts_`` are arrays (K, K), empty for many classes.

    Examples
    --------
    >>> from calibrant.displays import ConfusionDisplay
    >>> y = ["a", "a", "b", "b"]
    >>> display = ConfusionDisplay.from_predictions(y, ["a", "a", "a", "b"], ["a", "a", "b", "b"])
    >>> display.tables[0], display.tables[1]
    (array([[2., 0.],
           [1., 1.]]), array([[2., 0.],
           [0., 2.]]))
    """

    classes: NDArray[Any]
    tables: list[Array]
    names: list[str]
    images_: list[AxesImage] = field(init=False)
    texts_: list[list[list[Text]]] = field(init=False)
    axes_: list[Axes] = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Labels,
        before: Labels,
        after: Labels | None = None,
        *,
        classes: Labels | None = None,
        names: Sequence[str] = ("before", "after"),
        sample_weight: Weights = None,
    ) -> Self:
        """Count pairs of real and predicted labels.

        Parameters
        ----------
        y_true : array-like (n,)
            Real labels of any type.
        before, after : array-like (n,)
            Predicted labels; one table only if there is no ``after``.
        classes : array-like (K,), optional
            Order of lines and columns; all labels that occur, sorted, unless told.
        names : sequence of str
            What to call the tables.
        sample_weight : array-like (n,), optional
            Frequencies: weight 2 is the row twice.
        """
        predicted = [before] if after is None else [before, after]
        if classes is None:
            classes = np.unique(np.concatenate([as_labels(labels) for labels in (y_true, *predicted)]))
        weights: dict[str, Any] = {"classes": classes, "sample_weight": sample_weight}
        tables = [confusion(y_true, labels, **weights) for labels in predicted]
        return cls(classes=as_labels(classes, "classes"), tables=tables, names=list(names)[: len(tables)])

    @classmethod
    def from_report(cls, report: Any) -> Self:
        """The tables of a `DecisionReport`."""
        tables = [report.before.counts, report.after.counts]
        return cls(classes=report.before.classes, tables=tables, names=["before", "after"])

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the tables side by side.

        Parameters
        ----------
        ax : matplotlib Axes, or sequence with one for each table, optional
            Where to draw; a new figure unless told.
        name : str, optional
            What to call them, beside their own names.
        **kwargs
            For matplotlib's ``imshow``.
        """
        self.axes_ = self._axes(ax)
        return super().plot(self.axes_[0], name=name, **kwargs)

    def _words(self) -> str:
        shares = (np.trace(table) / table.sum() for table in self.tables)
        pairs = zip(self.names, shares, strict=True)
        return f"{len(self.classes)} classes, " + ", ".join(f"{name}: accuracy {share:.3f}" for name, share in pairs)

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        self.images_, self.texts_ = [], []
        for place, table, name in zip(self.axes_, self.tables, self.names, strict=True):
            caption = f"{title}, {name}" if title else name
            self._draw_table(place, table, caption, {"cmap": "Blues", "vmin": 0, "vmax": 1} | kwargs)

    def _axes(self, ax: Any) -> list[Axes]:
        tables = len(self.tables)
        if ax is None:
            import matplotlib.pyplot as plt

            size = max(3.4, 0.5 * len(self.classes))
            _, ax = plt.subplots(1, tables, figsize=(1.15 * size * tables, size), layout="constrained")
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(axes) != tables:
            raise ValueError(f"`ax` must be one axes for each of the {tables} tables; got {len(axes)}.")
        return axes

    def _draw_table(self, ax: Axes, table: Array, name: str, style: dict[str, Any]) -> None:
        lines, total = table.sum(axis=1, keepdims=True), table.sum()
        shares = np.divide(table, lines, out=np.zeros_like(table), where=lines > 0)
        self.images_.append(ax.imshow(shares, **style))
        accuracy = f"accuracy {np.trace(table) / total:.3f}, macro {np.diag(shares)[lines[:, 0] > 0].mean():.3f}"
        add_title(ax, f"{name}: {accuracy}")
        labels = [str(label) for label in self.classes.tolist()]
        ticks = np.arange(len(labels))
        for side, part in (("x", table.sum(axis=0) / total), ("y", lines[:, 0] / total)):
            texts = [f"{label}\n{percent(round(share, 3))}" for label, share in zip(labels, part, strict=True)]
            ax.set(**{f"{side}ticks": ticks, f"{side}ticklabels": texts})
        ax.set(xlabel="Predicted class", ylabel="Real class")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        self.texts_.append(_write(ax, table, shares) if len(labels) <= MOST_TEXTS else [])


def _write(ax: Axes, table: Array, shares: Array) -> list[list[Text]]:
    """Count and share in every cell, light on dark."""
    return [
        [
            ax.text(
                k,
                j,
                f"{table[j, k]:g}\n{percent(round(shares[j, k], 2))}",
                color="white" if shares[j, k] > 0.6 else "black",
                ha="center",
                va="center",
                fontsize="small",
            )
            for k in range(len(table))
        ]
        for j in range(len(table))
    ]
