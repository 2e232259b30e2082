"""Maps of the probabilities of ten classes, and sets of labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from .job import OURS, Data, Job, Quality

SIZES, CLASSES = (10_000, 100_000), 10
COVERAGE = 0.9


# ---- arrays ----
def ten(n: int) -> Data:
    """Logits that are too large, by another factor and shift in each class."""
    rng = np.random.default_rng(0)
    f = 1.5 * rng.normal(size=(2 * n, CLASSES))
    y = (f + rng.gumbel(size=f.shape)).argmax(axis=1)
    x = f * np.linspace(1.4, 2.2, CLASSES) + np.linspace(-0.5, 0.5, CLASSES) + 0.2 * np.roll(f, 1, axis=1)
    p = softmax(x, axis=1)
    return Data(p=p[:n], y=y[:n], new=p[n:], new_y=y[n:])


class AsGiven(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose features are its probabilities."""

    def __init__(self) -> None:
        self.classes_ = np.arange(CLASSES)
        self.n_features_in_ = CLASSES
        self.is_fitted_ = True

    def fit(self, X: Any, y: Any) -> AsGiven:
        return self

    def predict_proba(self, X: Any) -> Any:
        return X

    def predict(self, X: Any) -> Any:
        return np.argmax(X, axis=1)


# ---- quality ----
def _log_loss(d: Data, result: Any) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return -np.log(np.asarray(result, dtype=np.float64)[np.arange(len(d.new_y)), d.new_y])


def _brier(d: Data, result: Any) -> np.ndarray:
    return np.square(np.asarray(result, dtype=np.float64) - np.eye(CLASSES)[d.new_y]).sum(axis=1)


def _cost(d: Data, sets: Any) -> np.ndarray:
    """Labels in the set, and ten for a miss."""
    sets = np.asarray(sets, dtype=bool)
    return sets.sum(axis=1) + CLASSES * ~sets[np.arange(len(d.new_y)), d.new_y]


def _covered(d: Data, sets: Any) -> float:
    return float(np.asarray(sets, dtype=bool)[np.arange(len(d.new_y)), d.new_y].mean())


LOG_LOSS = Quality("log loss", _log_loss)
BRIER = Quality("Brier score", _brier)
COST = Quality("set size + 10 x miss", _cost)


# ---- entries ----
def _ours(name: str, **settings: Any) -> Any:
    def entry(d: Data) -> Any:
        import calibrant

        return getattr(calibrant, name)(**settings).fit(d.p, d.y).transform(d.new)

    return entry


def _one_vs_rest(d: Data) -> Any:
    from calibrant import IsotonicCalibrator, OneVsRestCalibrator

    return OneVsRestCalibrator(IsotonicCalibrator()).fit(d.p, d.y).transform(d.new)


def _netcal(module: str, name: str) -> Any:
    def entry(d: Data) -> Any:
        from importlib import import_module

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(import_module(f"netcal.{module}"), name)().fit(d.p, d.y).transform(d.new)

    return entry


def _probmetrics(method: str) -> Any:
    def entry(d: Data) -> Any:
        from probmetrics.calibrators import get_calibrator

        return get_calibrator(method).fit(d.p, d.y).predict_proba(d.new)

    return entry


def _sklearn(method: str) -> Any:
    def entry(d: Data) -> Any:
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.frozen import FrozenEstimator

        return CalibratedClassifierCV(FrozenEstimator(AsGiven()), method=method).fit(d.p, d.y).predict_proba(d.new)

    return entry


def _our_sets(score: str) -> Any:
    def entry(d: Data) -> Any:
        from calibrant import ConformalSets

        return ConformalSets(score, random_state=0).fit(d.p, d.y).predict_sets(d.new, COVERAGE)

    return entry


def _mapie_sets(score: str) -> Any:
    def entry(d: Data) -> Any:
        from mapie.classification import SplitConformalClassifier

        model = SplitConformalClassifier(
            AsGiven(), confidence_level=COVERAGE, conformity_score=score, prefit=True, random_state=0
        )
        return model.conformalize(d.p, d.y).predict_set(d.new)[1][:, :, 0]

    return entry


def _crepes_sets(d: Data) -> Any:
    from crepes import ConformalClassifier

    model = ConformalClassifier().fit(1 - d.p[np.arange(len(d.y)), d.y])
    return model.predict_set(1 - d.new, confidence=COVERAGE, smoothing=False)


# ---- jobs ----
def _map(name: str, words: str, quality: Quality, entries: dict[str, Any]) -> Job:
    return Job(f"classes {name}", words, SIZES, ten, quality, entries, "one pass")


JOBS = (
    _map(
        "temperature",
        "Temperature, ten classes",
        LOG_LOSS,
        {
            OURS: _ours("TemperatureCalibrator"),
            "scikit-learn": _sklearn("temperature"),
            "netcal": _netcal("scaling", "TemperatureScaling"),
            "probmetrics": _probmetrics("temp-scaling"),
        },
    ),
    _map(
        "vector",
        "Factor and shift for each of ten classes",
        LOG_LOSS,
        {
            OURS: _ours("VectorCalibrator"),
            "netcal": _netcal("scaling", "LogisticCalibration"),
            "probmetrics": _probmetrics("svs"),
        },
    ),
    _map(
        "dirichlet",
        "Dirichlet map: a full matrix",
        LOG_LOSS,
        {OURS: _ours("DirichletCalibrator"), "probmetrics": _probmetrics("sms")},
    ),
    _map(
        "isotonic",
        "Isotonic map for each class against the rest",
        BRIER,
        {
            OURS: _one_vs_rest,
            "scikit-learn": _sklearn("isotonic"),
            "netcal": _netcal("binning", "IsotonicRegression"),
            "probmetrics": _probmetrics("isotonic"),
        },
    ),
    Job(
        "sets lac",
        "Label sets of 90 %, least ambiguous",
        SIZES,
        ten,
        COST,
        {OURS: _our_sets("lac"), "MAPIE": _mapie_sets("lac"), "crepes": _crepes_sets},
        "sort",
        {"coverage": _covered},
    ),
    Job(
        "sets aps",
        "Label sets of 90 %, adaptive",
        SIZES,
        ten,
        COST,
        {OURS: _our_sets("aps"), "MAPIE": _mapie_sets("aps")},
        "sort",
        {"coverage": _covered},
    ),
    Job(
        "sets raps",
        "Label sets of 90 %, adaptive with a penalty",
        SIZES,
        ten,
        COST,
        {OURS: _our_sets("raps"), "MAPIE": _mapie_sets("raps")},
        "sort",
        {"coverage": _covered},
    ),
)
