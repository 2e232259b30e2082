"""A mean and a log variance as outputs of a net."""

from __future__ import annotations

from typing import Any

from .backend import Tensor, need_torch
from .feed_forward import normal_losses

_LEAST, _MOST = -12.0, 12.0  # log variances of standardised targets that single precision has room for


def variance(outputs: Tensor) -> Tensor:
    """Of outputs (..., 2), whose second is its logarithm."""
    return outputs[..., 1].clamp(_LEAST, _MOST).exp()


def mean_losses(outputs: Tensor, y: Tensor, on: Tensor | None = None) -> Tensor:
    r"""Losses (..., b) of outputs (..., b, k, 2) and targets (..., b, k), averaged over those of the k that are on.

    .. math:: \tfrac12 e^{-s}(y - m)^2 + \tfrac12 s

    and a constant, with means m and log variances s (Kendall & Gal 2017).
    """
    losses = normal_losses(y, outputs[..., 0], variance(outputs))
    return losses.mean(dim=-1) if on is None else (losses * on).sum(dim=-1) / on.sum(dim=-1).clamp(min=1)


def drawn(outputs: Tensor, generator: Any) -> Tensor:
    """One draw (...) of the normal law of each pair of outputs (..., 2)."""
    noise = need_torch().randn(outputs.shape[:-1], generator=generator, device=outputs.device)
    return outputs[..., 0] + variance(outputs).sqrt() * noise
