"""Calibration that learns from each outcome as it comes, and forgets."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array, believed, one_of, positive, to_array
from ...adapters.class_scores import as_scores
from ...distributions import Distribution, Recalibrated, concatenate
from ...distributions.guaranteed import Promised
from ...distributions.scores import normal_scores, score_intervals
from ...maps import Map, UnitTails
from ..base import Calibrator
from ..contract import Takes
from ..labels import Labels, places_of, rows_by_label
from ..rows import usable_rows
from ..soundness import check_law_forecasts
from .class_side import MOST_EACH, ClassSide
from .class_stream import ClassStream
from .looks import Scores
from .memory import Memory
from .naming import Named, keys_of
from .stream import EXACT, Seen, Stream

KINDS = ("distributions", "probabilities", "logits")
_FEWEST = 64  # last rows of each group in a batch that are weighed one by one


class OnlineCalibrator(ClassSide, Calibrator):
    r"""Follow a world that drifts: learn from each outcome as it comes, forget what is old, never need a refit.

    The forecast is a mixture :math:`F = \sum_k w_k F_k` of the base, of maps of the scores so far that forget with
    half-lives from 20 to 800 steps (affine below 500, splines from there), and of normal laws around levels that
    follow the last scores, as they are or returning to their mean, since errors of forecasts are alike from one step to
    the next; the normal ones with spreads of three half-lives, with and without heavy tails. Weights follow how
    probable each made what came, and a share of them goes back to the start in each step (Herbster & Warmuth 1998),

    .. math:: w_k \leftarrow (1-\alpha)\,\frac{w_k f_k(y)}{\sum_j w_j f_j(y)} + \alpha\,\pi_k,

    for rates :math:`\alpha` of .0005, .005 and .05, which are weighed in the same way. What is left in the mixture's
    own scores, of half-life 200, a spline mends, as far as that has paid. Nothing is kept but decayed sums: the state
    does not grow. On scores that are standard normal it costs .0025 nats a row over 3 000 steps; where their spread
    jumps from 1 to 3 to .5 each thousand steps it is .023 nats a row behind knowing it (`experiments.online`).

    `update` learns from one row or from many, in their order, or in that of ``time`` where it is given. Of a batch of
    more than 1 024 rows only the last ones, 1 024 or 64 of each group, are weighed one by one: of those before, only
    decayed sums are kept. Of class probabilities the last 4 096 rows of a batch are learned.

    Nothing is learned twice: rows whose ``ids`` are among the last 32 768 learned are left out, and where ``time`` is
    given, rows that are not later than all of their group and horizon that an earlier call has learned.

    Groups and horizons have weights, maps and levels of their own. Beside them stands what all of them together say,
    with a prior weight of .35: a new group is calibrated as the others are, until it shows to be different.

    Outcomes that come late need nothing but the forecast as it was made: a row of ``horizon`` h was forecast h steps
    before its outcome, and levels and spreads are judged by what was known then.

    How many rows do I need? None: the forecast is the base until something is known.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0031, 0.0031, 0.0012 after 100, 300 and 1 000 rows
    of laws; 0.0011, 0.0008, 0.0006 of two classes, 0.0018, 0.0010, 0.0007 of three.

    Parameters
    ----------
    half_lives : tuple of float, default (20, 60, 200, 800)
        Steps after which what a map has learned counts half. A step is a row of the same group and horizon.
    levels : tuple of float, default (0.7, 2, 6)
        Half-lives of the levels that follow the scores.
    coverages : float or array-like, optional
        Coverages of central intervals, .5 and .9 say, that are promised in the long run for any sequence, even one
        chosen to break them: both ends are moved by a hundredth of their error in each step (Gibbs & Candès 2021).
        An end may become infinite, and an interval that has long held all that came empty: its ends cross. Of a batch
        of many rows, those that are weighed one by one count.
    kind : {"distributions", "probabilities", "logits"}, default "distributions"
        What is forecast: laws, or class probabilities or logits, which have maps only, of their log odds: with one
        slope (temperature), with offsets too (Platt), with two slopes (beta).
    classes : array-like (K,), optional
        Labels of the columns of class probabilities, where neither these nor the first labels tell.

    Attributes
    ----------
    weights_ : dict from str to float
        What is believed now: the weights of the base, of maps and levels by half-life.
    new_rows_, repeated_rows_ : int
        Rows of the last update that were learned, and rows that had been learned before.
    common_ : Stream or ClassStream
        What is known of all rows.
    streams_ : dict from (group, horizon) to Stream or ClassStream
        What is known of each.
    classes_ : ndarray (K,)
        Labels of class probabilities.

    Examples
    --------
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> cal = OnlineCalibrator()
    >>> cal.transform(Normal([0.0], 1.0)).std()
    array([1.])
    >>> cal.update(Normal(np.zeros(300), 1.0), rng.normal(0.0, 3.0, 300), ids=range(300)).new_rows_
    300
    >>> cal.transform(Normal([0.0], 1.0)).std().round(0)
    array([3.])
    >>> cal.update(Normal([0.0], 1.0), [5.0], ids=[299]).repeated_rows_
    1

    Differs from the paper in: Herbster & Warmuth share with one rate, evenly; here there are three, and the base has a
    larger part. Maps and levels as forecasters, and mending, are ours.
    """

    def __init__(
        self,
        half_lives: tuple[float, ...] = (20.0, 60.0, 200.0, 800.0),
        levels: tuple[float, ...] = (0.7, 2.0, 6.0),
        coverages: Any = None,
        kind: str = "distributions",
        classes: Any = None,
    ) -> None:
        self.half_lives = half_lives
        self.levels = levels
        self.coverages = coverages
        self.kind = kind
        self.classes = classes

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        """Laws or scores of classes, and groups."""
        if self.kind == "distributions":
            return Takes(beside=frozenset({"groups"}))
        return Takes(("scores",), frozenset({"groups"}))

    @property
    def scores_are(self) -> str:
        """What plain class scores are."""
        return "logits" if self.kind == "logits" else "probabilities"

    def _read(self, forecasts: Any) -> Any:
        one_of(self.kind, "kind", KINDS)
        return super()._read(forecasts) if self.kind == "distributions" else as_scores(forecasts, self.scores_are)

    def fit(
        self,
        forecasts: Any,
        y: Any,
        *,
        groups: Any = None,
        horizon: Any = None,
        ids: Any = None,
        time: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Forget all, then `update`."""
        self._forget()
        beside = {"groups": groups, "horizon": horizon, "ids": ids, "time": time}
        return self.update(forecasts, y, sample_weight=sample_weight, **beside)

    def update(
        self,
        forecasts: Any,
        y: Any,
        *,
        groups: Any = None,
        horizon: Any = None,
        ids: Any = None,
        time: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from n forecasts, as they were made, and their outcomes, in their order.

        Parameters
        ----------
        forecasts : Distribution or what `as_distribution` takes, n rows
        y : array-like (n,)
            Rows whose outcome is missing are left out with a warning, and may come again.
        groups : array-like (n,), optional
            Labels of any type.
        horizon : int or array-like (n,) of int, optional
            Steps from forecast to outcome, 1 unless told.
        ids : array-like (n,), optional
            Names of the rows, texts or whole numbers.
        time : array-like (n,), optional
            Numbers or dates of the outcomes; rows are learned in this order.
        sample_weight : array-like (n,), optional
            Frequencies: 2 is the row twice.
        """
        table = self._read(forecasts)
        named = Named.of(len(table), groups, horizon, ids, time)
        used, y, weights = self._usable(table, y, sample_weight)
        rows = np.arange(len(table))[used]
        self.new_rows_ = self.repeated_rows_ = 0
        if not len(rows):
            return self
        self._begin(named)
        fresh = self._fresh(named, rows)
        self.new_rows_, self.repeated_rows_ = int(fresh.sum()), int(len(rows) - fresh.sum())
        order = np.arange(len(rows)) if named.times is None else np.argsort(named.times[rows], kind="stable")
        order = order[fresh[order]]
        if len(order):
            some = table if len(order) == len(table) and named.times is None else table[rows[order]]
            keys = None if named.keys is None else named.keys[rows[order]]
            learn = self._learn if self.kind == "distributions" else self._learn_classes
            learn(some, y[order], None if weights is None else weights[order], keys)
            self.n_rows_ += len(order)
            self._remember(named, rows[order])
        return self

    def transform(self, forecasts: Any, *, groups: Any = None, horizon: Any = None) -> Any:
        """Calibrated forecasts of the outcomes to come, by what is known now; of classes, probabilities (n, K)."""
        table = self._read(forecasts)
        keys = keys_of(len(table), groups, horizon)
        if self.kind != "distributions":
            return self._transform_classes(table, keys)
        if not getattr(self, "n_rows_", 0):
            return table
        if keys is None or not self.streams_:
            return _seen_through(table, self.common_.law(), self.common_, self.common_.ends())
        inner, common = self.common_.mixture(), self.common_.law()
        parts, members = [], rows_by_label(keys)
        for key, rows in members.items():
            own = self.streams_.get(key)
            law, ends = (common, self.common_.ends()) if own is None else (own.law(inner), own.ends(inner))
            parts.append(_seen_through(table[rows], law, self.common_, ends))
        return parts[0] if len(parts) == 1 else concatenate(parts)[places_of(members.values(), len(table))]

    @property
    def weights_(self) -> dict[str, float]:
        """What is believed of all rows together."""
        found: dict[str, float] = self.common_.named_weights()
        return found

    # ---- learning ----
    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _usable(self, table: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Array | None]:
        """Rows that have an outcome, outcomes or class numbers, and weights."""
        if self.kind != "distributions":
            return self._labelled(table, y, sample_weight, self.classes)
        if self.classes is not None:
            raise ValueError("`classes` are labels of class probabilities; say kind='probabilities'.")
        if _none_known(y, len(table)):
            return np.empty(0, dtype=np.intp), np.empty(0), None
        return usable_rows(len(table), y, sample_weight)

    def _begin(self, named: Named) -> None:
        """Know nothing, the first time."""
        if hasattr(self, "common_"):
            return
        self.common_ = self._new(is_alone=named.keys is None)
        self.streams_: dict[Any, Any] = {}
        self.times_: dict[Any, float] = {}
        self.memory_ = Memory()
        self.n_rows_ = self.new_rows_ = self.repeated_rows_ = 0

    def _new(self, *, lag: int = 0, has_outer: bool = False, is_alone: bool = True) -> Any:
        half_lives, levels = (_half_lives(getattr(self, name), name) for name in ("half_lives", "levels"))
        if self.kind != "distributions":
            return self._new_classes(half_lives, has_outer=has_outer)
        levels = levels if is_alone else ()
        return Stream.new(half_lives, levels, coverages=self.coverages, lag=lag, has_outer=has_outer)

    def _fresh(self, named: Named, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which of these rows have not been learned."""
        fresh = np.ones(len(rows), dtype=bool)
        if named.hashes is not None:
            fresh &= self.memory_.new(named.hashes[rows])
        if named.times is not None:
            keys = [None] * len(rows) if named.keys is None else named.keys[rows].tolist()
            last = np.array([self.times_.get(key, -np.inf) for key in keys])
            fresh &= named.times[rows] > last
        return fresh

    def _remember(self, named: Named, rows: NDArray[np.intp]) -> None:
        if named.hashes is not None:
            self.memory_.keep(named.hashes[rows])
        if named.times is not None:
            members = {None: slice(None)} if named.keys is None else rows_by_label(named.keys[rows])
            for key, mine in members.items():
                last = float(named.times[rows][mine].max())
                self.times_[key] = max(last, self.times_.get(key, last))

    def _learn(self, laws: Distribution, y: Array, weights: Array | None, keys: Labels | None) -> None:
        scores, copies = _scores(laws, y, weights)
        self.common_.heavy_tails |= laws.has_heavy_tails
        keys = keys if keys is None or copies is None else keys[copies]
        if self.coverages is None:
            self._learn_scores(scores, keys)
        else:
            self._keep_promises(scores, keys)

    def _keep_promises(self, scores: Scores, keys: Labels | None) -> None:
        """Learn row by row; what was read of the first row of each stream is what was known before all of them."""
        old = max(0, scores.size - EXACT)
        if old:
            self._learn_scores(scores.take(slice(old)), None if keys is None else keys[:old])
        inner = None if keys is None else self.common_.mixture()
        known = {} if keys is None else {key: self._stream(key).promised(inner) for key in rows_by_label(keys[old:])}
        for row in range(old, scores.size):
            key = None if keys is None else keys[row]
            stream, one = self._stream(key), scores.take([row])
            inner = None if keys is None else self.common_.mixture()
            read = known.pop(key) if key in known else stream.promised(inner)
            if stream.guarantee is not None:
                stream.guarantee.learn(float(one.right[0]), read, float(one.weights[0]))
            self._learn_scores(one, None if keys is None else keys[[row]])

    def _stream(self, key: Any) -> Any:
        """That of a group and horizon, or of all."""
        if key is None:
            return self.common_
        if key not in self.streams_:
            self.streams_[key] = self._new(lag=(key[1] or 1) - 1, has_outer=True)
        return self.streams_[key]

    def _learn_scores(self, scores: Scores, keys: Labels | None) -> None:
        if keys is None:
            self.common_.learn(scores, 1.0 / max(1, len(self.streams_)))
            return
        members = rows_by_label(keys)
        for key in members:
            self._stream(key)
        most = max(_FEWEST, EXACT // len(members))
        last = {key: mine[-most:] for key, mine in members.items()}
        recent = np.sort(np.concatenate(list(last.values())))
        step = 1.0 / len(self.streams_)
        old = np.setdiff1d(np.arange(scores.size), recent, assume_unique=True)
        if len(old):
            self.common_.absorb(scores.take(old), step)
        seen = Seen.none(scores.size)
        seen.put(recent, self.common_.learn(scores.take(recent), step, most=len(recent)))
        for key, mine in members.items():
            stream = self.streams_[key]
            stream.heavy_tails = self.common_.heavy_tails
            if len(mine) > most:
                stream.absorb(scores.take(mine[:-most]), 1.0)
            stream.learn(scores.take(last[key]), 1.0, seen.take(last[key]))

    def _check_sound(self) -> None:
        """Raise ValueError if what was learned cannot be."""
        super()._check_sound()
        counts: list[Any] = [self.n_rows_, self.new_rows_, self.repeated_rows_]
        kind = Stream if self.kind == "distributions" else ClassStream
        streams: list[Any] = [self.common_, *self.streams_.values()]
        if any(type(n) is not int or n < 0 for n in counts) or any(type(each) is not kind for each in streams):
            raise ValueError("it has no streams, or no count of rows.")
        if any(each.has_outer != (place > 0) for place, each in enumerate(streams)):
            raise ValueError("its streams do not belong together.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if a stream makes no forecasts."""
        if self.kind != "distributions":
            self._check_class_forecasts()
            return
        laws, inner = self._examples(), self.common_.mixture()
        for law in (self.common_.law(), *(stream.law(inner) for stream in self.streams_.values())):
            check_law_forecasts(Recalibrated(laws, law))


def _seen_through(laws: Distribution, law: Map, common: Stream, ends: dict[float, tuple[float, float]]) -> Distribution:
    heavy = laws.has_heavy_tails and common.rows > 0
    law = UnitTails(law, *common.span) if heavy else law
    return Promised(laws, law, ends) if ends else Recalibrated(laws, law)


def _half_lives(values: Any, name: str) -> tuple[float, ...]:
    return tuple(positive(np.ravel(to_array(values, name)), name).tolist())


def _none_known(y: Any, rows: int) -> bool:
    """Whether no outcome is known, which is told; as an outcome alone may be missing this is no error."""
    values = to_array(y, "y")
    if not values.size or not np.isnan(values).all() or values.size != rows:
        return False
    warnings.warn(f"{rows} of {rows} rows have no outcome (NaN) and are left out.", stacklevel=3)
    return True


def _scores(laws: Distribution, y: Array, weights: Array | None) -> tuple[Scores, NDArray[np.intp] | None]:
    """Scores of the outcomes; a row of weight 2 comes twice, and which row each is a copy of."""
    z, _ = normal_scores(laws, y)
    left, right = score_intervals(laws, y) if laws.has_atoms else (z, z)
    if weights is None:
        return Scores.between(left, right, np.ones(len(y))), None
    weights = believed(weights, MOST_EACH, outcomes=1.0, copies=1.0)
    times = np.ceil(weights).astype(np.intp)
    copies = np.repeat(np.arange(len(y)), times)
    share = (weights / times)[copies]
    left, right = (left[copies],) * 2 if left is right else (left[copies], right[copies])
    return Scores.between(left, right, share), copies
