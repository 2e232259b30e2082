"""One table of the measures that matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..distributions.base import Distribution
from ._inputs import paired
from .catalogue import measures_of
from .evaluation import LawEvaluation


@dataclass(frozen=True, eq=False)
class Summary(Mapping[str, Any]):
    """A table of measures, one column per forecaster; what could not be computed is NaN, with the reason in ``notes``.

    ``s["crps"]`` is a number if there is one column, else a dict of numbers by column.
    """

    columns: tuple[str, ...]
    values_: dict[str, tuple[float, ...]]
    notes: dict[str, str]  # measure -> why it is missing

    def __getitem__(self, measure: str) -> Any:
        """The value of a measure, by column if there are several."""
        line = self.values_[measure]
        return line[0] if len(line) == 1 else dict(zip(self.columns, line, strict=True))

    def __iter__(self) -> Iterator[str]:
        """Names of the measures."""
        return iter(self.values_)

    def __len__(self) -> int:
        """Return the number of measures."""
        return len(self.values_)

    def to_frame(self) -> Any:
        """Pandas frame: measures by columns."""
        import pandas as pd

        return pd.DataFrame.from_dict(self.values_, orient="index", columns=list(self.columns))

    def __repr__(self) -> str:
        """The table."""
        return str(self)

    def __str__(self) -> str:
        """The table as aligned text, with the reasons for missing values below."""
        body = [[name, *map(_shown, line)] for name, line in self.values_.items()]
        lines = [["", *self.columns], *body] if any(self.columns) else body
        return "\n".join([*aligned(lines), *(f"{name}: {reason}" for name, reason in self.notes.items())])


def summary(y_true: Any, dist: Any, *, sample_weight: Any = None) -> Summary:
    """All measures that matter, in one table, for one forecaster or several side by side.

    Scores (``nll``, ``crps``, ``pinball_loss``: smaller is better), coverage of the 50, 90 and 99 % intervals,
    ``calibration_error`` beside the ``calibration_floor`` of a perfect forecaster, ``anderson_darling`` (A², about 1 if
    calibrated), ``mean_std`` (sharpness), ``mae`` of the medians, ``rmse`` of the means, and ``ence``.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes.
    dist : Distribution, or what ``as_distribution`` accepts, or a dict of Distributions by name
        n forecasts, or several forecasters' for the same outcomes.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Returns
    -------
    Summary
        Prints as a table; ``summary(...)["crps"]`` is a number; ``to_frame()`` is a pandas frame.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Normal, metrics
    >>> y = np.random.default_rng(0).normal(size=1000)
    >>> table = metrics.summary(y, {"right": Normal(0 * y, 1.0), "narrow": Normal(0 * y, 0.5)})
    >>> table["coverage_90"]
    {'right': 0.914, 'narrow': 0.612}
    """
    several = isinstance(dist, Mapping) and len(dist) > 0 and all(isinstance(d, Distribution) for d in dist.values())
    laws = {str(name): law for name, law in dist.items()} if several else {"": dist}
    measures = measures_of("regression", "headline", "trial", "summary")
    lines: dict[str, list[float]] = {measure.key: [] for measure in measures}
    notes: dict[str, str] = {}
    for column, forecasts in laws.items():
        y, law, weights = paired(y_true, forecasts, sample_weight)
        evaluation, w = LawEvaluation(law, y), np.ones(len(y)) if weights is None else weights
        for measure in measures:
            try:
                lines[measure.key].append(measure.of(evaluation, w))
            except (ValueError, TypeError) as reason:
                lines[measure.key].append(np.nan)
                notes[f"{measure.key} of {column}" if column else measure.key] = str(reason)
    return Summary(tuple(laws), {name: tuple(line) for name, line in lines.items()}, notes)


def aligned(lines: list[list[str]]) -> list[str]:
    """Lines of a table, the first column to the left and the others to the right.

    >>> aligned([["", "a"], ["long", "12"]])
    ['       a', 'long  12']
    """
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return [
        "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    ]


def _shown(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4g}"
