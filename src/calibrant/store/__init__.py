"""Fitted calibrators in files, without pickle."""

from .calibrators import describe, load, save
from .onnx import export_onnx
from .torch_export import export_torch

__all__ = ["describe", "export_onnx", "export_torch", "load", "save"]
