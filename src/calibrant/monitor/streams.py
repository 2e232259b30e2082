"""E-processes of streams of outcomes, their states side by side: what each alternative has won, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .bets import SUMS, Bets, Seen
from .starts import log_start, not_yet

Rows = NDArray[np.int64]
_NOTHING = -1e300  # log capital of alternatives that no step has seen


class Onset(NamedTuple):
    """Where an alternative began to win: its number, the row and time of that, and sums since."""

    place: int
    row: int
    time: float
    sums: Array


class Steps(NamedTuple):
    """Steps of a part of a stream: what was seen, the first row of each, and its time, NaN where there is none."""

    seen: Seen
    rows: Rows
    times: Array

    def joined(self) -> tuple[Steps, Rows]:
        """Rows of one time as one step, whose gain is the mean of theirs; and the first row of each step."""
        first = np.flatnonzero(np.diff(self.times, prepend=np.nan) != 0)
        counts = np.diff(np.append(first, len(self.times)))[:, None]
        gains = np.log(np.add.reduceat(np.exp(self.seen.gains), first, axis=0) / counts)
        seen = Seen(gains, np.add.reduceat(self.seen.sums, first, axis=0))
        return Steps(seen, self.rows[first], self.times[first]), first


@dataclass(eq=False)
class Streams:
    r"""States of S streams and A alternatives.

    .. math:: M_t = (M_{t-1} + w_t)\,L_t = \sum_{s \le t} w_s \prod_{u=s}^t L_u

    is an alternative's capital, spread over all steps s at which a change may begin by the prior w.

    Attributes
    ----------
    log_capital : array (S, A)
        :math:`\log M_t`.
    steps : array of int (S,)
        Number t of steps seen.
    won : array (S, A)
        :math:`\max_s \sum_{u=s}^t \log L_u`: the log likelihood ratio of the best onset.
    onset_rows, onset_times : arrays (S, A)
        Row and time of that onset.
    onset_sums : array (S, A, 5)
        Sums over the rows since.
    """

    log_capital: Array
    steps: Rows
    won: Array
    onset_rows: Rows
    onset_times: Array
    onset_sums: Array

    @classmethod
    def new(cls, streams: int, alternatives: int) -> Streams:
        """Streams that have seen nothing."""
        shape = (streams, alternatives)
        return cls(
            np.full(shape, -np.inf),
            np.zeros(streams, dtype=np.int64),
            np.full(shape, -1.0),
            np.zeros(shape, dtype=np.int64),
            np.full(shape, np.nan),
            np.zeros((*shape, SUMS)),
        )

    def __len__(self) -> int:
        return len(self.steps)

    def fits(self, streams: int, alternatives: int) -> bool:
        """Whether all states are there, of the right types and sizes, and could have come about."""
        blank = vars(Streams.new(streams, alternatives))
        alike = [
            isinstance(mine, np.ndarray) and mine.shape == each.shape and mine.dtype == each.dtype
            for mine, each in zip(vars(self).values(), blank.values(), strict=True)
        ]
        counts = (self.steps, self.onset_rows)
        return all(alike) and all(bool((each >= 0).all()) for each in counts) and not np.isinf(self.won).any()

    def _check_sound(self) -> None:
        """Raise ValueError for missing numbers, but for times, which may be missing."""
        for name in ("log_capital", "won", "onset_sums"):
            if np.isnan(getattr(self, name)).any() or np.isposinf(getattr(self, name)).any():
                raise ValueError(f"Streams.{name} has NaN or infinity.")

    def idle(self, stream: int, bets: Bets) -> Path:
        """The path of a stream that takes no steps."""
        blank = Steps(Seen(np.zeros((0, bets.count)), np.zeros((0, SUMS))), np.zeros(0, dtype=np.int64), np.zeros(0))
        return Path(self, stream, bets, blank)

    def extended(self, streams: int) -> Streams:
        """With so many more that have seen nothing."""
        more = Streams.new(streams, self.won.shape[1])
        return Streams(
            *(np.concatenate([old, new]) for old, new in zip(vars(self).values(), vars(more).values(), strict=True))
        )

    def advance(self, stream: int, bets: Bets, steps: Steps) -> Path:
        """Take in further steps of a stream, and tell what came of them."""
        path = Path(self, stream, bets, steps)
        self.log_capital[stream] = path.log_capital[-1]
        self.steps[stream] = path.steps[-1]
        path.settle(self, stream)
        return path


class Path:
    """What a part of a stream did: capitals and e-values after each step, and onsets."""

    def __init__(self, streams: Streams, stream: int, bets: Bets, taken: Steps) -> None:
        self.bets, self.taken = bets, taken
        n, seen = len(taken.rows), taken.seen
        self.steps = streams.steps[stream] + np.arange(1, n + 1)
        self._totals = np.zeros((n + 1, seen.gains.shape[1]))
        np.cumsum(seen.gains, axis=0, out=self._totals[1:])
        opened = log_start(self.steps)[:, None] - self._totals[:-1]
        self._capital, self._steps = streams.log_capital[stream].copy(), streams.steps[stream]
        opened[:1] = np.logaddexp(opened[:1], self._capital)
        self.log_capital = np.logaddexp.accumulate(opened, axis=0) + self._totals[1:]
        self.log_e = log_e_values(bets, self.log_capital, self.steps)
        self._won, self._old_rows = streams.won[stream].copy(), streams.onset_rows[stream].copy()
        self._old_times, self._old_sums = streams.onset_times[stream].copy(), streams.onset_sums[stream].copy()
        self._sums = np.zeros((n + 1, SUMS))
        np.cumsum(seen.sums, axis=0, out=self._sums[1:])

    def belief(self) -> Array:
        """Log of the width that is believed in after each step, 0 where none is looked for.

        The probability that a change of this kind has begun, times what outcomes since the best onset tell, or the
        sizes of the alternatives where these do not.
        """
        if self.bets.believed is None:
            return np.zeros(len(self.steps))
        members, sizes = self.bets.believed
        held = self.log_capital[:, members] + self.bets.log_weights[members]
        posterior = np.exp(held - self.log_e[:, [self.bets.members.index(members)]])
        best = np.argmax(held, axis=1)
        told = self.bets.log_width(self._sums_since(members)[np.arange(len(best)), best])
        return np.asarray(posterior @ sizes if told is None else posterior.sum(axis=1) * told)

    def _sums_since(self, members: slice) -> Array:
        """Sums since the best onset after each step, of some alternatives, (n, m, 5)."""
        totals, n = self._totals[:-1, members], len(self.steps)
        lowest = np.minimum.accumulate(totals, axis=0)
        least = np.maximum.accumulate(np.where(totals <= lowest, np.arange(n)[:, None], 0), axis=0)
        old = -self._won[members] <= lowest
        begun = np.where(old[..., None], -self._old_sums[members], self._sums[least])
        return np.asarray(self._sums[1:, None] - begun)

    def log_e_after(self, step: int) -> Array:
        """Log e-values by kind (K,) after the step: 0 is the first here, and -1 what was before."""
        if step >= 0:
            return np.asarray(self.log_e[step])
        return np.asarray(log_e_values(self.bets, self._capital[None], self._steps[None])[0])

    def onset(self, step: int, kind: int) -> Onset:
        """Onset of the alternative of a kind that has won most after the step."""
        members = self.bets.members[kind]
        capital = self.log_capital[step] if step >= 0 else self._capital
        place = members.start + int(np.argmax(capital[members] + self.bets.log_weights[members]))
        least = int(np.argmin(self._totals[: max(step + 1, 1), place]))
        if step < 0 or -self._won[place] <= self._totals[least, place]:
            sums = self._old_sums[place] + self._sums[step + 1]
            return Onset(place, int(self._old_rows[place]), float(self._old_times[place]), sums)
        sums = self._sums[step + 1] - self._sums[least]
        return Onset(place, int(self.taken.rows[least]), float(self.taken.times[least]), sums)

    def settle(self, streams: Streams, stream: int) -> None:
        """Write the onsets after the last step."""
        least = np.argmin(self._totals[:-1], axis=0)
        lowest = np.minimum(np.min(self._totals[:-1], axis=0), -self._won)
        new = lowest < -self._won
        streams.won[stream] = self._totals[-1] - lowest
        streams.onset_rows[stream] = np.where(new, self.taken.rows[least], streams.onset_rows[stream])
        streams.onset_times[stream] = np.where(new, self.taken.times[least], streams.onset_times[stream])
        since = self._sums[-1] - np.where(new[:, None], self._sums[least], 0.0)
        streams.onset_sums[stream] = np.where(new[:, None], 0.0, streams.onset_sums[stream]) + since


def log_e_values(bets: Bets, log_capital: Array, steps: Any) -> Array:
    r"""Log of :math:`E_t = \sum_a \pi_a M_{a,t} + R_t` by kind, (n, K)."""
    held = log_capital + bets.log_weights
    first = [members.start for members in bets.members]
    most = np.maximum(np.maximum.reduceat(held, first, axis=1), _NOTHING)
    held -= np.repeat(most, bets.counts, axis=1)
    np.exp(held, out=held)
    with np.errstate(divide="ignore"):
        most += np.log(np.add.reduceat(held, first, axis=1))
    return np.asarray(np.logaddexp(most, np.log(not_yet(steps))[:, None]))
