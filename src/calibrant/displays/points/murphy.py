"""Murphy diagram: who forecasts better, whatever the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..._checks import Array
from ..._types import Numbers, Weights
from ...adapters.nested import law_method
from ...adapters.predicted import predicted_law
from ...metrics._inputs import average
from ...metrics.points.errors import Points, paired_points
from ...metrics.points.functionals import Functional, FunctionalName
from ...metrics.points.murphy import murphy_curve, threshold_grid
from .._axes import COLOURS, add_legend, dress
from .._base import ForecastDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_CURVE = "murphy curve"  # how the lines of this picture are known


@dataclass(kw_only=True, eq=False, repr=False)
class MurphyDisplay(ForecastDisplay):
    r"""Mean elementary scores of one forecaster or several against the threshold; lower is better.

    A curve that is nowhere above another belongs to the better forecaster by every proper score of the functional;
    where curves cross, the choice of the score decides. Ehm et al. (2016). The legend tells the squared error of means,
    the pinball loss of quantiles or the asymmetric squared error of expectiles.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`. Forecasters are given at once, in a dict, or each
    drawn with ``plot(ax=...)`` on the axes of the first.

    Attributes
    ----------
    thetas : array (m,)
        Thresholds.
    scores : array (F, m)
        Mean elementary scores of F forecasters.
    losses : array (F,)
        Mean losses.
    loss : str
        What the loss is called.
    names : tuple of str
        Names of the forecasters.
    name : str or None
        What is drawn.
    lines_, ax_, figure_
        What :meth:`plot` drew.

    Examples
    --------
    >>> from calibrant.displays import MurphyDisplay
    >>> MurphyDisplay.from_predictions([1.0, 2.0, 4.0], {"a": [1.5, 2.0, 3.0], "b": [2.0, 2.0, 2.0]})
    <MurphyDisplay: squared error a 0.4167, b 1.667>
    """

    _size = (5.2, 3.6)

    thetas: Array
    scores: Array
    losses: Array
    loss: str
    names: tuple[str, ...] = ("",)
    lines_: list[Line2D] = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers,
        y_pred: Points | Mapping[str, Points],
        *,
        functional: FunctionalName = "mean",
        level: float | None = None,
        thetas: Numbers = 200,
        name: str | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Compute the curves of predictions, all at the same thresholds.

        Parameters
        ----------
        y_true, functional, level, thetas, sample_weight
            As in `metrics.murphy_curve`.
        y_pred : array-like (n,) or Distribution, or a dict of these by name
            Point predictions; of laws the means, quantiles or expectiles.
        name : str, optional
            What to call the predictions in the legend.
        """
        given = {str(key): each for key, each in y_pred.items()} if isinstance(y_pred, Mapping) else {"": y_pred}
        if not given:
            raise ValueError("`y_pred` must have at least one model; the dict is empty.")
        kind = Functional.named(functional, level)
        rows = [paired_points(y_true, kind.of(each), sample_weight) for each in given.values()]
        at = threshold_grid(thetas, [part for y, x, _ in rows for part in (y, x)])
        same: dict[str, Any] = {"functional": functional, "level": level, "thetas": at}
        return cls(
            thetas=at,
            scores=np.stack([murphy_curve(y, x, sample_weight=w, **same).scores for y, x, w in rows]),
            losses=np.array([average(kind.losses(y, x), w) for y, x, w in rows]),
            loss="pinball loss" if kind.is_quantile else "squared error" if level is None else "expectile loss",
            names=tuple(given),
            name=name,
        )

    @classmethod
    def _predicted(cls, model: Any, X: Any) -> Any:
        return model.predict(X) if law_method(model) is None else predicted_law(model, X)

    def _words(self) -> str:
        shown = [f"{key} {loss:.4g}".strip() for key, loss in zip(self.names[:2], self.losses, strict=False)]
        more = f" and {len(self.names) - 2} more" if len(self.names) > 2 else ""
        return f"{self.loss} {', '.join(shown)}{more}"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        drawn = sum(line.get_gid() == _CURVE for line in ax.lines)
        if not drawn:
            dress(ax)
        self.lines_ = []
        for place, (key, scores, loss) in enumerate(zip(self.names, self.scores, self.losses, strict=True), drawn):
            who = " ".join(part for part in (title, key) if part)
            label = f"{who}: {self.loss} {loss:.4g}" if who else f"{self.loss} {loss:.4g}"
            style: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)], "linewidth": 1.8, "label": label}
            self.lines_ += ax.plot(self.thetas, scores, gid=_CURVE, **style | kwargs)
        ax.set(ylim=(0, None), xlabel="Threshold θ", ylabel="Mean elementary score")
        add_legend(ax, "best")
