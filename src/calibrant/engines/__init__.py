"""Fit, evaluate and apply calibrators to tables; what comes out is a Result that reports draw."""

from .analysis import analyse
from .decision import Check, Decision
from .result import Bin, Group, Result, WorstRow, WrongSegment

__all__ = ["Bin", "Check", "Decision", "Group", "Result", "WorstRow", "WrongSegment", "analyse"]
