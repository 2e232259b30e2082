"""Fit, evaluate and apply calibrators to tables; what comes out is a Result that reports draw."""

from .analysis import analyse
from .result import Group, Result, WorstRow

__all__ = ["Group", "Result", "WorstRow", "analyse"]
