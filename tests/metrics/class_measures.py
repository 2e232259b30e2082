"""Every measure of class probabilities and of labels, and data for them."""

from __future__ import annotations

import dataclasses

import numpy as np

from calibrant import metrics

MEANS = {
    "brier_score": metrics.brier_score,
    "log_loss": metrics.log_loss,
    "ranked_probability_score": metrics.ranked_probability_score,
    "class_sharpness": metrics.class_sharpness,
}
BINARY = {
    "hosmer_lemeshow_test": metrics.hosmer_lemeshow_test,
    "cox_calibration": metrics.cox_calibration,
    "log_loss_decomposition": metrics.log_loss_decomposition,
}
ANY_NUMBER = MEANS | {
    "brier_score_chapter": lambda y, p, **k: metrics.brier_score(y, p, scale="chapter", **k),
    "brier_decomposition": lambda y, p, **k: metrics.brier_decomposition(y, p, bins="width", **k),
    "brier_decomposition_mass": lambda y, p, **k: metrics.brier_decomposition(y, p, bins="mass", n_bins=4, **k),
    "brier_decomposition_pav": lambda y, p, **k: metrics.brier_decomposition(y, p, method="pav", **k),
    "calbin": metrics.calbin,
    "calbin_example": lambda y, p, **k: metrics.calbin(y, p, form="example", **k),
    "calloss": metrics.calloss,
    "calloss_scores": lambda y, p, **k: metrics.calloss(y, p, segments="scores", **k),
    "ece": metrics.ece,
    "ece_top_label": lambda y, p, **k: metrics.ece(y, p, kind="top-label", **k),
    "ece_class_wise": lambda y, p, **k: metrics.ece(y, p, kind="class-wise", **k),
    "ece_mass": lambda y, p, **k: metrics.ece(y, p, bins="mass", n_bins=5, norm=2, **k),
    "ece_debiased": lambda y, p, **k: metrics.ece(y, p, n_bins=4, norm=2, debiased=True, **k),
    "ece_debiased_1": lambda y, p, **k: metrics.ece(y, p, n_bins=4, debiased=True, **k),
    "ece_max": lambda y, p, **k: metrics.ece(y, p, n_bins=5, norm=np.inf, **k),
    "smooth_ece": metrics.smooth_ece,
    "kernel_calibration_error": metrics.kernel_calibration_error,
    "kernel_calibration_error_debiased": lambda y, p, **k: metrics.kernel_calibration_error(y, p, debiased=True, **k),
    "kernel_calibration_error_gaussian": lambda y, p, **k: metrics.kernel_calibration_error(
        y, p, kernel="gaussian", bandwidth=0.3, **k
    ),
    "kernel_calibration_test": metrics.kernel_calibration_test,
    "multicalibration_error": metrics.multicalibration_error,
    "multicalibration_error_sigma": lambda y, p, **k: metrics.multicalibration_error(y, p, scale="sigma", **k),
    "spiegelhalter_test": metrics.spiegelhalter_test,
    "auc": metrics.auc,
}
PROBABILITIES = ANY_NUMBER | BINARY
LABELS = {
    "confusion": metrics.confusion,
    "class_proportions": metrics.class_proportions,
    "macro_accuracy": metrics.macro_accuracy,
    "accuracy": metrics.accuracy,
    "f_measure": metrics.f_measure,
}
NEED_TWO_CLASSES = {"cox_calibration", "auc"}
AROUND_OTHERS = {
    "noise_floor",
    "kernel_calibration_floor",
    "bootstrap_interval",
    "mean_interval",
    "class_summary",
    "score_grid",
}


def numbers(result):
    """Whatever a measure returns, as one flat array."""
    if dataclasses.is_dataclass(result):
        fields = (getattr(result, f.name) for f in dataclasses.fields(result) if f.name not in ("name", "classes"))
        return np.concatenate([np.ravel(v).astype(float) for v in fields])
    return np.ravel(np.asarray(result, dtype=float))


def two_classes(rng, n=60):
    """Overconfident probabilities (n,) with ties, and labels 0 and 1."""
    p = np.round(rng.random(n), 1 if n < 20 else 2)
    return (rng.random(n) < 0.25 + 0.5 * p).astype(int), p


def three_classes(rng, n=60):
    """Probabilities (n, 3) in tenths, none of them 0, and labels 0, 1, 2."""
    return rng.integers(0, 3, n), (rng.multinomial(7, [0.5, 0.3, 0.2], n) + 1) / 10


CASES = [(m, two_classes) for m in PROBABILITIES] + [(m, three_classes) for m in ANY_NUMBER]
