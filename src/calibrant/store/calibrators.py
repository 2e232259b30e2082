"""Saving and loading fitted calibrators."""

from __future__ import annotations

import datetime
import os
from typing import Any

from sklearn.base import MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from .archive import read, write
from .codec import Decoder, Encoder
from .registry import names_by_class
from .soundness import check_forecasts, check_parts

FORMAT = 1


def save(calibrator: Any, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None) -> None:
    """Save a fitted calibrator: one file, numbers and texts only, the same bits when it is loaded.

    Parameters
    ----------
    calibrator : fitted calibrator of this library
        Chains, groups and choices too, as long as their parts are of this library.
    path : path
        Written exactly as given, whole or not at all.
    metadata : dict, optional
        What else to keep, as JSON holds it: column names, measures before and after.

    Examples
    --------
    >>> import tempfile
    >>> from calibrant import Normal, QuantileCalibrator
    >>> cal = QuantileCalibrator().fit(Normal([0.0, 1.0, 2.0], 1.0), [0.5, 0.5, 3.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(cal, f"{folder}/shop.calibrant")
    ...     load(f"{folder}/shop.calibrant")
    QuantileCalibrator()
    """
    if isinstance(calibrator, MetaEstimatorMixin):
        part = "each of its .calibrators_" if getattr(calibrator, "ensemble", False) else "its .calibrator_, if any"
        raise TypeError(
            f"a {type(calibrator).__name__} has a model inside, which is not ours to save. Save {part}, and the model "
            "by its own means."
        )
    if isinstance(calibrator, type) or type(calibrator) not in names_by_class():
        raise TypeError(f"`calibrator` must be a fitted calibrator of this library; got {calibrator!r}.")
    check_is_fitted(calibrator)
    encode = Encoder()
    state = encode(calibrator)
    text = {
        "format": "calibrant",
        "version": FORMAT,
        "library": __version__,
        "saved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": type(calibrator).__name__,
        "rows": int(getattr(calibrator, "n_rows_", 0)),
        "metadata": metadata or {},
        "state": state,
    }
    write(path, text, encode.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a calibrator that `save` wrote. Nothing in the file is executed.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a whole, sound file of a version that this library knows.
    """
    text, arrays = read(path)
    name = os.fspath(path)
    _check_version(text, name)
    try:
        calibrator = Decoder(arrays)(text.get("state"))
        if type(calibrator) not in names_by_class():
            raise ValueError("it holds no calibrator.")
        check_parts(calibrator)
        check_is_fitted(calibrator)
        check_forecasts(calibrator)
    except Exception as reason:  # whatever a forged file makes go wrong
        raise ValueError(f"`{name}` holds no sound calibrator: {reason}") from reason
    return calibrator


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is known of a saved calibrator without loading it: method, rows, date, library version, metadata."""
    text, _ = read(path, only_text=True)
    _check_version(text, os.fspath(path))
    return {name: text.get(name) for name in ("method", "rows", "saved", "library", "version", "metadata")}


def _check_version(text: dict[str, Any], name: str) -> None:
    if text.get("format") != "calibrant":
        raise ValueError(f"`{name}` is no calibrator file, or damaged: its text is of another kind.")
    if text.get("version") != FORMAT:
        raise ValueError(
            f"`{name}` has format version {text.get('version')!r}; this library ({__version__}) reads version {FORMAT}."
        )
