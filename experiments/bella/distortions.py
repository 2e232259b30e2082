"""Forecasters that are right, and the same with one thing wrong, for each type of miscalibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from calibrant import Normal, Recalibrated, metrics
from calibrant.maps import BetaMap

Measures = dict[str, float]  # the smaller the better
ROWS = 2000


@dataclass(frozen=True)
class Type:
    """A type of miscalibration: how to draw rows, what is right, and what may be wrong."""

    name: str
    draw: Callable[[np.random.Generator], tuple[np.ndarray, ...]]
    measure: Callable[..., Measures]
    distortions: dict[str, Callable[..., object]]


# ---- classes: probabilities p that come true, a threshold u on them ----
def _classes(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Labels, a fifth of them positive, and right probabilities."""
    p = expit(rng.normal(-2.0, 1.5, ROWS))
    return (rng.random(ROWS) < p).astype(int), p


def _decided(y: np.ndarray, p: np.ndarray, u: float) -> Measures:
    guess = (p > u).astype(int)
    shares = metrics.class_proportions(y, guess, classes=[0, 1])
    parts = metrics.brier_decomposition(y, p, method="pav")
    return {
        "proportion of classes": float(np.abs(shares.actual - shares.predicted).sum()),
        "macro-averaged accuracy": -metrics.macro_accuracy(y, guess),
        "accuracy": -metrics.accuracy(y, guess),
        "mean F-measure": -metrics.f_measure(y, guess, classes=[0, 1]),
        "AUC": -metrics.auc(y, p),
        "MSEp": parts.brier,
        "LogLoss": float(metrics.log_loss(y, p)),
        "CalBin": metrics.calbin(y, p),
        "CalLoss, hull": metrics.calloss(y, p),
        "CalLoss, distinct scores": metrics.calloss(y, p, segments="scores"),
        "CalLoss as printed": abs(float(np.mean(p) - np.mean(y))),
    }


def _agreeing(y: np.ndarray, p: np.ndarray) -> float:
    """The threshold at which predicted and real proportions agree."""
    return float(np.quantile(p, 1 - y.mean()))


def _threshold(share: float) -> Callable[..., object]:
    """Predict the second class for so many times its real share."""
    return lambda y, p: (y, p, float(np.quantile(p, 1 - share * y.mean())))


def _mapped(change: Callable[[np.ndarray], np.ndarray]) -> Callable[..., object]:
    """Probabilities changed, and the threshold with them."""

    def distorted(y: np.ndarray, p: np.ndarray) -> object:
        return y, expit(change(logit(p))), float(expit(change(logit(np.array(_agreeing(y, p))))))

    return distorted


def _drawn_to_the_mean(y: np.ndarray, p: np.ndarray) -> object:
    """Probabilities nearer to their mean, which stays."""
    return y, p.mean() + 0.6 * (p - p.mean()), float(p.mean() + 0.6 * (_agreeing(y, p) - p.mean()))


# ---- numbers: predictions x = E(y | x), laws N(x, s) ----
def _numbers(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Outcomes away from 0 with skewed noise of variance 1, and their expectations."""
    x = rng.normal(12.0, 2.0, ROWS)
    return x + rng.gamma(4.0, 0.5, ROWS) - 2.0, x


def _pointed(y: np.ndarray, x: np.ndarray) -> Measures:
    return {
        "average error": abs(float(metrics.mean_error(y, x))),
        "average error along the predictions": _along(y, x),
        "relative error, mean ratio": abs(float(metrics.mean_ratio(y, x)) - 1),
        "relative error, relative MSE": metrics.relative_mse(y, x),
        "MSEr": float(metrics.mse(y, x)),
        "MAE": float(metrics.mae(y, x)),
    }


def _along(y: np.ndarray, x: np.ndarray) -> float:
    """Mean size of the mean error in deciles of the predictions."""
    lines = metrics.point_summary(y, x).along[""].values()
    return float(np.mean([abs(line["mean_error"]) for line in lines]))


def _right_laws(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    x = rng.normal(12.0, 2.0, ROWS)
    return x + rng.normal(0.0, 1.0, ROWS), x


def _forecast(y: np.ndarray, law: object) -> Measures:
    points = _pointed(y, law.mean())  # type: ignore[attr-defined]
    return {"Anderson-Darling": metrics.anderson_darling(y, law)} | points


def _spread(factor: float) -> Callable[..., object]:
    return lambda y, x: (y, Normal(x, factor))


def _skewed(y: np.ndarray, x: np.ndarray) -> object:
    """Laws of the wrong shape with the right means."""
    bent = Recalibrated(Normal(np.zeros(1), 1.0), BetaMap(0.6, 1.6, 0.0))
    return y, Recalibrated(Normal(x - bent.mean()[0], 1.0), BetaMap(0.6, 1.6, 0.0))


TYPES = {
    "CD": Type(
        "decisions: the threshold moves, probabilities stay",
        _classes,
        _decided,
        {
            "right": lambda y, p: (y, p, _agreeing(y, p)),
            "half as many": _threshold(0.5),
            "a tenth more": _threshold(1.1),
            "twice as many": _threshold(2.0),
        },
    ),
    "CP": Type(
        "probabilities: increasing changes, the threshold moves along",
        _classes,
        _decided,
        {
            "right": _mapped(lambda x: x),
            "too sure": _mapped(lambda x: -2 + 2 * (x + 2)),
            "not sure enough": _mapped(lambda x: -2 + 0.5 * (x + 2)),
            "too high": _mapped(lambda x: x + 1),
            "drawn to the mean": _drawn_to_the_mean,
        },
    ),
    "RD": Type(
        "points: too high, too low, too far from the mean or too near",
        _numbers,
        _pointed,
        {
            "right": lambda y, x: (y, x),
            "too high": lambda y, x: (y, x + 0.3),
            "too low": lambda y, x: (y, x - 0.1),
            "stretched": lambda y, x: (y, 12 + 1.3 * (x - 12)),
            "shrunk": lambda y, x: (y, 12 + 0.7 * (x - 12)),
        },
    ),
    "RP": Type(
        "distributions: spread and shape, the means stay",
        _right_laws,
        _forecast,
        {"right": _spread(1.0), "too narrow": _spread(0.7), "too wide": _spread(1.4), "skewed": _skewed},
    ),
}
