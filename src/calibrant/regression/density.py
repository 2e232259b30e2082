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
from ..calibration.one_score import check_one_score
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
from .segment_calibrators import CalibratorLink

_TINY = 1e-290
_FEWEST = 10  # rows up to which segments are left alone
_HARDLY = 1e-10  # the pull that penalty=0 leaves
_FREE = {"beta": {"nonnegative": False}}
PARAMETRIC: dict[str, Callable[..., Link]] = {"beta": BetaLink.fit, "logistic": LogisticLink.fit}
COUNTING: dict[str, Callable[..., Link]] = {"isotonic": IsotonicLink.fit, "binning": BinningLink.fit}


class DensityCalibrator(SummarisedCalibrator, ConditionalCalibrator):
    r"""Cut the outcome into segments and calibrate the probability of each: e-beta, e-logistic.

    .. math:: p_i = G(t_i) - G(t_{i-1}), \qquad q_i = c_i(p_i) \Big/ \sum_j c_j(p_j)

    Song et al. (2018), section 4. G is the forecast after a quantile map common to all rows (`QuantileCalibrator`);
    :math:`c_i` is fitted to the pairs of :math:`p_i` and :math:`1\{t_{i-1} < y \le t_i\}`, pulled towards
    :math:`c_i(p) = p`, so that segments without events stay as they are. The result knows where outcomes lie that a
    forecast's shape cannot: two regimes, a gap, a floor.

    As published is ``DensityCalibrator(base_map=None, penalty=0, within="uniform")``: G is the forecast itself, the
    :math:`c_i` are fitted by maximum likelihood, the density is constant within segments.

    How many rows do I need? With 10 or fewer only the quantile map is used. The pull is as strong as the evidence
    says.

    A summary is enough after a first pass, if ``thresholds`` are numbers, ``polish`` is False and ``binary`` is a
    name: give `begin` a summary of all rows by `QuantileCalibrator`; then `summarise`, `fit_summary` and `partial_fit`
    take one more pass. With ``base_map=None`` there is no first pass. The result is that of `fit` but for rounding,
    without ``pit_distances_``, which takes rows.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0031, 0.0018, 0.0004 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    binary : {"beta", "logistic", "isotonic", "binning"} or calibrator, default "beta"
        The binary calibrators. "logistic" cannot leave a probability as it is and costs about 0.15 nats where nothing
        is wrong, at 100 to 1 000 rows. Or any object with ``fit(scores, y)``, y being 0 or 1, and ``transform``,
        ``predict_proba`` or ``predict``, of which each segment with different outcomes gets a copy: `BetaCalibrator()`,
        `IsotonicCalibrator()`, `PlattCalibrator(scores_are="margins")`, scikit-learn's ``IsotonicRegression``.
    n_thresholds : int, default 32
        Number K of finite thresholds, or of segments, as ``counted`` says.
    within : {"base", "uniform"}, default "base"
        The shape within finite segments: G rescaled, or uniform as in the paper. The two end segments take G's tails.
    thresholds : {"even", "quantile"} or array-like, default "even"
        Equally spaced over the range of the outcomes and half of it more on both sides (the paper), at quantiles of
        the outcomes, or given.
    penalty : "evidence" or float, default "evidence"
        Strength of the pull towards :math:`c_i(p) = p`: the one under which the outcomes are most probable, or a
        number: of squared deviations of parameters ("beta", "logistic"), or of events in each bin or block. 0, of
        "beta" and "logistic", is maximum likelihood to within 10⁻⁶ in probability, with a and b of any sign, the
        rows themselves being used and not bins of them; a pull of 10⁻¹⁰ keeps segments without events from 0.
    polish : bool, default False
        Whether "beta" and "logistic" end with Newton steps on all rows instead of 1 024 bins per segment.
    base_map : {"quantile", None}, default "quantile"
        The map of all forecasts that comes first; None is the paper.
    counted : {"thresholds", "segments"}, default "thresholds"
        What ``n_thresholds`` is the number K of. The paper has both: K finite thresholds and K + 1 segments (section
        3, eq. 5), "even" ones reaching from end to end of the range; or K segments and K - 1 finite thresholds
        (section 4), "even" ones cutting the range into K equal parts, the outer two open.

    Attributes
    ----------
    thresholds_ : ndarray
    quantile_ : QuantileCalibrator or None
        The map common to all rows.
    link_ : Link or None
        The binary calibrators, one more than thresholds; None where too few rows were seen.
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

    Notes
    -----
    Differs from the paper in: by default, the quantile map, the pull, a, b ≥ 0 and the shape within segments. Always:
    the two unbounded segments have G's tails (the paper gives them no density); the range of "even" thresholds is that
    of the outcomes seen by `fit` (the paper's is that of the base model's training set too: give ``thresholds``); with
    10 or fewer rows segments are left alone; a segment keeps at least 10⁻¹² of its probability under G.
    """

    _ascending: ClassVar[tuple[str, ...]] = ("thresholds_",)
    _later: ClassVar[dict[str, Any]] = {"base_map": "quantile", "counted": "thresholds"}

    def __init__(
        self,
        binary: Any = "beta",
        n_thresholds: int = 32,
        within: str = "base",
        *,
        thresholds: Any = "even",
        penalty: float | str = "evidence",
        polish: bool = False,
        base_map: str | None = "quantile",
        counted: str = "thresholds",
    ) -> None:
        self.binary = binary
        self.n_thresholds = n_thresholds
        self.within = within
        self.thresholds = thresholds
        self.penalty = penalty
        self.polish = polish
        self.base_map = base_map
        self.counted = counted

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        self._check(forecasts)
        w = np.ones(len(y)) if weights is None else weights
        fitted = QuantileCalibrator().fit(forecasts, y, sample_weight=weights) if self.base_map else None
        self.quantile_: QuantileCalibrator | None = fitted
        law = self._mapped(forecasts)
        self.thresholds_ = self._thresholds(law, y, w)
        self.link_ = None
        if w.sum() <= _FEWEST:
            left = "forecasts stay as they are" if fitted is None else "only the quantile map is used"
            warnings.warn(f"{len(y)} rows are too few to calibrate segments; {left}.", stacklevel=3)
            return
        blocks = _Blocks(law, y, w, self.thresholds_)
        if isinstance(self.binary, str):
            self.link_ = self._fit_link(bin_sums(blocks, len(self.thresholds_) + 1), blocks)
        else:
            self.link_ = CalibratorLink.fit(
                self.binary, *(np.concatenate(parts) for parts in zip(*blocks, strict=True))
            )

    def _mapped(self, forecasts: Distribution) -> Distribution:
        """G: forecasts after the map that is common to all, where there is one."""
        return forecasts if self.quantile_ is None else self.quantile_.transform(forecasts)

    def _check(self, forecasts: Distribution) -> None:
        if isinstance(self.binary, str):
            one_of(self.binary, "binary", [*PARAMETRIC, *COUNTING])
        else:
            check_one_score(self.binary, "binary")
        one_of(self.within, "within", ["base", "uniform"])
        one_of(self.base_map, "base_map", ["quantile", None])
        one_of(self.counted, "counted", ["thresholds", "segments"])
        count(self.n_thresholds, "n_thresholds", least=2)
        self._check_penalty()
        if self.polish and not self._is_parametric:
            raise ValueError(f"`polish` must be False for binary={self.binary!r}: there is no Newton step to polish.")
        self._refuse_atoms(forecasts)

    def _check_penalty(self) -> None:
        given: Any = self.penalty
        if given == "evidence":
            return
        if isinstance(given, (bool, str)) or not (isinstance(given, (int, float)) and 0 <= given < np.inf):
            raise ValueError(f"`penalty` must be 'evidence' or a number of at least 0; got {given!r}.")
        if given == 0 and self.binary in list(COUNTING):
            raise ValueError(f"`penalty` must not be 0 for binary={self.binary!r}: give a calibrator object.")
        if given != 0 and not isinstance(self.binary, str):
            raise ValueError(f"`penalty` must be 'evidence' or 0 for a calibrator, which has its own; got {given!r}.")

    @property
    def _is_parametric(self) -> bool:
        return isinstance(self.binary, str) and self.binary in PARAMETRIC

    def _refuse_atoms(self, forecasts: Distribution) -> None:
        if self.within == "uniform" and forecasts.has_atoms:
            raise ValueError("`within` must be 'base' for forecasts with atoms (counts, ties); got 'uniform'.")

    def _thresholds(self, law: Distribution, y: Array, w: Array) -> Array:
        if not isinstance(self.thresholds, str):
            return given_thresholds(self.thresholds)
        one_of(self.thresholds, "thresholds", ["even", "quantile"])
        apart = self.counted == "segments"
        if self.thresholds == "quantile":
            return quantile_thresholds(y, w, self.n_thresholds - apart)
        low, high = float(y.min()), float(y.max())
        if not high > low:
            low, high = low - (reach := float(np.median(np.diff(law.interval(0.5))))), high + reach
        even = np.linspace(low - 0.5 * (high - low), high + 0.5 * (high - low), self.n_thresholds + apart)
        return even[1:-1] if apart else even

    def _fit_link(self, sums: Array, blocks: _Blocks | None = None) -> Link:
        trials = trials_of(sums, apart=self.binary in PARAMETRIC)
        if self.binary in COUNTING:
            return COUNTING[self.binary](trials, penalty=self.penalty)
        exact = _Exact(blocks) if (self.polish or self.penalty == 0) and blocks is not None else None
        if self.penalty == 0:
            return PARAMETRIC[self.binary](trials, penalty=_HARDLY, exact=exact, **_FREE.get(self.binary, {}))
        return PARAMETRIC[self.binary](trials, penalty=self.penalty, exact=exact)

    def begin(self, summary: ScoreSummary) -> Self:
        """Take the common map from a first pass over the rows, so that a second one can be summarised.

        Parameters
        ----------
        summary : Summary
            Of all rows, by `QuantileCalibrator`.
        """
        if not self._can_be_summarised:
            raise ValueError("`polish` must be False and `thresholds` must be numbers for a fit by summaries.")
        if self.base_map is None:
            raise ValueError("`base_map` is None: there is no map to begin with, summarise takes one pass.")
        self._forget()
        self.quantile_ = QuantileCalibrator().fit_summary(summary)
        self.thresholds_ = given_thresholds(self.thresholds)
        return self

    @property
    def summary_is_enough(self) -> bool:
        """Whether the first pass is over: after `begin`, or at once without ``base_map``."""
        return not self.polish and isinstance(self.binary, str) and self._first_pass() is not None

    @property
    def _can_be_summarised(self) -> bool:
        return isinstance(self.binary, str) and not (self.polish or isinstance(self.thresholds, str))

    def _first_pass(self) -> tuple[QuantileCalibrator | None, Array] | None:
        known = vars(self)
        if "summary_" in known:
            return known["summary_"].quantile, known["summary_"].thresholds
        if self.base_map is None:
            return (None, given_thresholds(self.thresholds)) if self._can_be_summarised else None
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
        law = forecasts if quantile is None else quantile.transform(forecasts)
        sums = bin_sums(_Blocks(law, y, w, edges), len(edges) + 1)
        return SegmentSummary(sums, len(y), edges, quantile)

    def _fit_summary(self, summary: SegmentSummary) -> None:
        self.quantile_, self.thresholds_ = summary.quantile, summary.thresholds
        self.pit_distances_ = (np.nan, np.nan)
        self.link_ = self._fit_link(summary.sums) if summary.sums[0, 0].sum() > _FEWEST else None

    def _transform(self, forecasts: Distribution) -> Distribution:
        self._refuse_atoms(forecasts)
        law = self._mapped(forecasts)
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
        """Calibrated probabilities q of the segments between -inf, the thresholds and inf, (n, thresholds + 1)."""
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
