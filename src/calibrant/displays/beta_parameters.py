"""Posterior of the parameters of GP-Beta along the predicted mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array
from ..adapters import as_distribution
from ._axes import COLOURS, add_legend, add_title, dress
from ._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

_NAMES = ("a", "b", "c")


@dataclass(kw_only=True, eq=False, repr=False)
class BetaParametersDisplay(Display):
    """Posterior mean and two standard deviations of a, b and c along the predicted mean.

    After Song et al. (2019), fig. 2, whose shade is one standard deviation of the latent functions. Dots are the
    inducing points. a = b = 1, c = 0 is the forecast as it is.

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

    _size = (5.6, 4.0)

    x: Array
    mean: Array
    std: Array
    inducing: tuple[Array, Array]
    lines_: list[Line2D] = field(init=False)
    bands_: list[PolyCollection] = field(init=False)
    dots_: list[Line2D] = field(init=False)

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
        """
        law = as_distribution(forecasts)
        posterior = calibrator.parameters(law)
        x = law.mean()
        order = np.argsort(x, kind="stable")
        inducing = (posterior.inducing[:, 0], posterior.inducing_mean)
        return cls(x=x[order], mean=posterior.mean[order], std=posterior.std[order], inducing=inducing, name=name)

    def _words(self) -> str:
        return f"a, b, c of {len(self.x)} forecasts, {len(self.inducing[0])} inducing points"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        self.lines_, self.bands_, self.dots_ = [], [], []
        for k, (label, colour) in enumerate(zip(_NAMES, COLOURS[:3], strict=True)):
            middle, reach = self.mean[:, k], 2 * self.std[:, k]
            self.bands_.append(ax.fill_between(self.x, middle - reach, middle + reach, color=colour, alpha=0.2, lw=0))
            style: dict[str, Any] = {"color": colour, "linewidth": 1.8, "label": label} | kwargs
            self.lines_ += ax.plot(self.x, middle, **style)
            self.dots_ += ax.plot(self.inducing[0], self.inducing[1][:, k], "o", color=colour, markersize=4)
        ax.set(xlabel="Predicted mean", ylabel="Parameter")
        add_legend(ax, "best")
        add_title(ax, title)
