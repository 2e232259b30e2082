"""Predictive laws: the currency of the library."""

from .base import Distribution
from .ensemble import Ensemble
from .gamma import Gamma
from .histogram import Histogram
from .joined import Joined, concatenate
from .laplace import Laplace
from .location_scale import LocationScale
from .logistic import Logistic
from .lognormal import LogNormal
from .mixture import Mixture
from .negative_binomial import NegativeBinomial
from .normal import Normal
from .poisson import Poisson
from .quantiles import Quantiles
from .recalibrated import Recalibrated
from .student_t import StudentT
from .truncated import Truncated

__all__ = [
    "Distribution",
    "Ensemble",
    "Gamma",
    "Histogram",
    "Joined",
    "Laplace",
    "LocationScale",
    "LogNormal",
    "Logistic",
    "Mixture",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "Quantiles",
    "Recalibrated",
    "StudentT",
    "Truncated",
    "concatenate",
]
