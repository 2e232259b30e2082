"""A watch on forecasts whose outcomes come one after another: has something changed, what, and since when."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import Array, choices, number, one_of, probability
from ..calibration.labels import rows_by_label
from .alarms import COLUMNS, Alarm, as_time
from .bets import Bets, Seen
from .family import Finding, Part, group_share, log_mean_e, own_findings, strongest, together
from .history import History
from .reading import REMEMBERED, Batch, Digests, Reader
from .soundness import check_state, check_update
from .streams import Rows, Steps, Streams
from .tasks import BETS, bets_for, checked_kinds

BLOCK, MANY = 8192, 8  # rows taken in at once, and so many times more of groups
NO_IDS, NO_ROWS = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
_MOST = 700.0  # nats, of which a float can hold the exponential
_CLOCKS = {"rows": "missing", "numbers": "numbers", "dates": "dates"}


class DriftMonitor(BaseEstimator):
    r"""Tests of calibration that may be looked at after every row, with one false-alarm rate for the whole run.

    For each kind of fault and each group an e-process bets against the forecasts,

    .. math:: E_t = \sum_a \pi_a \sum_{s \le t} w_s \prod_{u=s}^t \min\Bigl(\frac{q_a(z_u)}{\varphi(z_u)}, e^8\Bigr)
        + R_t, \quad R_t = 1 - \sum_{s \le t} w_s = (1 + t / 1000)^{-1/2}

    with alternatives :math:`q_a` to the standard normal scores :math:`z_u = \Phi^{-1}(F_u(y_u))` of right forecasts,
    and a prior w over the steps s at which a change may begin. If each forecast is calibrated given the past, the mean
    of these over kinds and groups is a supermartingale from 1, so that by Ville's inequality

    .. math:: P(\sup_t E_t \ge 1 / \alpha) \le \alpha

    however often one looks, and however long it runs: at most 5 % of all calm runs ever raise an alarm at level 0.05.

    Kinds of laws: "bias" (forecasts too low or high), "width" (intervals too narrow or wide), "tails" (outliers, too
    many or few outcomes in one tail) and "shape" (skew, peak). Of two classes: "bias" and "confidence" of the
    probability of the second; of more, "confidence" in the most probable one. Outcomes on atoms (counts) win the ratio
    of the masses, which is a fair bet too: nothing is drawn at random.

    The onset of a fault is the step from which on the winning alternative has the largest likelihood. Memory does not
    grow with rows: the state of each stream is a few hundred numbers, the past is kept in at most 512 blocks.

    Parameters
    ----------
    level : float, default 0.05
        Probability that a run in which all forecasts are calibrated ever raises an alarm, at most.
    tolerance : float, default 0
        Faults to put up with. With 0.1, forecasts count as calibrated while normal scores are normal with a mean within
        ±0.1 and a standard deviation from 1 / 1.1 to 1.1, and log odds of events within ±0.1 of the true ones: the
        level holds for all of these, of counts nearly. No model is perfect, and with 0 some thousands of rows tell of a
        width that is wrong by 5 %.
    kinds : sequence of str, optional
        Faults to look for; all unless told. Fewer are noticed a little sooner.
    same_time : {"independent", "dependent"}
        Whether outcomes of the same time are independent given the past. Sales of shops on one day that share the
        weather are not: then say "dependent", so that bets on rows of one time are averaged, not multiplied, which is
        valid however they depend, and slower. Rows of one time must then come in one batch.
    task : {"auto", "regression", "classification"}
        What forecasts are, where the first batch does not tell.
    classes : array-like (K,), optional
        Labels of the columns of class probabilities, where neither the columns nor the first batch tell.

    Attributes
    ----------
    alarms_ : list of Alarm
        In the order in which they were raised: kind, group, since when, evidence, words.
    e_value_ : float
        Evidence of all tests together as of now; the first alarm is raised when it passes 1 / level.
    groups_ : list
        Groups seen, in the order in which they came.
    n_rows_ : int
        Rows taken in.
    history_ : History
        The past in blocks, for pictures.

    Notes
    -----
    With groups, all rows have half of the level, the groups the other half: those of the first batch in equal parts,
    and later ones in parts that get smaller. The first alarm is raised when the mixture of all tests passes 1 / level,
    and names the strongest; after that, each test that passes 1 / (its own part of the level) raises one alarm, unless
    another kind of fault in the same rows, which was told before, explains more.

    A supermartingale needs forecasts made before the outcomes of the rows before: with forecasts h steps ahead, errors
    overlap: watch every h-th row only, or all rows by h interleaved monitors at level / h each.

    References
    ----------
    Arnold, Henzi and Ziegel (2023), Sequentially valid tests for forecast calibration. Shin, Ramdas and Rinaldo (2024),
    E-detectors. Vovk, Nouretdinov and Gammerman (2003), Testing exchangeability on-line. Ramdas, Grünwald, Vovk and
    Shafer (2023), Game-theoretic statistics and safe anytime-valid inference.

    Examples
    --------
    >>> from calibrant import DriftMonitor, Normal
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(0, np.repeat([1.0, 1.5], [1000, 200]))
    >>> days = np.datetime64("2023-06-01") + np.arange(1200)
    >>> print(DriftMonitor().update(Normal(np.zeros(1200), 1.0), y, time=days))
    Drift: 1200 rows, level 0.05.
    intervals 1.7 times too narrow since 2026-03-16 (noticed at 2026-04-25, e-value 1.5e+03)

    Differs from the papers in: alternatives are a fixed mixture, not estimated from the past as by Arnold et al.; the
    false-alarm rate is that of the whole run, where an e-detector bounds the mean time between false alarms.
    """

    n_rows_: int
    recent_ids_: Digests

    def __init__(
        self,
        level: float = 0.05,
        *,
        tolerance: float = 0.0,
        kinds: Any = None,
        same_time: str = "independent",
        task: str = "auto",
        classes: Any = None,
    ) -> None:
        self.level = level
        self.tolerance = tolerance
        self.kinds = kinds
        self.same_time = same_time
        self.task = task
        self.classes = classes

    def fit(self, forecasts: Any, y: Any, *, groups: Any = None, time: Any = None, ids: Any = None) -> Self:
        """Forget all rows, and take in these: a new run, after the forecasts were mended say.

        Parameters
        ----------
        forecasts, y, groups, time, ids
            As in :meth:`update`.
        """
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        return self.update(forecasts, y, groups=groups, time=time, ids=ids)

    def update(self, forecasts: Any, y: Any, *, groups: Any = None, time: Any = None, ids: Any = None) -> Self:
        """Take in outcomes and what was forecast of them: a row, a day, a year, in the order in which they came.

        Rows whose outcome is missing are left out with a warning.

        Parameters
        ----------
        forecasts : Distribution, what `as_distribution` takes, or class probabilities; n rows
        y : array-like (n,)
            Outcomes, or labels.
        groups : array-like (n,), optional
            Labels of groups that are watched one by one too; in all batches or in none.
        time : array-like (n,), optional
            Numbers or dates, in all batches or in none; rows of a batch are taken in their order. Warns of rows that
            are earlier than those of batches before, and may have come already.
        ids : array-like (n,), optional
            Names of the rows: one that has come before, among the last 100 000, is not counted again.

        Returns
        -------
        self
        """
        probability(self.level, "level")
        number(self.tolerance, "tolerance", least=0, below=1)
        choices(same_time=(self.same_time, ("independent", "dependent")))
        begun = hasattr(self, "n_rows_")
        if self.same_time == "dependent" and time is None:
            raise ValueError("`time` must be given with same_time='dependent': it tells which rows may depend.")
        batch = self._reader(begun)(forecasts, y, groups=groups, time=time, ids=ids)
        if begun:
            self._check_alike(batch)
        else:
            self._begin(batch)
        self._look_at_times(batch)
        self._meet(batch)
        for rows in self._blocks(batch) if len(batch.y) else ():
            self._take(batch, rows)
        if batch.ids is not None:
            self.recent_ids_ = np.concatenate([self.recent_ids_, batch.ids])[-REMEMBERED:]
        return self

    def _bets(self) -> Bets:
        return bets_for(self.task_, self.kinds_, float(self.tolerance))

    def _reader(self, begun: bool) -> Reader:
        """How to read a batch: what the first one was, the others are."""
        if not begun:
            return Reader(self.task, self.classes, NO_IDS)
        return Reader("regression" if self.task_ == "laws" else "classification", self.classes_, self.recent_ids_)

    def _begin(self, batch: Batch) -> None:
        """Open the first stream, that of all rows."""
        kinds = checked_kinds(self.kinds, BETS[batch.task].KINDS)
        bets = bets_for(batch.task, kinds, float(self.tolerance))
        self.task_, self.kinds_, self.classes_, self.clock_ = batch.task, kinds, batch.classes, batch.clock
        self.groups_: list[Any] | None = None if batch.labels is None else []
        self.shares_ = np.array([1.0 if batch.labels is None else 0.5])
        self.log_e_ = np.zeros(1)
        self.raised_ = np.zeros((1, len(kinds)), dtype=bool)
        self.streams_ = Streams.new(1, bets.count)
        self.history_ = History.new(len(kinds))
        self.alarms_: list[Alarm] = []
        self.recent_ids_, self.last_time_ = NO_IDS, -np.inf
        self.n_rows_ = 0

    def _check_alike(self, batch: Batch) -> None:
        """Groups and times come with all batches or with none, and forecasts are of one kind."""
        if batch.task != self.task_:
            raise ValueError("`forecasts` must be of the same kind and number of classes in all batches.")
        if (batch.labels is None) != (self.groups_ is None):
            raise ValueError("`groups` must be given with all batches or with none.")
        if batch.clock != self.clock_:
            raise ValueError(
                f"`time` must be {_CLOCKS[self.clock_]} in all batches; here it is {_CLOCKS[batch.clock]}."
            )

    def _look_at_times(self, batch: Batch) -> None:
        """Warn of rows that may have come before, or that depend on some that have; remember the last time."""
        if batch.clock == "rows" or not len(batch.y):
            return
        depend = self.same_time == "dependent"
        late = batch.times <= self.last_time_ if depend else batch.times < self.last_time_
        if late.any() and (depend or batch.ids is None):
            why = "Rows of one time must come in one batch." if depend else "Have they come already? Give `ids`."
            told = f"{int(late.sum())} of {len(late)} rows are of times that earlier batches had passed."
            warnings.warn(f"{told} {why}", stacklevel=3)
        self.last_time_ = max(self.last_time_, float(batch.times[-1]))

    def _meet(self, batch: Batch) -> None:
        """Open a stream for each new group."""
        if batch.labels is None or self.groups_ is None:
            return
        known = set(self.groups_)
        new = [label for label in dict.fromkeys(batch.labels.tolist()) if label not in known]
        if not new:
            return
        share = 0.5 * group_share(len(known), len(new))
        self.groups_ += new
        self.shares_ = np.concatenate([self.shares_, np.full(len(new), share)])
        self.log_e_ = np.concatenate([self.log_e_, np.zeros(len(new))])
        self.raised_ = np.concatenate([self.raised_, np.zeros((len(new), len(self.kinds_)), dtype=bool)])
        self.streams_ = self.streams_.extended(len(new))

    def _blocks(self, batch: Batch) -> Iterator[slice]:
        """Rows in blocks that do not part those of one time where these depend."""
        n, block = len(batch.y), BLOCK if batch.labels is None else MANY * BLOCK
        if n <= block:
            yield slice(0, n)
            return
        starts = np.arange(0, n, block)
        if self.same_time == "dependent":
            first = np.flatnonzero(np.diff(batch.times, prepend=np.nan) != 0)
            starts = np.unique(first[np.searchsorted(first, starts, side="right") - 1])
        for start, end in zip(starts, [*starts[1:], n], strict=True):
            yield slice(int(start), int(end))

    def _take(self, batch: Batch, rows: slice) -> None:
        """Let all tests bet on some rows, and raise alarms."""
        bets = self._bets()
        seen = bets.seen(batch.forecasts[rows], batch.y[rows])
        times = batch.times[rows]
        labels = None if batch.labels is None else batch.labels[rows]
        depend = self.same_time == "dependent"
        parts = [self._advance(stream, at, seen, times, depend) for stream, at in self._by_stream(labels, len(times))]
        total = together(parts, self.shares_, self.log_e_, len(times))
        for finding in self._findings(parts, total):
            self._raise(finding, float(times[finding.end]))
        _, ends, path = parts[0]
        peaks = np.column_stack([total[ends], path.log_e])
        self.history_.add(path.taken.seen.sums, peaks, path.belief(), times[ends])
        for stream, _, path in parts:
            self.log_e_[stream] = log_mean_e(path.log_e[-1:])[0]
        self.n_rows_ += len(times)

    def _findings(self, parts: list[Part], total: Array) -> list[Finding]:
        """What the tests found, in the order of rows: the first alarm may come of all of them together."""
        found = sorted(own_findings(parts, self.shares_, self.raised_, self.level), key=lambda each: each[:3])
        over = np.flatnonzero(total >= -np.log(self.level))
        if self.alarms_ or not len(over) or (found and found[0].end <= over[0]):
            return found
        bets, here = self._bets(), {part.stream for part in parts}
        others = [Part(k, NO_ROWS, self.streams_.idle(k, bets)) for k in range(len(self.streams_)) if k not in here]
        first = strongest([*parts, *others], self.shares_, int(over[0]), float(total[over[0]]))
        raised = self.raised_.copy()
        raised[first.stream, first.kind] = True
        own = own_findings(parts, self.shares_, raised, self.level)
        return [first, *sorted(own, key=lambda each: each[:3])]

    def _by_stream(self, labels: Any, rows: int) -> Iterator[tuple[int, Rows]]:
        """Rows of each stream that has some: all rows first, then groups."""
        yield 0, np.arange(rows)
        if labels is not None and self.groups_ is not None:
            number = {label: 1 + place for place, label in enumerate(self.groups_)}
            for label, at in rows_by_label(labels).items():
                yield number[label], at.astype(np.int64)

    def _advance(self, stream: int, at: Rows, seen: Seen, times: Array, depend: bool) -> Part:
        """Let a stream take in its rows of a block."""
        steps = Steps(Seen(seen.gains[at], seen.sums[at]), self.n_rows_ + at, times[at])
        ends = at
        if depend:
            steps, _ = steps.joined()
            ends = np.searchsorted(times, steps.times, side="right") - 1
        return Part(stream, ends, self.streams_.advance(stream, self._bets(), steps))

    def _raise(self, found: Finding, time: float) -> None:
        """Write an alarm."""
        self.raised_[found.stream, found.kind] = True
        bets, kind, onset = self._bets(), self.kinds_[found.kind], found.onset
        dates = self.clock_ == "dates"
        alarm = Alarm(
            kind=kind,
            group=self.groups_[found.stream - 1] if found.stream and self.groups_ is not None else None,
            step=self.n_rows_ + found.end + 1,
            time=as_time(time, dates),
            since=onset.row,
            since_time=as_time(onset.time, dates),
            e_value=float(np.exp(min(found.log_e, _MOST))),
            size=bets.size(kind, onset.sums),
            fault=bets.words(kind, onset.place - bets.members[found.kind].start, onset.sums),
        )
        self.alarms_.append(alarm)

    # ---- what it has to say ----
    @property
    def e_value_(self) -> float:
        """Evidence of all tests together as of now."""
        check_is_fitted(self)
        return float(1 - self.shares_.sum() + self.shares_ @ np.exp(np.minimum(self.log_e_, _MOST)))

    def to_frame(self) -> Any:
        """Pandas frame: a row an alarm."""
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame([alarm.to_dict() for alarm in self.alarms_], columns=list(COLUMNS))

    def __str__(self) -> str:
        """Alarms in words, one a line."""
        if not hasattr(self, "n_rows_"):
            return repr(self)
        groups = "" if self.groups_ is None else f" of {len(self.groups_)} group{'s' * (len(self.groups_) != 1)}"
        seen = f"{self.n_rows_} rows{groups}, level {self.level:g}"
        if not self.alarms_:
            return f"No drift: {seen}, e-value {self.e_value_:.2g}."
        return "\n".join([f"Drift: {seen}.", *map(str, self.alarms_)])

    # ---- files ----
    def _check_sound(self) -> None:
        """Raise ValueError if what it keeps cannot be: it may come from anywhere."""
        one_of(self.task_, "task_", tuple(BETS))
        kinds = checked_kinds(self.kinds_, BETS[self.task_].KINDS)
        if kinds != self.kinds_:
            raise ValueError("DriftMonitor.kinds_ is not what a monitor keeps.")
        check_state(self, self._bets())

    def _check_forecasts(self) -> None:
        """Raise ValueError if it cannot take in further rows."""
        check_update(self)

    def __sklearn_is_fitted__(self) -> bool:
        """Once it has seen rows."""
        return hasattr(self, "n_rows_")
