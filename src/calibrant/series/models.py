"""Which columns of a long frame are whose forecasts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..adapters.names import level_of

# AutoARIMA-lo-90, NHITS-median, NHITS_ql0.1, NHITS-q-10: what comes before is the model
_STEM = re.compile(
    r"(?P<model>.+?)(?:-(?:lo|hi)-\d+(?:\.\d+)?|-median|_ql?0?\.\d+|-q-\d+(?:\.\d+)?|-ql?0?\.\d+)", re.IGNORECASE
)


class ModelColumns(NamedTuple):
    """The columns of a model's forecasts.

    Attributes
    ----------
    name : str
    columns : tuple of str
        Of rising levels; a point forecast is the only one, of no level.
    levels : tuple of float
    """

    name: str
    columns: tuple[str, ...]
    levels: tuple[float, ...]


def models_in(names: Iterable[str], wanted: Sequence[str] | None = None) -> list[ModelColumns]:
    """Models by their columns of quantiles or intervals; where there are none, every column is a point forecast.

    A column that bears a model's name is its median, unless another one is.

    Examples
    --------
    >>> [found] = models_in(["AutoARIMA", "AutoARIMA-lo-90", "AutoARIMA-hi-90", "price"])
    >>> found.name, found.columns, found.levels
    ('AutoARIMA', ('AutoARIMA-lo-90', 'AutoARIMA', 'AutoARIMA-hi-90'), (0.05, 0.5, 0.95))
    >>> models_in(["Naive", "Theta"], ["Theta"])
    [ModelColumns(name='Theta', columns=('Theta',), levels=())]
    """
    names, levels = list(names), dict[str, dict[float, str]]()
    for name in names:
        stem, level = _STEM.fullmatch(name), level_of(name)
        if stem is not None and level is not None:
            own = levels.setdefault(stem["model"], {})
            if level in own:
                raise ValueError(f"`{own[level]}` and `{name}` are both of level {level:g}. Keep one of them.")
            own[level] = name
    for model, own in levels.items():
        if model in names:
            own.setdefault(0.5, model)
    found = [_of_levels(model, own) for model, own in levels.items() if len(own) > 1]
    known = {model.name for model in found}
    if wanted is None:
        return found or [ModelColumns(name, (name,), ()) for name in names]
    missing = [name for name in wanted if name not in known and name not in names]
    if missing:
        there = ", ".join(f"`{name}`" for name in [*known, *names][:12])
        raise ValueError(f"`models` must be in the frame; `{missing[0]}` is not. It has {there}.")
    by_name = {model.name: model for model in found}
    return [by_name.get(name, ModelColumns(name, (name,), ())) for name in wanted]


def _of_levels(model: str, own: dict[float, str]) -> ModelColumns:
    levels = tuple(sorted(own))
    return ModelColumns(model, tuple(own[level] for level in levels), levels)
