"""Increasing maps of normal scores, and how they are fitted. Fitting a map returns a finished object."""

from .affine import AffineMap, identity
from .averaged_beta import AveragedBetaMap
from .base import Map
from .beta import BetaMap, fit_beta
from .composed import ComposedMap
from .flow import FlowMap, HatFlowMap
from .kernel import fit_kernel
from .mixed import MixedMap
from .piecewise import PiecewiseLinearMap, ProbabilityMap, StepMap
from .probability_rows import ProbabilityRows
from .ranks import fit_ecdf, fit_isotonic, fit_step
from .skew import SkewMap
from .smooth_rows import SmoothRows
from .spline import SplineMap
from .spline_fit import fit_spline
from .tabulated import fit_regressor, tabulated
from .tails import UnitTails

__all__ = [
    "AffineMap",
    "AveragedBetaMap",
    "BetaMap",
    "ComposedMap",
    "FlowMap",
    "HatFlowMap",
    "Map",
    "MixedMap",
    "PiecewiseLinearMap",
    "ProbabilityMap",
    "ProbabilityRows",
    "SkewMap",
    "SmoothRows",
    "SplineMap",
    "StepMap",
    "UnitTails",
    "fit_beta",
    "fit_ecdf",
    "fit_isotonic",
    "fit_kernel",
    "fit_regressor",
    "fit_spline",
    "fit_step",
    "identity",
    "tabulated",
]
