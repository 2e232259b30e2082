"""Calibrators of normal forecasts as modules of torch, to be used inside a net."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import probabilities
from ..distributions import Normal
from ..forecasters.backend import need_torch
from ..maps import AffineMap, Map, ProbabilityMap
from .shared_maps import LEVELS, shared_maps, standard_quantiles

_MOST = 2.0  # of |z| dF/dz, for single precision to hold a probability to 1e-6
_PLACES = np.linspace(0.0, 1.0, 20_001)[1:-1]


def export_torch(calibrator: Any, *, levels: Any = LEVELS, dtype: Any = None) -> Any:
    r"""A fitted calibrator of normal forecasts as a ``torch.nn.Module``, differentiable and compilable.

    .. math:: q_\tau = \mu + \sigma k_\tau, \qquad F(y) = \Phi\big(T((y - \mu) / \sigma)\big)

    ``module(mean, std)`` gives quantiles at the levels (..., L), ``module.cdf(mean, std, y)`` probabilities and
    ``module.log_prob(mean, std, y)`` log densities, on the device where the module is (``module.to("cuda")``) and
    differentiable in all three. ``torch.compile(module.cdf)`` makes one kernel of it; on a GPU
    ``options={"assert_indirect_indexing": False}`` makes that a twentieth faster. There is nothing to train. Keep it by
    its state, which is tensors only: ``torch.save(module.state_dict(), path)``, and
    ``type(module).from_state(torch.load(path, weights_only=True))``, or ``load_state_dict`` of a module of the same
    shape.

    In float32 probabilities are within 1e-6 of Python's, and quantiles within 1e-6 of the larger of std and quantile. A
    std that is not positive is not refused, and gives nonsense.

    Parameters
    ----------
    calibrator : fitted QuantileCalibrator, ScaleCalibrator ("nll", "coverage") or ResidualCalibrator
        Or a chain or choice of these: all rows must have one map in common.
    levels : array-like (L,)
        Levels of the quantiles, between 0 and 1.
    dtype : torch.float32 or torch.float64, optional
        Of the numbers held and of the work. By default float32, unless the map is so steep (steps, "isotonic", lines
        through many ranks, a bias of many standard deviations) that float32 might not be right to 1e-6.

    Returns
    -------
    CalibratedNormal

    Examples
    --------
    >>> from calibrant import QuantileCalibrator
    >>> rng = np.random.default_rng(0)
    >>> cal = QuantileCalibrator().fit(Normal(np.zeros(2000), 1.0), rng.normal(0.0, 2.0, 2000))
    >>> import torch
    >>> module = export_torch(cal, levels=[0.1, 0.5, 0.9])
    >>> module(torch.tensor([10.0]), torch.tensor([1.0])).round(decimals=0)
    tensor([[ 7., 10., 13.]])
    >>> mean = torch.tensor([0.0], requires_grad=True)
    >>> module.log_prob(mean, torch.tensor([1.0]), torch.tensor([2.0])).sum().backward()
    >>> mean.grad.round(decimals=1)                                # (y - mean) / 2²
    tensor([0.5000])
    """
    torch = need_torch("export_torch needs")
    maps = shared_maps(calibrator) or [AffineMap()]
    taus = np.atleast_1d(probabilities(levels, "levels"))
    if dtype not in (None, torch.float32, torch.float64):
        raise ValueError(f"`dtype` must be torch.float32, torch.float64 or None; got {dtype!r}.")
    if dtype is None:
        dtype = torch.float64 if _is_steep(calibrator, maps) else torch.float32
    from .torch_maps import module_of
    from .torch_module import CalibratedNormal

    numbers = [torch.as_tensor(values, dtype=dtype) for values in (taus, standard_quantiles(calibrator, taus)[0])]
    return CalibratedNormal([module_of(map, dtype) for map in maps], *numbers)


def _is_steep(calibrator: Any, maps: list[Map]) -> bool:
    """Whether rounding a score to single precision may move its probability by about 1e-6."""
    law = calibrator.transform(Normal(np.zeros(1), np.ones(1)))
    if law.has_atoms or any(isinstance(map, ProbabilityMap) for map in maps):
        return True
    z = law.quantiles(_PLACES)
    return bool((np.abs(z) * law.pdf(z)).max() > _MOST)
