"""A summary for each group of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from .base import Summary


@dataclass(frozen=True, eq=False, repr=False)
class GroupedSummary(Summary):
    """Summaries by group; merging merges those of the same group.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.summaries import ScoreSummary
    >>> one, two = (GroupedSummary({group: ScoreSummary.of_scores(np.zeros(3))}) for group in "ab")
    >>> {group: part.n_rows for group, part in (one + two + one).groups.items()}
    {'a': 6, 'b': 3}
    """

    groups: dict[Any, Any]

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows of all groups."""
        return sum(part.n_rows for part in self.groups.values())

    @property
    def about(self) -> str:
        """What the summaries are of."""
        return f"groups of {next(iter(self.groups.values())).about}"

    @property
    def level(self) -> int | None:
        """Each group has its own."""
        return None

    def whole(self) -> Any:
        """The summary of all rows; neighbours are merged, then what came of it, so that no point is moved often."""
        waiting: list[tuple[int, Any]] = []
        for part in self.groups.values():
            size, whole = 1, part
            while waiting and waiting[-1][0] == size:
                size, whole = 2 * size, waiting.pop()[1].merge(whole)
            waiting.append((size, whole))
        while len(waiting) > 1:
            _, last = waiting.pop()
            waiting.append((0, waiting.pop()[1].merge(last)))
        return waiting[0][1]

    def _merged(self, other: GroupedSummary) -> Self:
        both = {name: part.merge(other.groups[name]) for name, part in self.groups.items() if name in other.groups}
        return replace(self, groups=self.groups | other.groups | both)

    def _decayed(self, factor: float) -> Self:
        return replace(self, groups={name: part.decay(factor) for name, part in self.groups.items()})
