"""Methods and measures side by side, on simulated rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import expit, softmax

import calibrant as c
from calibrant import metrics

SHOWN = (
    "log_loss", "mse_p", "mse_p_calibration", "mse_p_discrimination", "calbin", "calbin_floor", "calloss",
    "calloss_floor", "calloss_scores", "auc", "accuracy", "macro_accuracy", "f_measure",
)  # fmt: skip
TWO: dict[str, Any] = {
    "binning": c.BinningCalibrator(),
    "bayesian": c.BayesianBinningCalibrator(),
    "isotonic": c.IsotonicCalibrator(),
    "Platt, odds": c.PlattCalibrator(),
    "Platt, p": c.PlattCalibrator(scores_are="margins"),
    "beta": c.BetaCalibrator(),
    "two betas": c.BetaDensitiesCalibrator(),
    "kernels": c.KernelDensitiesCalibrator(),
}
SEVERAL: dict[str, Any] = {
    "Platt, one v. rest": c.PlattCalibrator(),
    "Platt, pairs": c.PairwiseCalibrator(coupling="likelihood"),
    "Platt, code": c.ECOCCalibrator(),
    "isotonic, one v. rest": c.IsotonicCalibrator(),
    "isotonic, pairs": c.PairwiseCalibrator(c.IsotonicCalibrator(), coupling="likelihood"),
    "isotonic, code": c.ECOCCalibrator(c.IsotonicCalibrator()),
}


def classes(rows: int) -> Iterator[str]:
    """Two tables: of two classes, and of five."""
    rng = np.random.default_rng(1)
    x = rng.normal(-1.0, 1.5, 2 * rows)
    y, given = (rng.random(2 * rows) < expit(x)).astype(int), expit(1.0 + 2.5 * x + 0.3 * np.sin(3 * x))
    yield f"two classes, scores too sure and too high: {rows} rows to learn from, {rows} new ones"
    yield from _table(y, given, TWO, rows)
    logits = rng.normal(0.0, 1.5, (2 * rows, 5))
    labels = (softmax(logits, axis=1).cumsum(axis=1) > rng.random((2 * rows, 1))).argmax(axis=1)
    skewed = softmax(2 * logits + [0.0, 1.0, -1.0, 0.5, 0.0], axis=1)
    yield "\nfive classes, scores too sure and off by class"
    yield from _table(labels, skewed, SEVERAL, rows)


def _table(y: np.ndarray, given: np.ndarray, methods: dict[str, Any], rows: int) -> Iterator[str]:
    made = {"none": given[rows:]}
    for name, method in methods.items():
        made[name] = method.fit(given[:rows], y[:rows]).transform(given[rows:])
    table = metrics.class_summary(y[rows:], made)
    width = max(map(len, made)) + 2
    yield f"{'':22s}" + "".join(name.rjust(width) for name in made)
    for key in SHOWN:
        yield f"{key:22s}" + "".join(f"{table[key][name]:{width}.4f}" for name in made)


def decisions(rows: int) -> Iterator[str]:
    """Proportions as a whole and in each of three regions, before and after; then new costs without labels."""
    rng = np.random.default_rng(2)
    region = rng.integers(0, 3, 2 * rows)
    x = rng.normal(-1.0, 1.5, 2 * rows)
    y = (rng.random(2 * rows) < expit(x)).astype(int)
    p = expit(x + np.array([-1.0, 0.0, 1.0])[region])
    learn, new = slice(rows), slice(rows, None)
    whole = c.DecisionCalibrator().fit(p[learn], y[learn])
    local = c.GroupedDecisions().fit(p[learn], y[learn], groups=region[learn])
    yield "distance of predicted and real proportions on new rows: as a whole, and in three regions"
    for name, guess in (
        ("at 1/2", (p[new] > 0.5).astype(int)),
        ("one threshold", whole.predict(p[new])),
        ("one a region", local.predict(p[new], groups=region[new])),
    ):
        parts = [np.ones(rows, dtype=bool), *(region[new] == k for k in range(3))]
        gaps = [2 * abs(guess[mine].mean() - y[new][mine].mean()) for mine in parts]
        yield f"{name:16s}" + "".join(f"{gap:9.3f}" for gap in gaps)
    right = expit(x[new])
    yield "\nmean cost when a miss costs so many false alarms: at 1/2, and Bayes' decisions from the same probabilities"
    for miss in (1.0, 3.0, 9.0):
        costs = np.array([[0.0, 1.0], [miss, 0.0]])
        plain, bayes = (right > 0.5).astype(int), c.bayes_decisions(right, costs)
        yield f"{miss:16g}" + "".join(f"{costs[y[new], guess].mean():9.3f}" for guess in (plain, bayes))


def points(rows: int) -> Iterator[str]:
    """Every reading of calibrated points on rows to learn from, where the promises hold exactly."""
    rng = np.random.default_rng(3)
    signal = rng.gamma(9.0, 1.0, rows) + 3
    y, x = signal * rng.lognormal(0.0, 0.25, rows), 2.0 + 0.7 * signal
    made = {"none": x}
    for method in ("linear", "inverse", "ratio", "mean-ratio", "isotonic", "local"):
        made[method] = c.PointCalibrator(method).fit(x, y).transform(x)
    whole = metrics.point_summary(y, made)
    yield "points, on the rows of the fit"
    yield f"{'':22s}" + "".join(f"{name:>11s}" for name in made)
    for key in ("mean_error", "mean_ratio", "mae", "rmse", "relative_mse"):
        yield f"{key:22s}" + "".join(f"{whole.overall[key][name]:11.4f}" for name in made)
    for by in ("predicted", "actual"):
        along = metrics.point_summary(y, made, by=by).along
        worst = {name: max(abs(line["mean_error"]) for line in table.values()) for name, table in along.items()}
        yield f"{'worst, by ' + by:22s}" + "".join(f"{worst[name]:11.4f}" for name in made)
    higher = whole.overall["rmse"]["inverse"] > whole.overall["rmse"]["linear"]
    does = "does" if higher else "does not"
    yield f'calibration by a line "used to increase the mean squared error": linear cannot, inverse {does}'
