"""Binary fits shared by densities and classifiers: weighted, binned, many problems at a time."""

from ..numerics.newton import newton
from .base import Link
from .beta import BetaLink
from .binning import BinningLink
from .isotonic import IsotonicLink
from .logistic import LogisticLink
from .trials import Trials, binned

__all__ = ["BetaLink", "BinningLink", "IsotonicLink", "Link", "LogisticLink", "Trials", "binned", "newton"]
