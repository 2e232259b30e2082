"""Empirical density calibration: one binary calibrator per segment of the outcome."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, ndtr

from .._checks import Array, count, finite, one_of, to_array
from ..calibration import SummarisedCalibrator
from ..calibration.pit_watch import ConditionalCalibrator
from ..distributions import Distribution
from ..distributions.flattened import Flattened
from ..distributions.segmented import Segmented
from ..links import BetaLink, BinningLink, IsotonicLink, Link, LogisticLink, Trials
from ..links.trials import bin_sums, trials_of
from ..maps.probability_rows import ProbabilityRows, log_segment_masses
from ..numerics.blocks import BLOCK, row_blocks
from ..summaries import ScoreSummary, SegmentSummary, Summary
from .quantile import QuantileCalibrator

_TINY = 1e-290
_FEWEST = 10  # rows up to which segments are left alone
PARAMETRIC: dict[str, Callable[..., Link]] = {"beta": BetaLink.fit, "logistic": LogisticLink.fit}
COUNTING: dict[str, Callable[..., Link]] = {"isotonic": IsotonicLink.fit, "binning": BinningLink.fit}


class DensityCalibrator(SummarisedCalibrator, ConditionalCalibrator):
    r"""Cut the outcome into segments and calibrate the probability of each: e-beta, e-logistic.

    .. math:: p_i = G(t_i) - G(t_{i-1}), \qquad q_i = c_i(p_i) \Big/ \sum_j c_j(p_j)

    Song et al. (2018), section 4. G is the forecast after a quantile map common to all rows (`QuantileCalibrator`);
    :math:`c_i` is fitted to the pairs of :math:`p_i` and :math:`1\{t_{i-1} < y \le t_i\}`, pulled towards
    :math:`c_i(p) = p`, so that segments without events stay as they are. The result knows where outcomes lie that a
    forecast's shape cannot: two regimes, a gap, a floor.

    How many rows do I need? With 10 or fewer only the quantile map is used. The pull is as strong as the evidence
    says.

    A summary is enough after a first pass, if ``thresholds`` are numbers and ``polish`` is False: give `begin` a
    summary of all rows by `QuantileCalibrator`; then `summarise`, `fit_summary` and `partial_fit` take one more pass.
    The result is that of `fit` but for rounding, without ``pit_distances_``, which takes rows.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0031, 0.0018, 0.0004 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    binary : {"beta", "logistic", "isotonic", "binning"}, default "beta"
        The binary calibrators. "logistic" cannot leave a probability as it is and costs about 0.15 nats where nothing
        is wrong, at 100 to 1 000 rows.
    n_thresholds : int, default 32
        Number of finite thresholds.
    within : {"base", "uniform"}, default "base"
        The shape within finite segments: G rescaled, or uniform as in the paper. The two end segments take G's tails.
    thresholds : {"even", "quantile"} or array-like, default "even"
        Equally spaced over the range of the outcomes and half of it more on both sides (the paper), at quantiles of
        the outcomes, or given.
    penalty : "evidence" or float, default "evidence"
        Strength of the pull towards :math:`c_i(p) = p`: the one under which the outcomes are most probable, or a
        number: of squared deviations of parameters ("beta", "logistic"), or of events in each bin or block.
    polish : bool, default False
        Whether "beta" and "logistic" end with Newton steps on all rows instead of 1 024 bins per segment.

    Attributes
    ----------
    thresholds_ : ndarray (K,)
    quantile_ : QuantileCalibrator
        The map common to all rows.
    link_ : Link or None
        The K + 1 binary calibrators; None where too few rows were seen.
    pit_distances_ : tuple of float
        Largest distance of the PIT values of unseen outcomes from uniform, before and after (two halves, each
        calibrated by the other); a warning tells if it grew by more than chance explains. NaN with fewer than 40 rows.

    Examples
    --------
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice([-2.0, 2.0], 2000) + 0.3 * rng.standard_normal(2000)
    >>> cal = DensityCalibrator().fit(Normal(np.zeros(2000), 2.0), y)
    >>> law = cal.transform(Normal([0.0], 2.0))
    >>> law.pdf(np.array([[-2.0, 0.0, 2.0]])).round(1)
    array([[0.6, 0. , 0.6]])
    """

    _ascending: ClassVar[tuple[str, ...]] = ("thresholds_",)

    def __init__(
        self,
        binary: str = "beta",
        n_thresholds: int = 32,
        within: str = "base",
        *,
        thresholds: Any = "even",
        penalty: float | str = "evidence",
        polish: bool = False,
    ) -> None:
        self.binary = binary
        self.n_thresholds = n_thresholds
        self.within = within
        self.thresholds = thresholds
        self.penalty = penalty
        self.polish = polish

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        self._check(forecasts)
        w = np.ones(len(y)) if weights is None else weights
        self.quantile_ = QuantileCalibrator().fit(forecasts, y, sample_weight=weights)
        law = self.quantile_.transform(forecasts)
        self.thresholds_ = self._thresholds(law, y, w)
        self.link_ = None
        if w.sum() <= _FEWEST:
            warnings.warn(
                f"{len(y)} rows are too few to calibrate segments; only the quantile map is used.", stacklevel=3
            )
            return
        blocks = _Blocks(law, y, w, self.thresholds_)
        self.link_ = self._fit_link(bin_sums(blocks, len(self.thresholds_) + 1), blocks)

    def _check(self, forecasts: Distribution) -> None:
        one_of(self.binary, "binary", [*PARAMETRIC, *COUNTING])
        one_of(self.within, "within", ["base", "uniform"])
        count(self.n_thresholds, "n_thresholds", least=2)
        if self.penalty != "evidence" and not (isinstance(self.penalty, (int, float)) and self.penalty > 0):
            raise ValueError(f"`penalty` must be 'evidence' or a positive number; got {self.penalty!r}.")
        if self.polish and self.binary in COUNTING:
            raise ValueError(f"`polish` must be False for binary={self.binary!r}: there is no Newton step to polish.")
        self._refuse_atoms(forecasts)

    def _refuse_atoms(self, forecasts: Distribution) -> None:
        if self.within == "uniform" and forecasts.has_atoms:
            raise ValueError("`within` must be 'base' for forecasts with atoms (counts, ties); got 'uniform'.")

    def _thresholds(self, law: Distribution, y: Array, w: Array) -> Array:
        if not isinstance(self.thresholds, str):
            return given_thresholds(self.thresholds)
        one_of(self.thresholds, "thresholds", ["even", "quantile"])
        if self.thresholds == "quantile":
            return quantile_thresholds(y, w, self.n_thresholds)
        low, high = float(y.min()), float(y.max())
        if not high > low:
            low, high = low - (reach := float(np.median(np.diff(law.interval(0.5))))), high + reach
        return np.linspace(low - 0.5 * (high - low), high + 0.5 * (high - low), self.n_thresholds)

    def _fit_link(self, sums: Array, blocks: _Blocks | None = None) -> Link:
        trials = trials_of(sums, apart=self.binary in PARAMETRIC)
        if self.binary in COUNTING:
            return COUNTING[self.binary](trials, penalty=self.penalty)
        exact = _Exact(blocks) if self.polish and blocks is not None else None
        return PARAMETRIC[self.binary](trials, penalty=self.penalty, exact=exact)

    def begin(self, summary: ScoreSummary) -> Self:
        """Take the common map from a first pass over the rows, so that a second one can be summarised.

        Parameters
        ----------
        summary : Summary
            Of all rows, by `QuantileCalibrator`.
        """
        if self.polish or isinstance(self.thresholds, str):
            raise ValueError("`polish` must be False and `thresholds` must be numbers for a fit by summaries.")
        self._forget()
        self.quantile_ = QuantileCalibrator().fit_summary(summary)
        self.thresholds_ = given_thresholds(self.thresholds)
        return self

    @property
    def summary_is_enough(self) -> bool:
        """Whether the first pass is over: after `begin`."""
        return not self.polish and self._first_pass() is not None

    def _first_pass(self) -> tuple[QuantileCalibrator, Array] | None:
        known = vars(self)
        if "summary_" in known:
            return known["summary_"].quantile, known["summary_"].thresholds
        return (known["quantile_"], known["thresholds_"]) if "quantile_" in known else None

    @property
    def _learns_from(self) -> type[Summary]:
        return SegmentSummary

    def _require_enough(self) -> None:
        """Summaries have all that they need; to make one takes `begin`."""

    def _summarise(
        self, forecasts: Distribution, y: Array, weights: Array | None, finest: int | None
    ) -> SegmentSummary:
        self._check(forecasts)
        if (first := self._first_pass()) is None:
            raise ValueError("segments are summarised after a map that is common to all rows: use begin first.")
        quantile, edges = first
        w = np.ones(len(y)) if weights is None else weights
        sums = bin_sums(_Blocks(quantile.transform(forecasts), y, w, edges), len(edges) + 1)
        return SegmentSummary(sums, len(y), edges, quantile)

    def _fit_summary(self, summary: SegmentSummary) -> None:
        self.quantile_, self.thresholds_ = summary.quantile, summary.thresholds
        self.pit_distances_ = (np.nan, np.nan)
        self.link_ = self._fit_link(summary.sums) if summary.sums[0, 0].sum() > _FEWEST else None

    def _transform(self, forecasts: Distribution) -> Distribution:
        self._refuse_atoms(forecasts)
        law = self.quantile_.transform(forecasts)
        if self.link_ is None:
            return law
        n, edges = len(law), self.thresholds_
        knots, (base_masses, masses) = np.empty((n, len(edges))), np.empty((2, n, len(edges) + 1))
        for rows in row_blocks(n, len(edges) + 1, 2 * BLOCK):
            knots[rows] = law[rows].to_normal(edges[None, :])
            logits = segment_logits(knots[rows])
            base_masses[rows], masses[rows] = log_expit(logits), self.link_.log_probability(logits)
        base = law if self.within == "base" or len(edges) < 2 else Flattened(law, edges, knots)
        return Segmented(base, ProbabilityRows.from_log_masses(knots, masses, base_masses), edges)

    def segment_probabilities(self, forecasts: Any) -> Array:
        """Calibrated probabilities q of the K + 1 segments between -inf, the thresholds and inf, (n, K + 1)."""
        law = self.transform(forecasts)
        low = np.hstack([np.zeros((len(law), 1)), law.cdf(self.thresholds_[None, :])])
        high = np.hstack([law.sf(self.thresholds_[None, :]), np.zeros((len(law), 1))])
        whole = np.ones((len(law), 1))
        return np.where(low < 0.5, np.diff(np.hstack([low, whole])), -np.diff(np.hstack([whole, high])))


class _Blocks:
    """Blocks of (logits of the segment masses, segment of the outcome, weights), worked out anew on each pass."""

    def __init__(self, law: Distribution, y: Array, w: Array, thresholds: Array) -> None:
        self.law, self.y, self.w, self.thresholds = law, y, w, thresholds

    def __iter__(self) -> Iterator[tuple[Array, NDArray[np.intp], Array]]:
        which = np.searchsorted(self.thresholds, self.y, side="left")
        for rows in row_blocks(len(self.y), len(self.thresholds) + 1, 2 * BLOCK):
            knots = self.law[rows].to_normal(self.thresholds[None, :])
            yield segment_logits(knots), which[rows], self.w[rows]


class _Exact:
    """The same blocks as trials."""

    def __init__(self, blocks: _Blocks) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[Trials]:
        return (Trials.one_of_many(*block) for block in self.blocks)


def segment_logits(knots: Array) -> Array:
    r"""Logits of the probabilities of the K + 1 segments between normal scores (n, K).

    .. math:: \operatorname{logit} p_i = \log\frac{\Phi(z_i) - \Phi(z_{i-1})}{\Phi(z_{i-1}) + \Phi(-z_i)}

    The difference is taken in the smaller tail, the sum loses nothing.

    >>> segment_logits(np.array([[0.0]]))
    array([[0., 0.]])
    """
    upper, tail = knots > 0, ndtr(-np.abs(knots))
    low, high = np.zeros((2, len(knots), knots.shape[1] + 2))
    low[:, 1:-1], high[:, 1:-1] = np.where(upper, 1 - tail, tail), np.where(upper, tail, 1 - tail)
    low[:, -1] = high[:, 0] = 1.0
    mass = np.where(low[:, :-1] < 0.5, low[:, 1:] - low[:, :-1], high[:, :-1] - high[:, 1:])
    rest = low[:, :-1] + high[:, 1:]
    with np.errstate(divide="ignore"):
        out = np.log(mass / np.maximum(rest, 1e-300))
    tiny = (mass < _TINY).any(axis=1)
    if tiny.any():
        few = log_segment_masses(knots[tiny])
        out[tiny] = np.where(mass[tiny] < _TINY, few - log_expit(-few), out[tiny])
    return np.asarray(out)


def quantile_thresholds(y: Array, w: Array, count: int) -> Array:
    """Thresholds with equal weight of outcomes between them, half way between neighbouring outcomes.

    >>> quantile_thresholds(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), 3)
    array([1.5, 2.5, 3.5])
    """
    order = np.argsort(y, kind="stable")
    values, first = np.unique(y[order], return_index=True)
    if len(values) == 1:
        return values
    reached = np.cumsum(np.add.reduceat(w[order], first))
    target = reached[-1] * np.arange(1, count + 1) / (count + 1)
    at = np.clip(np.searchsorted(reached, target * (1 - 1e-12)), 0, len(values) - 2)
    return np.unique(values[at] + 0.5 * (values[at + 1] - values[at]))


def given_thresholds(values: Any) -> Array:
    """A user's thresholds: finite and strictly increasing.

    >>> given_thresholds([1, 2])
    array([1., 2.])
    """
    edges = finite(np.atleast_1d(to_array(values, "thresholds")), "thresholds")
    if edges.ndim != 1 or not len(edges) or not (np.diff(edges) > 0).all():
        raise ValueError("`thresholds` must be a strictly increasing column of numbers.")
    return edges
