"""Measures of class probabilities that summaries show beside the few that every comparison has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from .auc import auc
from .brier import brier_decomposition, brier_score
from .calbin import calbin
from .calloss import calloss
from .ece import ece
from .forecasts import class_forecasts
from .labels import accuracy, class_proportions, f_measure, macro_accuracy
from .noise_floor import noise_floor

DRAWS = 20  # of a noise floor

OfForecasts = Callable[..., Any]


class Specification(NamedTuple):
    """A measure for the catalogue: its key, its label, its words, the function, and its unit."""

    key: str
    label: str
    words: str
    function: OfForecasts
    unit: Literal["share", ""] = ""


def _part(name: str) -> OfForecasts:
    """A part of the chapter's MSE."""

    def measure(y_true: Any, y_proba: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
        parts = brier_decomposition(
            y_true, y_proba, method="pav", scale="chapter", classes=classes, sample_weight=sample_weight
        )
        return float(getattr(parts, name))

    return measure


def _floor(metric: OfForecasts) -> OfForecasts:
    """What noise alone makes of a measure."""

    def measure(y_true: Any, y_proba: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
        forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
        proba = forecasts.column(1).p if forecasts.n_classes == 2 else forecasts.proba
        return noise_floor(metric, proba, n_draws=DRAWS, sample_weight=forecasts.weights)

    return measure


def _of_decisions(metric: OfForecasts) -> OfForecasts:
    """A measure of labels, of the most probable ones."""

    def measure(y_true: Any, y_proba: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
        forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
        guess = forecasts.proba > 0.5 if forecasts.proba.ndim == 1 else forecasts.proba.argmax(axis=1)
        names = np.arange(forecasts.n_classes)
        return float(metric(forecasts.codes, guess.astype(np.intp), classes=names, sample_weight=forecasts.weights))

    return measure


def _distance(y_true: Any, y_pred: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    shares = class_proportions(y_true, y_pred, classes=classes, sample_weight=sample_weight)
    return float(np.abs(shares.predicted - shares.actual).sum())


_BY_SCORES: OfForecasts = partial(calloss, segments="scores")
SPECIFICATIONS = (
    Specification("ece_floor", "its noise floor", "ECE of a perfect forecaster on as many rows", _floor(ece), "share"),
    Specification(
        "mse_p",
        "MSEᵖ",
        "the chapter's mean squared error, divided by the number of classes; smaller is better",
        partial(brier_score, scale="chapter"),
    ),
    Specification(
        "mse_p_calibration", "its calibration", "part that isotonic recalibration would save", _part("miscalibration")
    ),
    Specification(
        "mse_p_discrimination", "its discrimination", "part that telling rows apart saves", _part("discrimination")
    ),
    Specification("mse_p_uncertainty", "its uncertainty", "MSEᵖ of always giving the shares", _part("uncertainty")),
    Specification("calbin", "CalBin", "calibration in overlapping windows; 0 is perfect", calbin, "share"),
    Specification("calbin_floor", "its noise floor", "CalBin of a perfect forecaster", _floor(calbin), "share"),
    Specification("calloss", "CalLoss", "calibration loss by segments of the ROC curve's hull; 0 is perfect", calloss),
    Specification("calloss_floor", "its noise floor", "CalLoss of a perfect forecaster", _floor(calloss)),
    Specification(
        "calloss_scores",
        "CalLoss, distinct scores",
        "calibration loss by the chapter's segments, the distinct scores; MSEᵖ where all differ",
        _BY_SCORES,
    ),
    Specification("calloss_scores_floor", "its noise floor", "the same of a perfect forecaster", _floor(_BY_SCORES)),
    Specification(
        "auc", "AUC", "how often a row of a class is ranked above one of the rest; larger is better", auc, "share"
    ),
    Specification(
        "accuracy",
        "accuracy",
        "rows whose most probable class came; larger is better",
        _of_decisions(accuracy),
        "share",
    ),
    Specification(
        "macro_accuracy",
        "macro accuracy",
        "mean over the classes of the share of their rows that is right; larger is better",
        _of_decisions(macro_accuracy),
        "share",
    ),
    Specification(
        "f_measure", "F-measure", "mean over the classes of F; larger is better", _of_decisions(f_measure), "share"
    ),
    Specification(
        "proportion_error",
        "proportions",
        "distance of predicted and real class proportions; 0 is calibrated decisions",
        _of_decisions(_distance),
    ),
)
