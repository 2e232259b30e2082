"""Base models of the papers: nets whose predictions are distributions. They need torch, which is loaded when asked."""

from .concrete import ConcreteDropoutMLP
from .deep_ensemble import DeepEnsemble
from .depth import DenseDepthNet
from .dropout import DropoutMLP
from .gru import DropoutGRU
from .panels import panel
from .together import fit_together

__all__ = ["ConcreteDropoutMLP", "DeepEnsemble", "DenseDepthNet", "DropoutGRU", "DropoutMLP", "fit_together", "panel"]
