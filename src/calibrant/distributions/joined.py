"""Laws of different kinds in one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..maps.base import Side
from .base import Distribution, _row_selection


@dataclass(frozen=True, eq=False, repr=False)
class Joined(Distribution):
    """Row i is row ``place[i]`` of ``parts[code[i]]``: forecasts of several models or groups in one batch.

    Examples
    --------
    >>> from calibrant import Laplace, Normal
    >>> concatenate([Normal([0.0, 1.0], 1.0), Laplace([5.0], 1.0)]).median()
    array([0., 1., 5.])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("code", "place")

    parts: tuple[Distribution, ...]
    code: NDArray[np.intp]
    place: NDArray[np.intp]

    @classmethod
    def of_groups(cls, parts: Sequence[Distribution], members: Iterable[NDArray[np.intp]], index: Any = None) -> Self:
        """Laws of groups, each at the rows of its members; the index is that of all rows."""
        code, place = np.empty((2, sum(map(len, parts))), dtype=np.intp)
        for number, rows in enumerate(members):
            code[rows] = number
            place[rows] = np.arange(len(rows))
        law = cls(tuple(parts), code, place)
        if index is not None:
            object.__setattr__(law, "_index", index)
        return law

    def __getitem__(self, rows: Any) -> Self:
        """The laws of these rows; the parts stay whole."""
        picked = np.arange(len(self))[_row_selection(rows, len(self))]
        law = type(self)(self.parts, self.code[picked], self.place[picked])
        if self._index is not None:
            object.__setattr__(law, "_index", self._index[picked])
        return law

    @property
    def has_atoms(self) -> bool:
        """Whether any part has atoms."""
        return any(part.has_atoms for part in self.parts)

    @property
    def is_discrete(self) -> bool:
        """Whether all parts are discrete."""
        return all(part.is_discrete for part in self.parts)

    @property
    def on_integers(self) -> bool:
        """Whether all parts are counts."""
        return all(part.on_integers for part in self.parts)

    @property
    def tail_index(self) -> Array:
        """Each row's own."""
        return self._spread(lambda law: law.tail_index)

    @property
    def support(self) -> tuple[Array, Array]:
        """Each row's own."""
        return self._spread(lambda law: law.support[0]), self._spread(lambda law: law.support[1])

    def _spread(self, compute: Callable[..., Array], *points: Array, results: tuple[int, ...] = ()) -> Array:
        """Compute on each part's rows and put the results back in order; several results a point on a last axis."""
        if not points and sum(map(len, self.parts)) <= 2 * len(self):
            return self._gathered([compute(part) for part in self.parts])
        width = [p.shape[1] for p in points if p.ndim == 2]
        out = np.empty((len(self), *width, *results))
        for code, part in enumerate(self.parts):
            mine = np.flatnonzero(self.code == code)
            if len(mine):
                own = [p[mine] if p.ndim and len(p) == len(self) else p for p in points]
                place = self.place[mine]
                whole = len(place) == len(part) and np.array_equal(place, np.arange(len(part)))
                out[mine] = compute(part if whole else part[place], *own)
        return out

    def _gathered(self, results: Sequence[Array]) -> Array:
        """Each row's own of what all rows of the parts have."""
        first = np.cumsum([0, *map(len, self.parts[:-1])])
        return np.asarray(np.concatenate(results).take(first[self.code] + self.place, axis=0))

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Normal scores by each row's own law."""
        return self._spread(lambda law, v: law.to_normal(v, side), y)

    def from_normal(self, z: Array) -> Array:
        """Quantiles by each row's own law."""
        return self._spread(lambda law, v: law.from_normal(v), z)

    def log_slope(self, y: Array) -> Array:
        """Slopes by each row's own law."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """Both by each row's own law."""
        both = self._spread(lambda law, v: np.stack(law.score_and_log_slope(v), axis=-1), y, results=(2,))
        return both[..., 0], both[..., 1]

    def interval(self, coverage: float = 0.9) -> Array:
        """Central intervals by each row's own law."""
        return self._spread(lambda law: law.interval(coverage), results=(2,))

    def mean(self) -> Array:
        """Expectations by each row's own law."""
        return self._spread(lambda law: law.mean())

    def var(self) -> Array:
        """Variances by each row's own law."""
        return self._spread(lambda law: law.var())

    def crps(self, y: Any) -> Array:
        """CRPS by each row's own law."""
        return self._spread(lambda law, v: law.crps(v), self._outcomes(y))


def concatenate(laws: Sequence[Distribution]) -> Distribution:
    """Lay batches end to end: one batch of their kind if they have a common form, a `Joined` one if not.

    >>> from calibrant import Normal
    >>> concatenate([Normal([0.0, 1.0], 1.0), Normal([2.0], 3.0)])
    Normal(n=3)
    """
    laws = list(laws)
    if not laws:
        raise ValueError("`laws` must have at least one law; it is empty.")
    odd: Any = next((law for law in list[Any](laws) if not isinstance(law, Distribution)), None)
    if odd is not None:
        raise TypeError(f"`laws` must be distributions; got {type(odd).__name__}. Wrap it with as_distribution.")
    if all(type(law) is type(laws[0]) for law in laws) and not isinstance(laws[0], Joined):
        whole = type(laws[0])._join(laws)
        if whole is not None:
            return whole
    lengths = [len(law) for law in laws]
    law = Joined(tuple(laws), np.repeat(np.arange(len(laws)), lengths), np.concatenate([np.arange(n) for n in lengths]))
    if all(part.index is not None for part in laws):
        object.__setattr__(law, "_index", laws[0].index.append([part.index for part in laws[1:]]))
    return law
