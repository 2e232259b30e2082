"""Fitted calibrators in files, without pickle."""

from .calibrators import describe, load, save
from .onnx import export_onnx

__all__ = ["describe", "export_onnx", "load", "save"]
