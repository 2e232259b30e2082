"""Predictive laws: the currency of the library."""

from .base import Distribution
from .censored import Censored
from .families.beta import Beta
from .families.gamma import Gamma
from .families.gev import GEV
from .families.gpd import GPD
from .families.gumbel import Gumbel
from .families.laplace import Laplace
from .families.logistic import Logistic
from .families.lognormal import LogNormal
from .families.negative_binomial import NegativeBinomial
from .families.normal import Normal
from .families.poisson import Poisson
from .families.skew_normal import SkewNormal
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
    "GEV",
    "GPD",
    "Beta",
    "Censored",
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
    "SkewNormal",
    "StudentT",
    "Truncated",
    "concatenate",
]
