"""Measures of normal forecasts of n rows, against uncertainty-toolbox, netcal and others."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from .job import OURS, Data, Entry, Job, exact
from .laws import forecasts, normal_crps

SIZES = (10_000, 1_000_000)
HUNDRED, CHECKED = np.linspace(0, 1, 100), np.linspace(0.01, 0.99, 99)
COVERAGE = 0.9


# ---- what is right ----
def _inside(d: Data) -> np.ndarray:
    """Share of the outcomes in the central intervals of 100 levels."""
    away = np.abs(d.y - d.mu) / d.sigma
    half = stats.norm.ppf(0.5 + HUNDRED / 2)
    return np.array([np.mean(away <= each) for each in half])


def _true_mace(d: Data) -> float:
    return float(np.mean(np.abs(_inside(d) - HUNDRED)))


def _true_area(d: Data) -> float:
    """The area between two bent lines, which may cross."""
    gap = _inside(d) - HUNDRED
    a, b = gap[:-1], gap[1:]
    width = np.diff(HUNDRED)
    whole = np.abs(a) + np.abs(b)
    crossed = np.where(a * b < 0, (a**2 + b**2) / np.maximum(whole, 1e-300), whole)
    return float(np.sum(width * crossed / 2))


def _true_check(d: Data) -> float:
    q = d.mu[:, None] + d.sigma[:, None] * stats.norm.ppf(CHECKED)
    left = d.y[:, None] - q
    return float(np.mean(np.maximum(CHECKED * left, (CHECKED - 1) * left)))


def _true_interval(d: Data) -> float:
    found = []
    for c in CHECKED:
        half = d.sigma * stats.norm.ppf((1 + c) / 2)
        low, high = d.mu - half, d.mu + half
        found.append(np.mean(high - low + 2 / (1 - c) * (np.maximum(low - d.y, 0) + np.maximum(d.y - high, 0))))
    return float(np.mean(found))


def _true_coverage(d: Data) -> float:
    return float(np.mean(np.abs(d.y - d.mu) <= d.sigma * stats.norm.ppf((1 + COVERAGE) / 2)))


def _true_all(d: Data) -> list[float]:
    away = d.y - d.mu
    return [
        np.mean(np.abs(away)),
        np.sqrt(np.mean(away**2)),
        _true_mace(d),
        _true_area(d),
        np.sqrt(np.mean(d.sigma**2)),
        -np.mean(stats.norm.logpdf(d.y, d.mu, d.sigma)),
        np.mean(normal_crps(d.y, d.mu, d.sigma)),
        _true_check(d),
        _true_interval(d),
    ]


# ---- entries ----
def _ours(measure: Callable[[Any, Data, Any], Any]) -> Entry:
    def entry(d: Data) -> Any:
        from calibrant import Normal, metrics

        return measure(metrics, d, Normal(d.mu, d.sigma))

    return entry


def _toolbox(name: str, **settings: Any) -> Entry:
    def entry(d: Data) -> Any:
        import uncertainty_toolbox

        return getattr(uncertainty_toolbox, name)(d.mu, d.sigma, d.y, **settings)

    return entry


def _toolbox_sharpness(d: Data) -> Any:
    import uncertainty_toolbox

    return uncertainty_toolbox.sharpness(d.sigma)


def _toolbox_all(d: Data) -> Any:
    import uncertainty_toolbox

    found = uncertainty_toolbox.get_all_metrics(d.mu, d.sigma, d.y, verbose=False)
    points, average, rules = found["accuracy"], found["avg_calibration"], found["scoring_rule"]
    sharpness = found["sharpness"]["sharp"]
    return [
        points["mae"],
        points["rmse"],
        average["ma_cal"],
        average["miscal_area"],
        sharpness,
        rules["nll"],
        rules["crps"],
        rules["check"],
        rules["interval"],
    ]


def _our_all(d: Data) -> Any:
    """The same measures, and the groups that are furthest off, which uncertainty-toolbox looks for as well."""
    from calibrant import Normal, metrics

    law = Normal(d.mu, d.sigma)
    metrics.adversarial_group_calibration(d.y, law)
    return [
        metrics.mae(d.y, law),
        np.sqrt(metrics.mse(d.y, law)),
        metrics.mean_absolute_calibration_error(d.y, law, levels=HUNDRED),
        metrics.miscalibration_area(d.y, law, levels=HUNDRED),
        np.sqrt(metrics.sharpness(d.y, law)),
        metrics.nll(d.y, law),
        metrics.crps(d.y, law),
        metrics.pinball_loss(d.y, law, levels=CHECKED),
        np.mean([metrics.interval_score(d.y, law, coverage=c) for c in CHECKED]),
    ]


def _netcal(name: str, *arguments: Any, **settings: Any) -> Entry:
    def entry(d: Data) -> Any:
        from netcal.metrics import regression

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = getattr(regression, name)(**settings).measure((d.mu, d.sigma), d.y, *arguments)
        return np.mean(found.picp if name == "PICP" else found)

    return entry


def _scoringrules(name: str) -> Entry:
    def entry(d: Data) -> Any:
        import scoringrules

        return np.mean(getattr(scoringrules, name)(d.y, d.mu, d.sigma))

    return entry


def _properscoring(d: Data) -> Any:
    import properscoring

    return np.mean(properscoring.crps_gaussian(d.y, d.mu, d.sigma))


# ---- jobs ----
def _job(name: str, words: str, true: Any, ours: Any, peers: dict[str, Entry], sizes: tuple[int, ...] = SIZES) -> Job:
    entries = {OURS: _ours(ours), **peers}
    return Job(f"forecasts {name}", words, sizes, forecasts, exact(true), entries, "one pass")


JOBS = (
    _job(
        "mace",
        "Mean absolute calibration error, 100 levels",
        _true_mace,
        lambda m, d, law: m.mean_absolute_calibration_error(d.y, law, levels=HUNDRED),
        {"uncertainty-toolbox": _toolbox("mean_absolute_calibration_error", vectorized=True)},
    ),
    _job(
        "area",
        "Miscalibration area, 100 levels",
        _true_area,
        lambda m, d, law: m.miscalibration_area(d.y, law, levels=HUNDRED),
        {"uncertainty-toolbox": _toolbox("miscalibration_area", vectorized=True)},
    ),
    _job(
        "coverage",
        "Share of outcomes in 90 % intervals",
        _true_coverage,
        lambda m, d, law: m.coverage(d.y, law, coverage=COVERAGE),
        {"netcal": _netcal("PICP", COVERAGE)},
    ),
    _job(
        "sharpness",
        "Sharpness",
        lambda d: np.sqrt(np.mean(d.sigma**2)),
        lambda m, d, law: np.sqrt(m.sharpness(d.y, law)),
        {"uncertainty-toolbox": _toolbox_sharpness},
    ),
    _job(
        "nll",
        "Mean NLL of normal laws",
        lambda d: -np.mean(stats.norm.logpdf(d.y, d.mu, d.sigma)),
        lambda m, d, law: m.nll(d.y, law),
        {
            "uncertainty-toolbox": _toolbox("nll_gaussian"),
            "netcal": _netcal("NLL"),
            "scoringrules": _scoringrules("logs_normal"),
        },
    ),
    _job(
        "crps",
        "Mean CRPS of normal laws",
        lambda d: np.mean(normal_crps(d.y, d.mu, d.sigma)),
        lambda m, d, law: m.crps(d.y, law),
        {
            "uncertainty-toolbox": _toolbox("crps_gaussian"),
            "scoringrules": _scoringrules("crps_normal"),
            "properscoring": _properscoring,
        },
    ),
    _job(
        "check",
        "Mean pinball loss at 99 levels",
        _true_check,
        lambda m, d, law: m.pinball_loss(d.y, law, levels=CHECKED),
        {"uncertainty-toolbox": _toolbox("check_score"), "netcal": _netcal("QuantileLoss", CHECKED)},
        (10_000, 100_000),
    ),
    _job(
        "interval",
        "Mean interval score at 99 levels",
        _true_interval,
        lambda m, d, law: np.mean([m.interval_score(d.y, law, coverage=c) for c in CHECKED]),
        {"uncertainty-toolbox": _toolbox("interval_score")},
        (10_000, 100_000),
    ),
    Job(
        "forecasts all",
        "All measures of uncertainty-toolbox",
        (1_000, 10_000),
        forecasts,
        exact(_true_all),
        {OURS: _our_all, "uncertainty-toolbox": _toolbox_all},
        "one pass",
    ),
)
