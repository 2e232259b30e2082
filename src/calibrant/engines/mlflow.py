"""Calibrators in MLflow: logged, loaded and served as the file that `save` writes. Needs mlflow, pyarrow and narwhals.

The model is of MLflow's flavour python_function with this module as its loader, so that nothing is pickled, and loading
executes nothing that is in the file. It takes tables of forecasts and gives the columns that `engines.apply` adds.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._version import __version__
from ..series import FrameCalibrator
from ..store.calibrators import describe, load, save
from ..tables.columns import Columns
from .anywhere import ADDED, apply

_FILE = "model.calibrant"
_CONFIG: dict[str, Any] = {"levels": [], "coverage": [], "with_mean": False, "with_std": False, "cdf": []}


def log_model(calibrator: Any, name: str, **options: Any) -> Any:
    """Log a fitted calibrator to the current run of MLflow.

    Parameters
    ----------
    calibrator : fitted calibrator, or path of a saved one
        A file remembers the columns that it was fitted to, if `calibrant fit` wrote it.
    name : str
        Of the model in MLflow.
    **options
        For ``mlflow.pyfunc.log_model``: ``registered_model_name``, ``input_example``, ... ``model_config`` says which
        column is what and which to add, as `calibrant.engines.apply` has it: ``{"mean": "mu", "std": "sigma",
        "coverage": [0.9]}``; ``mlflow.pyfunc.load_model`` takes others. From an ``input_example`` follows the
        signature.

    Returns
    -------
    mlflow.models.model.ModelInfo

    Notes
    -----
    In a run::

        from calibrant.engines import mlflow as models

        info = models.log_model(calibrator, "shop", input_example=frame)
        mlflow.pyfunc.load_model(info.model_uri).predict(frame)
    """
    with _file_of(calibrator) as path:
        return _pyfunc().log_model(name=name, **_parts(path, options))


def save_model(calibrator: Any, path: Any, **options: Any) -> None:
    """Save a fitted calibrator as a folder of MLflow's; the arguments are those of `log_model`."""
    with _file_of(calibrator) as file:
        _pyfunc().save_model(path=path, **_parts(file, options))


def load_model(uri: str) -> Any:
    """The calibrator itself of a model that `log_model` or `save_model` made."""
    _pyfunc()
    from mlflow.artifacts import download_artifacts

    return load(next(Path(download_artifacts(uri)).rglob(_FILE)))


class ServedCalibrator:
    """What MLflow serves: tables of forecasts in, calibrated columns out.

    Parameters
    ----------
    path : path of a saved calibrator
    settings : dict
        Roles of columns and what to add, as `engines.apply` has them.
    """

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.calibrator: Any = load(path)
        kept, told = describe(path)["metadata"].get("columns"), settings.keys() - ADDED.keys()
        self.columns = None if kept is None or told else Columns.from_dict(kept)
        self.settings = settings

    def predict(self, frame: Any, params: dict[str, Any] | None = None) -> Any:
        """Calibrated columns of the rows of a frame; of a `FrameCalibrator` the whole frame."""
        settings = {**self.settings, **(params or {})}
        if isinstance(self.calibrator, FrameCalibrator):
            return self.calibrator.transform(frame)
        made = apply(self.calibrator, frame, self.columns, **settings)
        return made[[name for name in made.columns if name not in set(frame.columns)]]


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> ServedCalibrator:
    """What MLflow calls."""
    return ServedCalibrator(Path(path), dict(model_config or {}))


@contextmanager
def _file_of(calibrator: Any) -> Iterator[Path]:
    """The saved calibrator under the name it has in MLflow, while it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _FILE
        if isinstance(calibrator, (str, Path)):
            load(calibrator)
            shutil.copyfile(calibrator, path)
        else:
            save(calibrator, path)
        if not hasattr(load(path), "transform"):
            raise TypeError(f"`calibrator` must be a fitted calibrator; got {calibrator!r}.")
        yield path


def _parts(path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """What MLflow is told: the file, who loads it, settings that may be changed later, columns in and out."""
    config = {**_CONFIG, **(options.get("model_config") or {})}
    found = {"loader_module": __name__, "data_path": str(path), **options, "model_config": config}
    if not options.keys() & {"pip_requirements", "conda_env"}:
        found["pip_requirements"] = [f"calibrant[app]=={__version__}"]
    example = options.get("input_example")
    if example is not None and "signature" not in options:
        from mlflow.models import infer_signature

        found["signature"] = infer_signature(example, ServedCalibrator(path, config).predict(example))
    return found


def _pyfunc() -> Any:
    try:
        import mlflow.pyfunc
    except ImportError as reason:
        raise ImportError("engines.mlflow needs mlflow, which is not installed: pip install mlflow.") from reason
    return mlflow.pyfunc
