"""Posterior of the parameters of GP-Beta along the predicted mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array
from ..adapters import as_distribution
from ._axes import COLOURS, axes_or_new, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_NAMES = ("a", "b", "c")


@dataclass(kw_only=True)
class BetaParametersDisplay:
    """Posterior mean and two standard deviations of a, b and c along the predicted mean (Song et al. 2019, fig. 2).

    Dots are the inducing points. a = b = 1, c = 0 is the forecast as it is.

    Make it with :meth:`from_calibrator`.

    Attributes
    ----------
    x : array (n,)
        Predicted means, increasing.
    mean, std : arrays (n, 3)
        Posterior of a, b, c.
    inducing : (array, array)
        Predicted means of the inducing points, (m,), and a, b, c there, (m, 3).
    name : str or None
        What is drawn.
    lines_, bands_, dots_, ax_, figure_
        What :meth:`plot` drew, one a parameter.
    """

    x: Array
    mean: Array
    std: Array
    inducing: tuple[Array, Array]
    name: str | None = None
    lines_: list[Line2D] = field(init=False, repr=False)
    bands_: list[PolyCollection] = field(init=False, repr=False)
    dots_: list[Line2D] = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_calibrator(cls, calibrator: Any, forecasts: Any, *, name: str | None = None) -> Self:
        """Compute the posterior of a fitted `GPBetaCalibrator` at some forecasts.

        Parameters
        ----------
        calibrator : fitted GPBetaCalibrator
        forecasts : Distribution, or what ``as_distribution`` accepts
            n forecasts.
        name : str, optional
            What to call it in the title.

        Returns
        -------
        BetaParametersDisplay
        """
        law = as_distribution(forecasts)
        posterior = calibrator.parameters(law)
        x = law.mean()
        order = np.argsort(x, kind="stable")
        inducing = (posterior.inducing[:, 0], posterior.inducing_mean)
        return cls(x=x[order], mean=posterior.mean[order], std=posterior.std[order], inducing=inducing, name=name)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw lines, bands and inducing points.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless told.
        name : str, optional
            What to call it instead of its own name.
        **kwargs
            For matplotlib's ``plot`` of the lines.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = axes_or_new(ax, (5.6, 4.0))
        ax, title = self.ax_, self.name if name is None else name
        dress(ax)
        self.lines_, self.bands_, self.dots_ = [], [], []
        for k, (label, colour) in enumerate(zip(_NAMES, COLOURS[:3], strict=True)):
            middle, reach = self.mean[:, k], 2 * self.std[:, k]
            self.bands_.append(ax.fill_between(self.x, middle - reach, middle + reach, color=colour, alpha=0.2, lw=0))
            style: dict[str, Any] = {"color": colour, "linewidth": 1.8, "label": label} | kwargs
            self.lines_ += ax.plot(self.x, middle, **style)
            self.dots_ += ax.plot(self.inducing[0], self.inducing[1][:, k], "o", color=colour, markersize=4)
        ax.set(xlabel="Predicted mean", ylabel="Parameter")
        ax.legend(loc="best", frameon=False, fontsize="small")
        if title:
            ax.set_title(title, fontsize="medium")
        return self
