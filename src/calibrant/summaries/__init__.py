"""All that calibrators learn from, in numbers that do not grow with the rows and can be added up in any order."""

from .base import Summary
from .scores import ScoreSummary
from .spread import SpreadSummary

__all__ = ["ScoreSummary", "SpreadSummary", "Summary"]
