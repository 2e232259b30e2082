"""Which column of a table is what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from .._checks import Array
from ..adapters.class_labels import as_labels
from ..adapters.class_scores import KINDS, ClassScores, as_scores
from ..adapters.names import NAMES
from ..distributions import Distribution, Ensemble, Normal, Quantiles

Forecasts = Distribution | ClassScores | Array

_LISTS = ("forecast", "keys", "group", "feature", "category")


@dataclass(frozen=True)
class Columns:
    """The roles of a table's columns.

    Attributes
    ----------
    kind : {"normal", "quantiles", "samples", "points", "classes"}
        What the forecasts are.
    forecast : tuple of str
        The columns that they are made of: mean and standard deviation, one a level, one a sample, one a class.
    keys : tuple
        Levels of quantiles, labels of classes. A single column of two classes is the probability of the second.
    target, weight, time : str, optional
    group : tuple of str
    id : str, optional
        What rows are called.
    feature : tuple of str
        What else is known of rows, for calibrators that take features.
    category : tuple of str
        Those of the features that are texts; the others are numbers.
    horizon : str, optional
        How far ahead forecasts are.
    scores_are : {"probabilities", "logits", "margins"}
        What the columns of classes hold.

    Examples
    --------
    >>> columns = Columns("normal", ("mu", "sigma"), target="y")
    >>> columns.forecasts([np.zeros(2), np.ones(2)])
    Normal(n=2)
    >>> Columns.from_dict(columns.to_dict()) == columns
    True
    """

    kind: str
    forecast: tuple[str, ...]
    keys: tuple[Any, ...] = ()
    target: str | None = None
    weight: str | None = None
    group: tuple[str, ...] = ()
    time: str | None = None
    scores_are: str = "probabilities"
    id: str | None = None
    feature: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    horizon: str | None = None

    @property
    def task(self) -> str:
        """What kind of problem this is."""
        return "classification" if self.kind == "classes" else "regression"

    def without(self, *roles: str) -> Columns:
        """The same, some roles left out."""
        nothing: dict[str, Any] = dict.fromkeys(roles)
        return replace(self, **nothing)

    def without_features(self) -> Columns:
        """The same, features left out."""
        return replace(self, feature=(), category=())

    def in_order(self, labels: Iterable[Any]) -> Columns:
        """Columns of classes in the order of a calibrator's labels; a single one is the second label's.

        >>> Columns("classes", ("p_b", "p_a"), ("b", "a")).in_order(["a", "b"]).forecast
        ('p_a', 'p_b')
        """
        known = tuple(str(label) for label in labels)
        wanted = [*known[1:]] if len(self.forecast) == 1 else [*known]
        keys = [str(key) for key in self.keys] or wanted  # the name of a single column may tell no label
        given = dict(zip(keys[-len(self.forecast) :], self.forecast, strict=True))
        if set(given) != set(wanted):
            raise ValueError(f"the calibrator is for classes {', '.join(wanted)}; got columns for {', '.join(given)}.")
        return replace(self, forecast=tuple(given[label] for label in wanted), keys=known)

    def names(self) -> list[str]:
        """Columns to read."""
        others = [name for name in (self.target, self.weight, self.time, self.id, self.horizon) if name]
        return list(dict.fromkeys([*self.forecast, *others, *self.group, *self.feature]))

    def types(self) -> dict[str, Any]:
        """What columns are to be read as where a file has no types."""
        numbers = [*self.forecast, self.weight, self.horizon, None if self.kind == "classes" else self.target]
        texts = [*self.group, *self.category, self.id, self.target if self.kind == "classes" else None]
        found = {name: pa.float64() for name in numbers if name}
        return {name: pa.string() for name in texts if name} | found

    def forecasts(self, parts: Sequence[Array]) -> Forecasts:
        """Forecasts made of the forecast columns."""
        if self.kind == "normal":
            return Normal(*parts)
        if self.kind == "points":
            return parts[0]
        values = np.column_stack(parts)
        if self.kind == "quantiles":
            return Quantiles(np.array(self.keys, dtype=np.float64), values)
        if self.kind == "samples":
            return Ensemble(values)
        scores = as_scores(values, self.scores_are)
        return replace(scores, classes=as_labels(self.keys)) if len(self.keys) == scores.n_classes else scores

    def any_forecast(self) -> list[Array]:
        """The forecast columns of one row with some forecast of this kind.

        >>> Columns("normal", ("mu", "sigma")).any_forecast()
        [array([0.]), array([1.])]
        """
        many = len(self.forecast)
        values = np.full(many, 1 / max(many, 2)) if self.kind == "classes" else np.arange(many, dtype=np.float64)
        return list(values[:, None])

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, without what is not there."""
        found = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: value for name, value in found.items() if value or name not in ("feature", "category")}

    @classmethod
    def from_dict(cls, saved: Any) -> Self:
        """Back from `to_dict`; what is there may come from anywhere."""
        known = {field.name for field in fields(cls)}
        if not isinstance(saved, dict) or not {"kind", "forecast"} <= saved.keys() <= known or not _is_sound(saved):
            raise ValueError("the columns that the calibrator was fitted to are not known; say which is what.")
        lists = {name: tuple(saved[name]) for name in _LISTS if name in saved}
        return cls(**{**saved, **lists})

    def __str__(self) -> str:
        listed = ", ".join(f"`{name}`" for name in self.forecast[:6])
        more = f" and {len(self.forecast) - 6} more" if len(self.forecast) > 6 else ""
        return f"{NAMES[self.kind]} in {listed}{more}"


def _is_sound(saved: dict[str, Any]) -> bool:
    """Whether lists are lists, names are texts, and kinds are some that are known."""
    lists = {name: saved[name] for name in _LISTS if name in saved}
    if not all(isinstance(value, (list, tuple)) for value in lists.values()):
        return False
    single = [value for name, value in saved.items() if name not in lists]
    names = [name for role, value in lists.items() if role != "keys" for name in value]
    texts = all(isinstance(value, str) for value in (*single, *names))
    keys = all(isinstance(key, (str, int, float)) for key in lists.get("keys", ()))
    parted = not texts or set(lists.get("category", ())) <= set(lists.get("feature", ()))
    return texts and keys and parted and saved["kind"] in NAMES and saved.get("scores_are", KINDS[0]) in KINDS
