"""From what models give to distributions, and back."""

from .registry import as_distribution
from .scipy_law import ScipyLaw
from .to_skpro import as_skpro

__all__ = ["ScipyLaw", "as_distribution", "as_skpro"]
