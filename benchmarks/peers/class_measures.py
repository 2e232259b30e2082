"""Measures of class probabilities: of an event in n rows, and of ten classes."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata

from . import binary, classes
from .job import OURS, Data, Entry, Job, exact

SIZES = (10_000, 1_000_000)
BINS = 15


# ---- what is right ----
def _gaps(p: np.ndarray, hit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share of the rows and gap of each bin, bin by bin."""
    edges = np.linspace(0, 1, BINS + 1)
    inside = [(p >= low) & (p < high) for low, high in itertools.pairwise(edges)]
    rows = [each for each in inside if each.any()]
    return np.array([each.mean() for each in rows]), np.array([abs(hit[each].mean() - p[each].mean()) for each in rows])


def _true_ece(d: Data) -> float:
    share, gap = _gaps(d.p, d.y)
    return float(share @ gap)


def _true_mce(d: Data) -> float:
    return float(_gaps(d.p, d.y)[1].max())


def _true_top(d: Data) -> float:
    share, gap = _gaps(d.p.max(axis=1), d.p.argmax(axis=1) == d.y)
    return float(share @ gap)


def _true_curve(d: Data) -> np.ndarray:
    edges = np.linspace(0, 1, BINS + 1)
    inside = [(d.p >= low) & (d.p < high) for low, high in itertools.pairwise(edges)]
    rows = [each for each in inside if each.any()]
    return np.concatenate([[d.p[each].mean() for each in rows], [d.y[each].mean() for each in rows]])


def _true_auc(d: Data) -> float:
    """The share of pairs in the right order, by ranks."""
    events = d.y.sum()
    return float((rankdata(d.p)[d.y == 1].sum() - events * (events + 1) / 2) / (events * (len(d.y) - events)))


def _true_rps(d: Data) -> np.ndarray:
    below = np.arange(classes.CLASSES)[None, :] >= d.y[:1000, None]
    return np.square(np.cumsum(d.p[:1000], axis=1) - below).sum(axis=1)


# ---- entries ----
def _ours(name: str, **settings: Any) -> Entry:
    def entry(d: Data) -> Any:
        from calibrant import metrics

        return getattr(metrics, name)(d.y, d.p, **settings)

    return entry


def _our_curve(d: Data) -> Any:
    from calibrant.displays import ReliabilityDisplay

    made = ReliabilityDisplay.from_predictions(d.y, d.p, n_bins=BINS)
    return np.concatenate([made.forecast, made.observed])


def _sklearn_curve(d: Data) -> Any:
    from sklearn.calibration import calibration_curve

    observed, forecast = calibration_curve(d.y, d.p, n_bins=BINS)
    return np.concatenate([forecast, observed])


def _netcal(name: str) -> Entry:
    def entry(d: Data) -> Any:
        from netcal import metrics

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(metrics, name)(BINS).measure(d.p, d.y)

    return entry


def _sklearn(name: str) -> Entry:
    def entry(d: Data) -> Any:
        from sklearn import metrics

        return getattr(metrics, name)(d.y, d.p)

    return entry


def _probmetrics(name: str) -> Entry:
    def entry(d: Data) -> Any:
        import torch
        from probmetrics.metrics import Metrics

        p, y = torch.as_tensor(d.p), torch.as_tensor(d.y)
        return float(Metrics.from_names([name]).compute_all_from_labels_probs(y, p)[name])

    return entry


def _scoringrules(name: str, mean: bool = True) -> Entry:
    def entry(d: Data) -> Any:
        import scoringrules

        found = getattr(scoringrules, name)(d.y, d.p)
        return np.mean(found) if mean else found

    return entry


def _scoringrules_rps(d: Data) -> Any:
    import scoringrules

    return scoringrules.rps_score(d.y + 1, d.p)


def _properscoring_brier(d: Data) -> Any:
    import properscoring

    return np.mean(properscoring.brier_score(d.y, d.p))


# ---- jobs ----
def _event(name: str, words: str, true: Any, entries: dict[str, Entry], floor: str = "one pass") -> Job:
    return Job(f"measures {name}", words, SIZES, binary.events, exact(true), entries, floor)


def _ten(name: str, words: str, true: Any, entries: dict[str, Entry]) -> Job:
    return Job(f"measures {name}", words, classes.SIZES, classes.ten, exact(true), entries, "one pass")


JOBS = (
    _event("ece", f"ECE of an event, {BINS} bins", _true_ece, {OURS: _ours("ece"), "netcal": _netcal("ECE")}),
    _event(
        "mce", f"MCE of an event, {BINS} bins", _true_mce, {OURS: _ours("ece", norm=np.inf), "netcal": _netcal("MCE")}
    ),
    _event(
        "reliability",
        f"Reliability curve, {BINS} bins (calibrant: its band is not asked for)",
        _true_curve,
        {OURS: _our_curve, "scikit-learn": _sklearn_curve},
    ),
    _event(
        "brier",
        "Brier score of an event",
        lambda d: np.mean((d.p - d.y) ** 2),
        {
            OURS: _ours("brier_score"),
            "scikit-learn": _sklearn("brier_score_loss"),
            "scoringrules": _scoringrules("brier_score"),
            "properscoring": _properscoring_brier,
        },
    ),
    _event(
        "log-loss",
        "Log loss of an event",
        lambda d: -np.mean(np.where(d.y == 1, np.log(d.p), np.log1p(-d.p))),
        {OURS: _ours("log_loss"), "scikit-learn": _sklearn("log_loss")},
    ),
    _event(
        "auc",
        "Area under the ROC curve",
        _true_auc,
        {OURS: _ours("auc"), "scikit-learn": _sklearn("roc_auc_score")},
        "sort",
    ),
    _ten(
        "top-ece",
        f"ECE of the most probable of ten classes, {BINS} bins",
        _true_top,
        {OURS: _ours("ece", kind="top-label"), "netcal": _netcal("ECE"), "probmetrics": _probmetrics("ece-15")},
    ),
    _ten(
        "log-loss-ten",
        "Log loss of ten classes",
        lambda d: -np.mean(np.log(d.p[np.arange(len(d.y)), d.y])),
        {OURS: _ours("log_loss"), "scikit-learn": _sklearn("log_loss"), "probmetrics": _probmetrics("logloss")},
    ),
    _ten(
        "rps",
        "Ranked probability score of ten classes, each row",
        _true_rps,
        {OURS: _ours("ranked_probability_score", per_row=True), "scoringrules": _scoringrules_rps},
    ),
)
