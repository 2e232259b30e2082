"""calibrant takes the predictions any model already makes and returns predictions you can bet on, with the evidence."""

from . import displays, metrics
from ._version import __version__
from .adapters import as_distribution
from .calibration import Chain, GroupedCalibrator
from .distributions import (
    Ensemble,
    Gamma,
    Histogram,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    NegativeBinomial,
    Normal,
    Poisson,
    Quantiles,
    Recalibrated,
    StudentT,
    Truncated,
    concatenate,
)
from .regression import (
    CalibratedRegressor,
    DensityCalibrator,
    FlowCalibrator,
    GPBetaCalibrator,
    GPCCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    StackCalibrator,
)

__all__ = [
    "CalibratedRegressor",
    "Chain",
    "DensityCalibrator",
    "Ensemble",
    "FlowCalibrator",
    "GPBetaCalibrator",
    "GPCCalibrator",
    "Gamma",
    "GroupedCalibrator",
    "Histogram",
    "Laplace",
    "LogNormal",
    "Logistic",
    "Mixture",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "QuantileCalibrator",
    "Quantiles",
    "Recalibrated",
    "ResidualCalibrator",
    "ScaleCalibrator",
    "StackCalibrator",
    "StudentT",
    "Truncated",
    "__version__",
    "as_distribution",
    "concatenate",
    "displays",
    "metrics",
]
