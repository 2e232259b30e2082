"""Calibrators that compete where none are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator, clone

from .. import classification as c
from .. import regression as r
from ..adapters.class_scores import ClassScores
from ..calibration.base import check_calibrator
from ..calibration.soundness import example_laws
from ..classification.base import CLIP, ScoreCalibrator, clipped
from .comparison import NONE


class NoCalibrator(BaseEstimator):
    """Leaves forecasts as they are."""

    def fit(self, forecasts: Any, y: Any, *, sample_weight: Any = None) -> NoCalibrator:
        """Nothing to learn."""
        return self

    def transform(self, forecasts: Any) -> Any:
        """The probabilities that scores stand for, none exactly 0 or 1, or the distributions themselves."""
        return clipped(forecasts.probabilities(), CLIP) if isinstance(forecasts, ClassScores) else forecasts

    def _examples(self) -> Any:
        return example_laws()

    def _check_forecasts(self) -> None:
        """What leaves forecasts as they are makes forecasts."""


def default_candidates(forecasts: Any) -> dict[str, Any]:
    """Every sensible calibrator for such forecasts."""
    if not isinstance(forecasts, ClassScores):
        return {
            "scale": r.ScaleCalibrator(),
            "quantile": r.QuantileCalibrator(),
            "density": r.DensityCalibrator(),
            "GP-Beta": r.GPBetaCalibrator(),
            "stack": r.StackCalibrator(),
        }
    of_odds: dict[str, Any] = {"Platt": c.PlattCalibrator()}
    if forecasts.kind != "margins":
        of_odds = {"temperature": c.TemperatureCalibrator(), **of_odds, "beta": c.BetaCalibrator()}
        if forecasts.n_classes > 2:
            of_odds |= {"vector": c.VectorCalibrator(), "Dirichlet": c.DirichletCalibrator()}
    of_ranks = {
        "smooth isotonic": c.SmoothIsotonicCalibrator(),
        "isotonic": c.IsotonicCalibrator(),
        "Venn-Abers": c.VennAbersCalibrator(),
    }
    return of_odds | of_ranks


def named(candidates: Any, forecasts: Any) -> dict[str, Any]:
    """Candidates by name, "none" first where forecasts are usable as they are."""
    if candidates is None:
        chosen = default_candidates(forecasts)
    elif isinstance(candidates, Mapping):
        chosen = {str(name): check_calibrator(item, f"candidates[{name!r}]") for name, item in candidates.items()}
    else:
        items = [check_calibrator(item, f"candidates[{i}]") for i, item in enumerate(candidates)]
        kinds = [type(item).__name__ for item in items]
        chosen = {kind if kinds.count(kind) == 1 else repr(item): item for kind, item in zip(kinds, items, strict=True)}
    if not chosen:
        raise ValueError("`candidates` must name at least one calibrator; it is empty.")
    usable = not (isinstance(forecasts, ClassScores) and forecasts.kind == "margins")
    return ({NONE: NoCalibrator()} if usable else {}) | {name: clone(item) for name, item in chosen.items()}


def task_of(candidates: Any) -> str:
    """The task that the candidates are for, as far as they tell."""
    items = list(candidates.values()) if isinstance(candidates, Mapping) else list(candidates or [])
    if not items:
        return "auto"
    return "classification" if any(isinstance(item, ScoreCalibrator) for item in items) else "auto"
