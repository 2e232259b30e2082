"""A watch on forecasts in use: :class:`DriftMonitor` says whether something has changed, what, and since when."""

from .alarms import Alarm
from .drift import DriftMonitor

__all__ = ["Alarm", "DriftMonitor"]
