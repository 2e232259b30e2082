"""Increasing maps of normal scores, and how they are fitted. Fitting a map returns a finished object."""

from .affine import AffineMap, identity
from .base import Map
from .beta import BetaMap, fit_beta
from .kernel import fit_kernel
from .piecewise import PiecewiseLinearMap, ProbabilityMap, StepMap
from .ranks import fit_ecdf, fit_isotonic, fit_step
from .spline import SplineMap
from .spline_fit import fit_spline
from .tails import UnitTails

__all__ = [
    "AffineMap",
    "BetaMap",
    "Map",
    "PiecewiseLinearMap",
    "ProbabilityMap",
    "SplineMap",
    "StepMap",
    "UnitTails",
    "fit_beta",
    "fit_ecdf",
    "fit_isotonic",
    "fit_kernel",
    "fit_spline",
    "fit_step",
    "identity",
]
