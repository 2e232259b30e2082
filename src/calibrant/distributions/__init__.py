"""Predictive laws: the currency of the library."""

from .base import Distribution
from .families.gamma import Gamma
from .families.gumbel import Gumbel
from .families.laplace import Laplace
from .families.logistic import Logistic
from .families.lognormal import LogNormal
from .families.negative_binomial import NegativeBinomial
from .families.normal import Normal
from .families.poisson import Poisson
from .families.student_t import StudentT
from .joined import Joined, concatenate
from .location_scale import LocationScale
from .mixture.law import Mixture
from .recalibrated import Recalibrated
from .tables.ensemble import Ensemble
from .tables.histogram import Histogram
from .tables.intervals import Intervals
from .tables.quantiles import Quantiles
from .truncated import Truncated

__all__ = [
    "Distribution",
    "Ensemble",
    "Gamma",
    "Gumbel",
    "Histogram",
    "Intervals",
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
