"""From forecasts and outcomes to a page and the JSON beside it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from .._checks import column
from .._files import write_text
from .._types import Labels, Numbers, Weights
from ..adapters.class_scores import ClassScores
from ..calibration.contract import Beside
from ..distributions import Distribution
from ..engines.analysis import analyse
from ..engines.result import Result
from ..select.candidates import QUICK
from ..select.reading import looks_like_classes, read_forecasts

FOLDS, QUICK_FOLDS = 5, 3
_FIRST = b'{\n  "calibrant":'  # how the JSON begins


def report(
    forecasts: Any,
    y: Numbers | Labels,
    path: str | os.PathLike[str] | None = None,
    *,
    sample_weight: Weights = None,
    ids: Any = None,
    candidates: Any = None,
    **beside: Unpack[Beside],
) -> Result:
    """Look at forecasts and outcomes from every side, decide what to do, and write a page about it.

    The page is one HTML file that needs nothing else; beside it, with the ending .json, is the same for programs.
    Needs ``pip install calibrant[app]`` where a page is written.

    Parameters
    ----------
    forecasts : Distribution, class scores, point predictions, or what `as_distribution` takes
        n of them. Plain numbers (n,) are probabilities of the second of two classes where they look like it, else point
        predictions.
    y : array-like (n,)
        Outcomes or labels.
    path : path, optional
        The page to write; an older one is replaced. None: nothing is written.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.
    ids : array-like (n,), optional
        Names of the rows, for the table of the worst.
    candidates : calibrators by name or in a list, or "quick", optional
        Which to try; None: every sensible one, five folds. "quick": only those that are fitted at once, three folds.
    groups : array-like (n,), or dict of such columns by name, optional
        What to look at one by one. One correction for all then competes with one a group.
    time : array-like (n,), optional
        Dates or numbers. Each row is then calibrated by rows before it, and drift is looked for.
    X : array-like or frame (n, d), optional
        Features, for the candidates that take them and for the segments in which forecasts are wrong (see
        :func:`~calibrant.find_segments`); the result keeps those of its rows.
    classes : array-like (K,), optional
        Labels of the columns of class scores.

    Returns
    -------
    Result
        ``decision`` says how bad it is, why, what to do and what that costs, with its checks; ``calibrator`` is what is
        recommended, fitted to all rows; ``to_dict()`` is all of it.

    Examples
    --------
    >>> import calibrant
    >>> rng = np.random.default_rng(0)
    >>> mu, noise = rng.normal(size=(2, 1000))
    >>> found = calibrant.report(calibrant.Normal(mu, 0.5), mu + noise, candidates="quick")
    >>> found.decision.severity, found.decision.causes, found.chosen
    ('serious', ['too narrow by 2.1×'], 'scale')
    """
    if path is not None:
        check_beside(Path(path))
    quick = isinstance(candidates, str) and candidates == QUICK
    table = _read(forecasts, y)
    names = _ids(ids, len(table))
    result = analyse(
        table,
        y,
        candidates=candidates,
        sample_weight=sample_weight,
        axis=beside.pop("time", None),
        cv=QUICK_FOLDS if quick else FOLDS,
        **beside,
    )
    if names:
        result = replace(result, worst=[replace(row, id=names[row.row]) for row in result.worst])
    if path is not None:
        write_report(result, path)
    return result


def write_report(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write the page and the JSON beside it, each whole or not at all, and return the path of the JSON."""
    from .page import write

    beside = check_beside(Path(path))
    write(result, path)
    write_text(beside, result.to_json())
    return beside


def check_beside(path: Path) -> Path:
    """Where the JSON of a page goes: beside it; refused where something else is there.

    >>> check_beside(Path("no-such-folder/report.html")).name, check_beside(Path("no-such-folder/a.json")).name
    ('report.json', 'a.json.json')
    """
    beside = path.with_name(f"{path.name}.json") if path.suffix == ".json" else path.with_suffix(".json")
    if beside.is_file():
        with open(beside, "rb") as file:
            start = file.read(len(_FIRST))
        if start and start != _FIRST:
            raise FileExistsError(f"`{beside}` is there and no report of calibrant's; give the page another name.")
    return beside


def _read(forecasts: Any, y: Any) -> Any:
    """Distributions, class scores or point predictions."""
    if isinstance(forecasts, (Distribution, ClassScores)):
        return forecasts
    values = None if isinstance(forecasts, (dict, tuple)) else getattr(forecasts, "ndim", np.ndim(forecasts))
    if values == 1 and not looks_like_classes(forecasts, y):
        return column(forecasts, "forecasts")
    return read_forecasts(forecasts, y)


def _ids(ids: Any, rows: int) -> list[Any]:
    names = [] if ids is None else list(ids)
    if ids is not None and len(names) != rows:
        raise ValueError(f"`ids` must have one entry per forecast; got {len(names)} for {rows}.")
    return [name.item() if isinstance(name, np.generic) else name for name in names]
