"""Fitted calibrators in files, without pickle."""

from .calibrators import describe, load, save

__all__ = ["describe", "load", "save"]
