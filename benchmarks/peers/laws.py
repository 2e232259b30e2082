"""Recalibration of predictive distributions: fitted to n rows, applied to others."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import numpy as np
from scipy.special import ndtr

from .job import OURS, Data, Entry, Job, Quality

SIZES = (10_000, 1_000_000)
FEW, GP_ROWS = 1_000, 400
LEVELS = np.linspace(0.05, 0.95, 19)


# ---- arrays ----
def forecasts(n: int) -> Data:
    """Normal forecasts, too narrow, with skewed outcomes; as many others."""
    rng = np.random.default_rng(0)
    mu = rng.normal(0, 2, 2 * n)
    sigma = np.exp(0.3 * rng.normal(size=2 * n))
    y = mu + 0.2 + 1.6 * sigma * (rng.gamma(4.0, 1.0, 2 * n) - 4) / 2
    return Data(mu=mu[:n], sigma=sigma[:n], y=y[:n], new_mu=mu[n:], new_sigma=sigma[n:], new_y=y[n:])


def for_few(n: int) -> Data:
    """The same, applied to a thousand rows."""
    d = forecasts(n)
    return Data(**{name: value[:FEW] if name.startswith("new") else value for name, value in vars(d).items()})


def varying(n: int) -> Data:
    """Forecasts that are too wide where the mean is small and too narrow and skewed where it is large."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 2 * n)
    mu, sigma = 2 * np.sin(6 * x), np.full(2 * n, 1.0)
    noise = np.where(x > 0.5, (rng.gamma(2, 1, 2 * n) - 2) / np.sqrt(2), rng.standard_normal(2 * n))
    y = mu + np.where(x > 0.5, 1.8, 0.5) * noise
    return Data(mu=mu[:n], sigma=sigma[:n], y=y[:n], new_mu=mu[n:], new_sigma=sigma[n:], new_y=y[n:])


# ---- quality ----
def normal_crps(y: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The closed form of Gneiting et al. (2005)."""
    z = (y - mu) / sigma
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return sigma * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / np.sqrt(np.pi))


def _pinball(d: Data, quantiles: Any) -> np.ndarray:
    left = d.new_y[:, None] - np.asarray(quantiles)
    return np.maximum(LEVELS * left, (LEVELS - 1) * left).mean(axis=1)


CRPS = Quality("CRPS", lambda d, scale: normal_crps(d.new_y, d.new_mu, np.ravel(scale)))
PINBALL = Quality("pinball loss", _pinball)
NLL = Quality("NLL", lambda d, density: -np.log(np.ravel(density)))


# ---- deviations ----
def _our_scale(d: Data) -> Any:
    from calibrant import Normal, ScaleCalibrator

    return ScaleCalibrator().fit(Normal(d.mu, d.sigma), d.y).transform(Normal(d.new_mu, d.new_sigma)).std()


def _toolbox_scale(d: Data) -> Any:
    import uncertainty_toolbox

    return d.new_sigma * uncertainty_toolbox.optimize_recalibration_ratio(d.mu, d.sigma, d.y)


def _netcal_scale(d: Data) -> Any:
    from netcal.regression import VarianceScaling

    return VarianceScaling().fit((d.mu, d.sigma), d.y).transform((d.new_mu, d.new_sigma))


# ---- maps of levels ----
def _our_quantiles(d: Data) -> Any:
    from calibrant import Normal, QuantileCalibrator

    calibrator = QuantileCalibrator(map="isotonic").fit(Normal(d.mu, d.sigma), d.y)
    return calibrator.transform(Normal(d.new_mu, d.new_sigma)).quantiles(LEVELS)


def _toolbox_quantiles(d: Data) -> Any:
    import uncertainty_toolbox as toolbox

    expected, observed = toolbox.get_proportion_lists_vectorized(d.mu, d.sigma, d.y, prop_type="quantile")
    model = toolbox.iso_recal(expected, observed)
    quantile = toolbox.metrics_calibration.get_quantile
    return np.column_stack([quantile(d.new_mu, d.new_sigma, level, model) for level in LEVELS])


def _netcal_quantiles(d: Data) -> Any:
    from netcal.regression import IsotonicRegression

    at, _, level = IsotonicRegression().fit((d.mu, d.sigma), d.y).transform((d.new_mu, d.new_sigma))
    at, level = at[:, :, 0].T, level[:, :, 0].T
    return np.stack([np.interp(LEVELS, p, x) for p, x in zip(level, at, strict=True)])


# ---- one map for each row ----
def _our_gp(d: Data) -> Any:
    from calibrant import GPBetaCalibrator, Normal

    return GPBetaCalibrator().fit(Normal(d.mu, d.sigma), d.y).transform(Normal(d.new_mu, d.new_sigma)).pdf(d.new_y)


def _netcal_gp(d: Data) -> Any:
    import torch
    from netcal.regression import GPBeta

    torch.manual_seed(0)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        model = GPBeta().fit((d.mu, d.sigma), d.y)
        return model.transform((d.new_mu, d.new_sigma), t=d.new_y[None, :, None])[1]


def _our_gp_scale(d: Data) -> Any:
    from calibrant import Normal, StackCalibrator

    return StackCalibrator().fit(Normal(d.mu, d.sigma), d.y).transform(Normal(d.new_mu, d.new_sigma)).pdf(d.new_y)


def _netcal_gp_scale(d: Data) -> Any:
    import torch
    from netcal.regression import GPNormal

    torch.manual_seed(0)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        scale = np.ravel(GPNormal().fit((d.mu, d.sigma), d.y).transform((d.new_mu, d.new_sigma)))
    return np.exp(-0.5 * np.square((d.new_y - d.new_mu) / scale)) / (scale * np.sqrt(2 * np.pi))


def _entries(ours: Entry, **peers: Entry) -> dict[str, Entry]:
    return {OURS: ours, **{name.replace("_", "-"): entry for name, entry in peers.items()}}


JOBS = (
    Job(
        "laws scale",
        "One factor for all deviations",
        SIZES,
        forecasts,
        CRPS,
        _entries(_our_scale, uncertainty_toolbox=_toolbox_scale, netcal=_netcal_scale),
        "one pass",
    ),
    Job(
        "laws isotonic",
        "Isotonic map of levels, 19 quantiles of 1 000 rows",
        SIZES,
        for_few,
        PINBALL,
        _entries(_our_quantiles, uncertainty_toolbox=_toolbox_quantiles, netcal=_netcal_quantiles),
        "sort",
    ),
    Job(
        "laws gp-beta",
        "GP-Beta, a map for each row",
        (GP_ROWS,),
        varying,
        NLL,
        _entries(_our_gp, netcal=_netcal_gp),
        "sort",
    ),
    Job(
        "laws by-row",
        "A deviation for each row (netcal: GP-Normal; calibrant: stack)",
        (GP_ROWS,),
        varying,
        NLL,
        _entries(_our_gp_scale, netcal=_netcal_gp_scale),
        "sort",
    ),
)
