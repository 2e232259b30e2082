"""Which calibrator is best for these data? Cross-validated, with "none" competing. And where are forecasts wrong."""

from .auto import AutoCalibrator
from .compare import compare
from .comparison import Comparison
from .segments.find import find_segments
from .segments.table import Segment, Segments

__all__ = ["AutoCalibrator", "Comparison", "Segment", "Segments", "compare", "find_segments"]
