"""Maps of the probability of an event: fitted to n rows, applied to n others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit

from .job import OURS, Data, Job, Quality

SIZES = (10_000, 1_000_000)
BINS, FOLDS = 15, 5


# ---- arrays ----
def events(n: int) -> Data:
    """Overconfident, biased and slightly bent scores of an event."""
    rng = np.random.default_rng(0)
    f = rng.normal(0, 1.5, 2 * n)
    y = (rng.random(2 * n) < expit(f)).astype(np.int64)
    x = 1.6 * f + 0.5 + 0.3 * np.sin(2 * f)
    p = expit(x)
    both = np.column_stack([1 - p, p])
    return Data(p=p[:n], x=x[:n], y=y[:n], both=both[:n], new=p[n:], new_x=x[n:], new_y=y[n:], new_both=both[n:])


def features(n: int) -> Data:
    """Ten features in pairs that tell the same, which a naive Bayes model takes for twice the evidence."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(2 * n, 5))
    X = np.hstack([half, half + 0.3 * rng.normal(size=half.shape)])
    y = (rng.random(2 * n) < expit(half @ np.array([1.0, -0.8, 0.6, 0.4, 0.0]))).astype(np.int64)
    return Data(X=X[:n], y=y[:n], new=X[n:], new_y=y[n:])


# ---- quality ----
def _event(d: Data, result: Any) -> np.ndarray:
    p = np.asarray(result, dtype=np.float64)
    p = p[:, -1] if p.ndim == 2 else p
    return np.where(d.new_y == 1, p, 1 - p)


def _log_loss(d: Data, result: Any) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return -np.log(_event(d, result))


LOG_LOSS = Quality("log loss", _log_loss)
BRIER = Quality("Brier score", lambda d, result: np.square(1 - _event(d, result)))


def calibration_error(d: Data, result: Any) -> float:
    """Of held-out rows, in 15 bins of equal width."""
    p = np.asarray(result, dtype=np.float64)
    p = p[:, -1] if p.ndim == 2 else p
    cell = np.minimum((p * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(cell, d.new_y - p, BINS)).sum() / len(p))


# ---- entries ----
def _ours(name: str, **settings: Any) -> Any:
    def entry(d: Data) -> Any:
        import calibrant

        return getattr(calibrant, name)(**settings).fit(d.p, d.y).transform(d.new)

    return entry


def _netcal(module: str, name: str, **settings: Any) -> Any:
    def entry(d: Data) -> Any:
        from importlib import import_module

        calibrator = getattr(import_module(f"netcal.{module}"), name)(**settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return calibrator.fit(d.p, d.y).transform(d.new)

    return entry


def _probmetrics(method: str) -> Any:
    def entry(d: Data) -> Any:
        from probmetrics.calibrators import get_calibrator

        return get_calibrator(method).fit(d.both, d.y).predict_proba(d.new_both)

    return entry


def _sklearn_platt(d: Data) -> Any:
    from sklearn.calibration import _SigmoidCalibration

    return _SigmoidCalibration().fit(d.x, d.y).predict(d.new_x)


def _sklearn_isotonic(d: Data) -> Any:
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(d.p, d.y).predict(d.new)


def _sklearn_temperature(d: Data) -> Any:
    from sklearn.calibration import _TemperatureScaling

    return _TemperatureScaling().fit(d.both, d.y).predict(d.new_both)


def _betacal(d: Data) -> Any:
    from betacal import BetaCalibration

    return BetaCalibration("abm").fit(d.p[:, None], d.y).predict(d.new[:, None])


def _venn_abers(d: Data) -> Any:
    from venn_abers import VennAbers

    model = VennAbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it divides by zero
        model.fit(d.both, d.y)
        return model.predict_proba(d.new_both)[0]


def _venn_abers_cross(d: Data) -> Any:
    from sklearn.naive_bayes import GaussianNB
    from venn_abers import VennAbersCalibrator

    model = VennAbersCalibrator(GaussianNB(), inductive=False, n_splits=FOLDS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(d.X, d.y)
        return model.predict_proba(d.new)


def _wrapped(calibrator: str, *, ensemble: bool) -> Any:
    def entry(d: Data) -> Any:
        from sklearn.naive_bayes import GaussianNB

        import calibrant

        model = calibrant.CalibratedClassifier(
            GaussianNB(), getattr(calibrant, calibrator)(), cv=FOLDS, ensemble=ensemble
        )
        return model.fit(d.X, d.y).predict_proba(d.new)

    return entry


def _sklearn_wrapped(method: str, *, ensemble: bool) -> Any:
    def entry(d: Data) -> Any:
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.naive_bayes import GaussianNB

        model = CalibratedClassifierCV(GaussianNB(), method=method, cv=FOLDS, ensemble=ensemble)
        return model.fit(d.X, d.y).predict_proba(d.new)

    return entry


# ---- jobs ----
def _map(name: str, words: str, quality: Quality, entries: dict[str, Any], sizes: tuple[int, ...] = SIZES) -> Job:
    floor = "one pass" if quality is LOG_LOSS else "sort"
    return Job(f"binary {name}", words, sizes, events, quality, entries, floor, {"ECE": calibration_error})


def _model(name: str, words: str, quality: Quality, entries: dict[str, Any], sizes: tuple[int, ...]) -> Job:
    return Job(f"binary {name}", words, sizes, features, quality, entries, "one pass", {"ECE": calibration_error})


JOBS = (
    _map(
        "platt",
        "Platt's logistic map",
        LOG_LOSS,
        {
            OURS: _ours("PlattCalibrator"),
            "scikit-learn": _sklearn_platt,
            "netcal": _netcal("scaling", "LogisticCalibration"),
            "probmetrics": _probmetrics("affine-scaling"),
        },
    ),
    _map(
        "beta",
        "Beta map, three parameters",
        LOG_LOSS,
        {OURS: _ours("BetaCalibrator"), "betacal": _betacal, "netcal": _netcal("scaling", "BetaCalibration")},
    ),
    _map(
        "temperature",
        "Temperature, two classes",
        LOG_LOSS,
        {
            OURS: _ours("TemperatureCalibrator"),
            "scikit-learn": _sklearn_temperature,
            "netcal": _netcal("scaling", "TemperatureScaling"),
            "probmetrics": _probmetrics("temp-scaling"),
        },
    ),
    _map(
        "isotonic",
        "Isotonic regression",
        BRIER,
        {
            OURS: _ours("IsotonicCalibrator"),
            "scikit-learn": _sklearn_isotonic,
            "netcal": _netcal("binning", "IsotonicRegression"),
            "probmetrics": _probmetrics("isotonic"),
        },
    ),
    _map(
        "histogram",
        f"Histogram of {BINS} bins (netcal: of equal width)",
        BRIER,
        {
            OURS: _ours("BinningCalibrator", n_bins=BINS),
            "netcal": _netcal("binning", "HistogramBinning", bins=BINS),
        },
    ),
    _map(
        "bbq",
        "Bayesian average of histograms (BBQ)",
        BRIER,
        {OURS: _ours("BayesianBinningCalibrator"), "netcal": _netcal("binning", "BBQ")},
    ),
    _map(
        "enir",
        "Smoothed isotonic map (netcal: ENIR)",
        BRIER,
        {OURS: _ours("SmoothIsotonicCalibrator"), "netcal": _netcal("binning", "ENIR")},
        (1_000, 10_000),
    ),
    _map(
        "venn-abers",
        "Venn-Abers, inductive",
        LOG_LOSS,
        {OURS: _ours("VennAbersCalibrator"), "venn-abers": _venn_abers, "probmetrics": _probmetrics("ivap")},
    ),
    _model(
        "venn-abers-cross",
        f"Venn-Abers of naive Bayes, {FOLDS} folds",
        LOG_LOSS,
        {OURS: _wrapped("VennAbersCalibrator", ensemble=True), "venn-abers": _venn_abers_cross},
        (10_000, 100_000),
    ),
    _model(
        "wrapped-platt",
        f"Naive Bayes with Platt's map, {FOLDS} folds",
        LOG_LOSS,
        {
            OURS: _wrapped("PlattCalibrator", ensemble=False),
            "scikit-learn": _sklearn_wrapped("sigmoid", ensemble=False),
        },
        (10_000, 100_000),
    ),
    _model(
        "wrapped-isotonic",
        f"Naive Bayes with isotonic maps, averaged over {FOLDS} folds",
        BRIER,
        {
            OURS: _wrapped("IsotonicCalibrator", ensemble=True),
            "scikit-learn": _sklearn_wrapped("isotonic", ensemble=True),
        },
        (10_000, 100_000),
    ),
)
