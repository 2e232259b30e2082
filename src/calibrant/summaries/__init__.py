"""All that calibrators learn from, in numbers that do not grow with the rows and can be added up in any order."""

from .base import Summary
from .classes import ClassSummary
from .grouped import GroupedSummary
from .scores import ScoreSummary
from .segments import SegmentSummary
from .spread import SpreadSummary

__all__ = ["ClassSummary", "GroupedSummary", "ScoreSummary", "SegmentSummary", "SpreadSummary", "Summary"]
