"""Groups of rows calibrated from a summary of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from sklearn.base import clone

from ..summaries import GroupedSummary, Summary
from .base import read_for
from .contract import check_calibrator
from .labels import labels_of, rows_by_label
from .rows import usable_rows
from .summarised import Summarised

PSEUDO_ROWS = 40  # of the whole sample that each group sees besides its own
_AT_ONCE = 256  # groups that are fitted
LEAST_SHARE = 0.2  # of the weight that a group's own rows must have for a fit of its own


class SummarisedGroups(Summarised):
    """The part of `GroupedCalibrator` that works on summaries, if those of its calibrator can be calibrated too."""

    calibrator: Any
    strength: float

    @property
    def summary_is_enough(self) -> bool:
        """Whether it is for the calibrator of each group."""
        return bool(getattr(self.calibrator, "summary_can_be_calibrated", False))

    @property
    def _learns_from(self) -> type[Summary]:
        return GroupedSummary

    def summarise(self, forecasts: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Summary:
        """All that would be learned from these rows; see `fit` for the arguments."""
        self._require_enough()
        laws = read_for(check_calibrator(self.calibrator), forecasts)
        labels = labels_of(groups, len(laws))
        rows, y, weights = usable_rows(len(laws), y, sample_weight)
        members = rows_by_label(labels[rows])
        return GroupedSummary(self.calibrator._summarise_each(laws[rows], y, weights, members))

    def partial_fit(self, forecasts: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows, as if they had come with those before; see `fit` for the arguments."""
        return self._continued(lambda _: self.summarise(forecasts, y, groups=groups, sample_weight=sample_weight))

    def _fit_summary(self, summary: GroupedSummary) -> None:
        self._check_strength()
        whole = summary.whole()
        self.common_ = clone(self.calibrator).fit_summary(whole)
        pull = self.common_.calibrated_summary(whole).evenly(PSEUDO_ROWS, self.strength)
        heard = {name: part for name, part in summary.groups.items() if self._has_a_say(float(part.grid.mass[0].sum()))}
        self._fit_parts(list(heard), lambda name: self.common_.calibrated_summary(heard[name]), pull)

    def _fit_parts(self, names: list[Any], own: Callable[[Any], Any], pull: Any) -> None:
        """Fit a calibrator to each group's own summary of calibrated forecasts, and to the one that stands for all."""
        self.calibrators_ = {}
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            seen = [own(name) if pull is None else own(name).merge(pull) for name in some]
            for name, fitted in zip(some, clone(self.calibrator).fit_again(seen), strict=True):
                del fitted.summary_  # the group's own is in that of all groups
                self.calibrators_[name] = fitted

    def _has_a_say(self, rows: float) -> bool:
        """Whether so many rows of a group have a fifth of the weight beside those that stand for all."""
        return rows >= LEAST_SHARE * (rows + self.strength)

    def _check_strength(self) -> None:
        if not self.strength >= 0:
            raise ValueError(f"`strength` must be at least 0; got {self.strength}.")
