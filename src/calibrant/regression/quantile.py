"""Quantile recalibration: the cure for intervals that are too narrow, too broad or lopsided on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._checks import Array, choices
from ..calibration import SummarisedCalibrator, normal_scores
from ..calibration.threads import one_thread
from ..distributions import Distribution, Recalibrated
from ..maps import Map, UnitTails
from ..maps.spline_fit import fit_splines
from ..summaries import ScoreSummary, Summary
from ..summaries.scores import NORMAL
from .map_choice import RANKS, check_map, fit_map, has_steps, kept_state

ATOMS = ("spread", "random")


class QuantileCalibrator(SummarisedCalibrator):
    r"""Learn :math:`R(p) \approx P(F_X(Y) \le p)` and forecast :math:`R \circ F`.

    Kuleshov et al. (2018), algorithm 1; Psaros, eq. 6-8.

    All work is done on normal scores :math:`z = \Phi^{-1}(F(y))`, which do not saturate: fitting is one sort or one
    pass, and the forecasts may be too narrow by any factor.

    How many rows do I need? The default holds back when it knows little: on forecasts that are right already it costs
    about 0.01 nats at 30 rows and 0.001 at 200 (`experiments.harmless`), and 200 rows mend most of a wrong width, a
    bias or a skew. For the tails, count the rows beyond them: a 99 % interval needs a few hundred rows, a 99.9 % one
    a few thousand.

    A summary is enough (`summarise`, `fit_summary`, `partial_fit`), unless ``atoms="random"``: up to 16 384 different
    scores, and with "spline" and "kde" for any number of them, the fit is that to the rows but for rounding; the other
    maps see about ten thousand cells of scores, and differ by less than 0.0005 in probability.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0017, 0.0006, 0.0001 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    map : {"spline", "ecdf", "isotonic", "step", "beta", "kde"}, regressor or callable, default "spline"
        - "spline": smooth, chosen by evidence between affine and flexible; improves calibration and does not hurt the
          density.
        - "ecdf": bent line through all T ranks in normal scores, through some 30 000 of more than a million; best
          calibrated, noisy density.
        - "isotonic": the papers' piecewise-linear map on [0, 1]; its density costs about 0.4 nats however much data
          there is. With ``ranks="T"`` its ranks are the papers' too.
        - "step": the exact step function of the ranks; the result is a discrete law. With ``ranks="T+1"`` what is
          left lies at infinity: the conformal form, whose quantiles hold their level at any number of rows.
        - "beta": three parameters, for bias, spread and skew.
        - "kde": kernel-smoothed ranks.
        - a regressor with fit and predict: a copy learns :math:`\hat P(p_t)` from :math:`p_t` and is kept as a table
          of about 2 000 knots; what falls a little is made to rise, what falls by more than 0.05 is refused.
        - a function p -> R(p), or a `Map` of normal scores, taken as it is: nothing is learned.

        In a file, a regressor or function is its table, and ``map`` is "table": it forecasts as before, and cannot
        learn again.
    ranks : {"T+1", "T"}, optional
        What the ranks are divided by, for maps that go through them. "T": :math:`\hat P(p) = \#\{t: F_t(y_t) \le
        p\}/T`, ties together (Kuleshov et al. 2018, eq. 6), the default of "step" and of regressors. "T+1":
        mid-ranks over T + 1, the default of "ecdf", which has no other, and of "isotonic"; of "step" the conformal
        ranks :math:`\#\{t: F_t(y_t) \le p\}/(T+1)`.
    atoms : {"spread", "random"}, default "spread"
        What an outcome on an atom of its forecast (counts, ties) says about its rank: its mass spread evenly over the
        jump, or one random point of it.
    random_state : int, Generator or None
        For ``atoms="random"``.

    Attributes
    ----------
    map_ : Map
        The fitted map of normal scores.
    span_ : tuple of float
        Smallest and largest score seen.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> mu = rng.normal(size=2000)
    >>> y = mu + rng.normal(0.0, 2.0, 2000)               # the forecaster believes in a sigma of 1
    >>> cal = QuantileCalibrator().fit(Normal(mu, 1.0), y)
    >>> cal.transform(Normal([10.0], [1.0])).std().round(1)
    array([2.])

    Differs from the paper in: the default map, and the default ranks of "isotonic"; R(0) = 0 and R(1) = 1, which it
    leaves open; the last of T ranks of "isotonic", 1 less :math:`5 \cdot 10^{-13}`; outcomes on atoms, which it does
    not speak of.
    """

    _later: ClassVar[dict[str, Any]] = {"ranks": None}  # parameters that files of earlier versions lack

    def __init__(
        self, map: Any = "spline", *, ranks: str | None = None, atoms: str = "spread", random_state: Any = None
    ) -> None:
        self.map = map
        self.ranks = ranks
        self.atoms = atoms
        self.random_state = random_state

    @property
    def summary_is_enough(self) -> bool:
        """Whether no outcome is to be ranked at random."""
        return self.atoms != "random"

    @property
    def summary_can_be_calibrated(self) -> bool:
        """Whether calibrated forecasts have no atoms of the map's own."""
        return self.summary_is_enough and not has_steps(self.map)

    @property
    def summary_is_exact(self) -> bool:
        """Whether the map is a spline, which is fitted to cells of scores."""
        return self.summary_is_enough and isinstance(self.map, str) and self.map == "spline"

    def calibrated_summary(self, summary: ScoreSummary) -> ScoreSummary:
        """The summary that the same rows have once they are calibrated."""
        return summary.mapped(self.map_)

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        self._check()
        z, w = normal_scores(forecasts, y, weights, atoms=self.atoms, random_state=self.random_state)
        span = (float(z.min()), float(z.max()))
        self.fit_scores(z, w, span, n_rows=len(y), heavy_tails=forecasts.has_heavy_tails)

    def _check(self) -> None:
        if self.ranks is not None or self.atoms not in ATOMS:
            choices(atoms=(self.atoms, ATOMS), ranks=(self.ranks, (None, *RANKS)))
        check_map(self.map, self.ranks)

    def _summarise(self, forecasts: Distribution, y: Array, weights: Array | None, finest: int | None) -> ScoreSummary:
        self._check()
        z, w = normal_scores(forecasts, y, weights)
        return ScoreSummary.of_scores(z, w, finest=finest, n_rows=len(y), heavy_tails=forecasts.has_heavy_tails)

    def _summarise_each(
        self, forecasts: Distribution, y: Array, weights: Array | None, members: Mapping[Any, NDArray[np.intp]]
    ) -> dict[Any, Summary]:
        if forecasts.has_atoms or forecasts.has_heavy_tails:  # which some of the rows may not have
            return super()._summarise_each(forecasts, y, weights, members)
        self._check()
        z, w = normal_scores(forecasts, y, weights)
        parts = ((name, z[mine], None if w is None else w[mine]) for name, mine in members.items())
        return {name: ScoreSummary.of_scores(scores, mass) for name, scores, mass in parts}

    def _fit_summary(self, summary: ScoreSummary) -> None:
        points, mass = summary.points(NORMAL)
        self.fit_scores(points, mass, summary.span, n_rows=summary.n_rows, heavy_tails=summary.heavy_tails)

    def fit_again(self, summaries: Sequence[Any]) -> list[Self]:
        """Copies of this calibrator, each fitted to a summary of forecasts that one like it has calibrated before.

        Splines are fitted all at once, and do not insure against outliers that the first one insures against.
        """
        if not self.summary_is_exact:
            return super().fit_again(summaries)
        self._require_enough()
        self._check()
        made = [clone(self) for _ in summaries]
        for heavy_tails in (False, True):
            some = [pair for pair in zip(made, summaries, strict=True) if pair[1].heavy_tails == heavy_tails]
            with one_thread():
                maps = fit_splines([part.points(NORMAL) for _, part in some], heavy_tails=heavy_tails, again=True)
            for (one, part), fitted in zip(some, maps, strict=True):
                one._learn(fitted, part.span, n_rows=part.n_rows, heavy_tails=heavy_tails)
                one.summary_ = part
        return made

    def fit_scores(
        self,
        z: Array,
        weights: Array | None,
        span: tuple[float, float],
        *,
        n_rows: int,
        heavy_tails: bool = False,
    ) -> Self:
        """Learn from normal scores that somebody else has worked out, and from the smallest and largest of them."""
        self._check()
        fitted = fit_map(self.map, z, weights, ranks=self.ranks, heavy_tails=heavy_tails)
        return self._learn(fitted, span, n_rows=n_rows, heavy_tails=heavy_tails)

    def _learn(self, fitted: Map, span: tuple[float, float], *, n_rows: int, heavy_tails: bool) -> Self:
        self.map_, self.span_, self.heavy_tails_, self.n_rows_ = fitted, span, heavy_tails, n_rows
        return self

    def _transform(self, forecasts: Distribution) -> Distribution:
        fitted = self.map_
        if forecasts.has_heavy_tails and not self.heavy_tails_ and not fitted.has_steps:
            fitted = UnitTails(fitted, *self.span_)
        return Recalibrated(forecasts, fitted)

    def _kept(self) -> dict[str, Any]:
        return kept_state(self, "map_")
