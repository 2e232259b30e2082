"""Which calibrator is best for these data? Cross-validated, with "none" competing."""

from .auto import AutoCalibrator
from .compare import compare
from .comparison import Comparison

__all__ = ["AutoCalibrator", "Comparison", "compare"]
