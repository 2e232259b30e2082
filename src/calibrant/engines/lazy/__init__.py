"""Fit, evaluate and apply where the data lives: one expression for every engine that narwhals knows."""

from .apply import apply
from .evaluate import evaluate
from .fit import fit

__all__ = ["apply", "evaluate", "fit"]
