"""Saving and loading fitted calibrators."""

from __future__ import annotations

import datetime
import os
import warnings
from typing import Any, Protocol, TypedDict

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from .archive import in_a_line, read, write
from .codec import Decoder, Encoder
from .packing import MANY, packed, unpacked
from .registry import names_by_class
from .soundness import check_parts

FORMAT, PACKED = 1, 2  # versions of files: an array a member, or small arrays together


class SavedCalibrator(Protocol):
    """What `load` gives: a fitted calibrator of distributions, points or class scores."""

    def transform(self, forecasts: Any, **more: Any) -> Any:
        """Calibrated forecasts; ``groups=`` for one that was fitted by groups, ``X=`` for one with features."""


class Description(TypedDict):
    """What is known of a saved calibrator without loading it."""

    method: str
    rows: int
    saved: str
    library: str
    version: int
    metadata: dict[str, Any]


_TYPES = {"method": str, "rows": int, "saved": str, "library": str, "version": int, "metadata": dict}


def save(calibrator: Any, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None) -> None:
    """Save a fitted calibrator or forecaster: one file, numbers and texts only, the same bits when it is loaded.

    Parameters
    ----------
    calibrator : fitted calibrator or forecaster of this library
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
    many = len(encode.arrays) > MANY
    arrays, index = packed(encode.arrays) if many else (encode.arrays, None)
    text = {
        "format": "calibrant",
        "version": PACKED if many else FORMAT,
        "library": __version__,
        "saved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": type(calibrator).__name__,
        "rows": int(getattr(calibrator, "n_rows_", 0)),
        "metadata": metadata or {},
        "state": state,
        **({"arrays": index} if many else {}),
    }
    write(path, text, arrays)


def load(path: str | os.PathLike[str]) -> SavedCalibrator:
    """Load a calibrator or forecaster that `save` wrote. Nothing in the file is executed.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a whole, sound file of a version that this library knows.
    """
    text, arrays = read(path)
    name = os.fspath(path)
    _check_head(text, name)
    try:
        arrays = unpacked(arrays, text.get("arrays")) if text["version"] == PACKED else arrays
        calibrator = Decoder(arrays)(text.get("state"))
        if not hasattr(type(calibrator), "_check_forecasts"):
            raise ValueError("it holds no calibrator.")
        check_parts(calibrator)
        check_is_fitted(calibrator)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            calibrator._check_forecasts()
    except Exception as reason:  # whatever a forged file makes go wrong
        raise ValueError(f"`{name}` holds no sound calibrator: {in_a_line(reason)}") from reason
    return calibrator  # type: ignore[no-any-return]


def describe(path: str | os.PathLike[str]) -> Description:
    """What is known of a saved calibrator without loading it: method, rows, date, library version, metadata.

    The digest is checked: it is what was saved.
    """
    text, _ = read(path, only_text=True)
    _check_head(text, os.fspath(path))
    known: Any = {name: text[name] for name in _TYPES}
    return known  # type: ignore[no-any-return]


def _check_head(text: dict[str, Any], name: str) -> None:
    """Of a format and version that are known, with all that is told of a calibrator."""
    if text.get("format") != "calibrant":
        raise ValueError(f"`{name}` is no calibrator file, or damaged: its text is of another kind.")
    version = text.get("version")
    if type(version) is not int or version not in (FORMAT, PACKED):
        raise ValueError(
            f"`{name}` has format version {version!r:.60}; this library ({__version__}) reads {FORMAT} and {PACKED}."
        )
    wrong = [key for key, kind in _TYPES.items() if type(text.get(key)) is not kind]
    if wrong:
        raise ValueError(f"`{name}` is no calibrator file, or damaged: its `{wrong[0]}` is {text.get(wrong[0])!r:.60}.")
