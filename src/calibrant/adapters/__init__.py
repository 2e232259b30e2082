"""From what models give to distributions."""

from .registry import as_distribution
from .scipy_law import ScipyLaw

__all__ = ["ScipyLaw", "as_distribution"]
