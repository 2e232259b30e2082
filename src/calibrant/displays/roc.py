"""ROC curve with its convex hull and the chosen threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, column, column_names, sample_weights, to_array
from .._types import Labels, Numbers, Weights
from ..adapters.class_labels import as_labels, class_numbers, encode, labels_of_columns
from ..links.groups import Groups
from ..metrics.classes.auc import area
from ..metrics.classes.forecasts import known_labels
from ._axes import DIAGONAL, GREY, evenly
from ._base import CurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

CORNERS = 2048  # drawn at most; more could not be seen


@dataclass(kw_only=True, eq=False, repr=False)
class ROCDisplay(CurveDisplay):
    r"""Share of one class found against share of the other taken for it, for every threshold on the score.

    The convex hull is the curve of the isotonically calibrated scores: its segments are the blocks of pooled adjacent
    violators, and their slopes the likelihood ratios (Flach and Matsubara 2007; Bella et al. 2010). What lies between
    curve and hull is concavities that calibration repairs.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`. Call ``plot(ax=...)`` of a second display on the
    axes of the first to compare.

    Attributes
    ----------
    false_positive, true_positive : arrays (m,)
        Corners of the curve from (0, 0) to (1, 1).
    hull_false_positive, hull_true_positive : arrays (k,)
        Corners of the hull.
    auc, hull_auc : float
        Areas below them.
    threshold : float or None
        The chosen threshold; scores above it are predicted positive.
    chosen : tuple of two floats, or None
        False and true positive rate there.
    name : str or None
        What is drawn.
    line_, hull_, point_, diagonal_, ax_, figure_
        What :meth:`plot` drew; ``point_`` is None without a threshold, ``diagonal_`` where the axes had it already.

    Examples
    --------
    >>> from calibrant.displays import ROCDisplay
    >>> display = ROCDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9], threshold=0.5)
    >>> display.auc, display.hull_auc, display.chosen
    (0.75, 0.875, (0.5, 0.5))
    """

    _legend = "lower right"

    false_positive: Array
    true_positive: Array
    hull_false_positive: Array
    hull_true_positive: Array
    auc: float
    hull_auc: float
    threshold: float | None = None
    chosen: tuple[float, float] | None = None
    hull_: Line2D = field(init=False)
    point_: Line2D | None = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Labels,
        y_score: Numbers,
        *,
        threshold: float | None = None,
        label: Any = None,
        name: str | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Compute the curve of scores.

        Parameters
        ----------
        y_true : array-like (n,)
            Labels of any type.
        y_score : array-like (n,) or (n, 2)
            Scores of any kind that grow with how likely the class is.
        threshold : float, optional
            Score above which a row is predicted to be of the class: `DecisionCalibrator`'s ``threshold_``, say.
        label : optional
            The class that the scores are for; the second of two in sorted order unless told.
        name : str, optional
            What to call the scores in the legend.
        sample_weight : array-like (n,), optional
            Frequencies: weight 2 is the row twice.
        """
        groups = _groups(y_true, y_score, label, sample_weight)
        false, true = _rates(groups.mass - groups.hits, groups.hits)
        hull = groups.pooled()
        hull_false, hull_true = _rates(hull.mass - hull.hits, hull.hits)
        above = None if threshold is None else int(np.sum(groups.x > float(threshold)))
        kept = evenly(len(false), CORNERS)
        return cls(
            false_positive=false[kept],
            true_positive=true[kept],
            hull_false_positive=hull_false,
            hull_true_positive=hull_true,
            auc=area(groups),
            hull_auc=area(hull),
            threshold=threshold,
            chosen=None if above is None else (float(false[above]), float(true[above])),
            name=name,
        )

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the curve of a fitted classifier of two classes; options are those of :meth:`from_predictions`."""
        scores = cls._predicted(model, X)  # says what is wrong with models that have no classes
        options = {"label": model.classes_[1], "name": name or type(model).__name__} | options
        return cls.from_predictions(y, scores, **options)

    @classmethod
    def _predicted(cls, model: Any, X: Any) -> Any:
        if hasattr(model, "predict_proba"):
            scores = np.asarray(model.predict_proba(X))
            if scores.shape[1] != 2:
                raise ValueError(f"`model` must tell two classes apart; it has {scores.shape[1]}.")
            scores = scores[:, 1]
        elif hasattr(model, "decision_function"):
            scores = model.decision_function(X)
        else:
            raise TypeError(f"`model` must have predict_proba or decision_function; {type(model).__name__} does not.")
        return scores

    def _words(self) -> str:
        return f"area {self.auc:.3f}, hull {self.hull_auc:.3f}"

    def _draw_diagonal(self, ax: Axes) -> Line2D:
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        ax.set(xlabel="False positive rate", ylabel="True positive rate")
        return ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, label=DIAGONAL)[0]

    def _draw_curve(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        drawn = sum(str(line.get_label()).startswith("_hull") for line in ax.lines)
        self._draw_line(self.false_positive, self.true_positive, title, kwargs, drawn)
        style: dict[str, Any] = {"color": self.line_.get_color(), "linewidth": 1, "linestyle": "--"}
        (self.hull_,) = ax.plot(self.hull_false_positive, self.hull_true_positive, label=f"_hull {drawn}", **style)
        self.point_ = None if self.chosen is None else self._draw_point(ax, *self.chosen)

    def _draw_point(self, ax: Axes, false: float, true: float) -> Line2D:
        style: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 8, "markeredgecolor": "black"}
        label = f"threshold {self.threshold:.3g}: {true:.2f} found, {false:.2f} taken for it"
        return ax.plot([false], [true], label=label, zorder=3, color=self.line_.get_color(), **style)[0]


def _groups(y_true: Any, y_score: Any, label: Any, sample_weight: Any) -> Groups:
    """Distinct scores with their rows and the rows of the class."""
    labels = known_labels(y_true, "y_true")
    scores = to_array(y_score, "y_score")
    scores = column(scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores, "y_score", len(labels))
    weights = sample_weights(sample_weight, len(labels))
    weights = np.ones(len(labels)) if weights is None else weights
    events = _events(labels, label, labels_of_columns(column_names(y_score)))
    used = weights > 0
    if not (events[used].any() and (~events[used]).any()):
        raise ValueError("`y_true` must have rows of the class and rows of others; all are of one kind.")
    return Groups.of(scores[used], events[used], weights[used])


def _events(labels: NDArray[Any], label: Any, own: Any) -> NDArray[np.bool_]:
    if label is None:
        own = own if own is not None and len(own) == 2 else None
        return np.asarray(class_numbers(labels, 2, None, own, y="y_true", scores="y_score")[1] == 1)
    known = np.unique(labels)
    return np.asarray(encode(labels, known) == encode(as_labels([label], "label"), known, "label")[0])


def _rates(false: Array, true: Array) -> tuple[Array, Array]:
    """Shares with a score above each threshold, from the highest threshold down."""
    return tuple(np.append(0.0, np.cumsum(part[::-1]) / part.sum()) for part in (false, true))  # type: ignore[return-value]
