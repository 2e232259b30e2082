"""Fit and apply calibrators to tensors of torch, on the device where they are."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..calibration import GroupedCalibrator
from ..distributions import Normal
from ..forecasters.backend import Tensor, need_torch
from ..regression import QuantileCalibrator, ResidualCalibrator, ScaleCalibrator
from ..store import export_torch
from ..store.shared_maps import LEVELS
from ..summaries import GroupedSummary, ScoreSummary, Summary
from .tensor_counts import WeighedScores, weighed_scores
from .tensor_groups import each_by_its_own, weighed_by_group
from .tensor_rows import BLOCK, TensorRows, read_tensors


def fit(calibrator: Any, forecasts: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Any:
    r"""Fit a calibrator to normal forecasts that are tensors, by a summary made on their device.

    Rows are added up by cells of :math:`\operatorname{asinh} z`, :math:`z = (y - \mu)/\sigma`, some million at a time;
    a few thousand numbers come back, and the calibrator learns from those (`fit_summary`), which takes milliseconds.
    Up to 65 536 rows the fit is that to the rows; of more, cells 1/2 048 wide stand for them, as in
    `QuantileCalibrator.summarise`. Of more than 2²⁵ rows without weights all are counted by some thousand cells, and
    every k-th tells their means, which moves probabilities by some 0.00001.

    Rows in which a number is missing or infinite are left out, with a warning that counts them.

    Parameters
    ----------
    calibrator : QuantileCalibrator, ScaleCalibrator ("nll", "coverage") or ResidualCalibrator
        Or a GroupedCalibrator of one. Is not touched; a fitted copy comes back.
    forecasts : pair of tensors (mean, std), or torch.distributions.Normal
        Of any shape and floating type (bfloat16, float16, float32, float64), on any device; scores are worked out in
        float32 at least. One number stands for all rows.
    y : tensor
        Of the same shape, on the same device.
    groups : tensor, optional
        Whole numbers, for a GroupedCalibrator.
    sample_weight : tensor, optional
        Frequencies: 2 is the row twice.

    Returns
    -------
    fitted calibrator
        With `summary_`, so that more rows can be added: ``fitted.fit_summary(fitted.summary_ + summarise(…))``.

    Examples
    --------
    >>> import torch
    >>> from calibrant import QuantileCalibrator
    >>> generator = torch.Generator().manual_seed(0)
    >>> mean = torch.randn(100_000, generator=generator)
    >>> y = mean + 2 * torch.randn(100_000, generator=generator)           # the forecaster believes in a sigma of 1
    >>> cal = fit(QuantileCalibrator(), (mean, torch.tensor(1.0)), y)
    >>> cal.transform(Normal([10.0], [1.0])).std().round(1)
    array([2.])
    """
    summary = summarise(calibrator, forecasts, y, groups=groups, sample_weight=sample_weight)
    return clone(calibrator).fit_summary(summary)


def summarise(calibrator: Any, forecasts: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Summary:
    """All that a calibrator would learn from these rows: of several devices, or of batch after batch, to be added up.

    See `fit` for the arguments.

    Examples
    --------
    >>> import torch
    >>> from calibrant import QuantileCalibrator
    >>> parts = [summarise(QuantileCalibrator(), (torch.zeros(3), torch.ones(3)), torch.randn(3)) for _ in range(2)]
    >>> QuantileCalibrator().fit_summary(parts[0] + parts[1]).n_rows_
    6
    """
    _check_calibrator(calibrator, groups)
    if y is None:
        raise ValueError("`y` must be given: one outcome per forecast.")
    rows = read_tensors(forecasts, y, sample_weight=sample_weight, groups=groups)
    parts: dict[Any, WeighedScores] = {None: weighed_scores(rows)} if groups is None else weighed_by_group(rows)
    _tell_what_is_left_out(rows, sum(part.rows for part in parts.values()))
    if groups is None:
        return _summary(calibrator, parts[None])
    return GroupedSummary({label: _summary(calibrator.calibrator, part) for label, part in parts.items()})


def _tell_what_is_left_out(rows: TensorRows, used: int) -> None:
    wanted = len(rows)
    if rows.weights is not None:
        wanted = sum(int((part.weights > 0).sum()) for part in rows.chunks(BLOCK))
    if not used:
        raise ValueError("`y` must have an outcome beside a forecast, all finite, in at least one row; it has none.")
    if used < wanted:
        warnings.warn(f"{wanted - used} of {wanted} rows are not finite and are left out.", stacklevel=3)


def _summary(calibrator: Any, part: WeighedScores) -> ScoreSummary:
    """Summary of outcomes of standard normal forecasts: those of others are the same once they are standardised."""
    standard = Normal(np.zeros(len(part.scores)), np.ones(len(part.scores)))
    found: ScoreSummary = calibrator.summarise(standard, part.scores, sample_weight=part.mass)
    return replace(found, n_rows=part.rows)


def apply(calibrator: Any, forecasts: Any, *, levels: Any = None, y: Any = None, groups: Any = None) -> Tensor:
    r"""Calibrated quantiles of normal forecasts that are tensors, or their distribution function at y.

    .. math:: q_\tau = \mu + \sigma k_\tau, \qquad F(y) = \Phi\big(T((y - \mu) / \sigma)\big)

    For use again and again, in a net or compiled, see `export_torch`, which this is a call of, 2²² rows at a time.

    Parameters
    ----------
    calibrator : fitted calibrator
        One that `export_torch` takes, or a GroupedCalibrator of such.
    forecasts : pair of tensors (mean, std), or torch.distributions.Normal
    levels : array-like (L,), optional
        Levels of the quantiles, between 0 and 1.
    y : tensor, optional
        Of the shape of the forecasts; probabilities instead of quantiles.
    groups : tensor, optional
        Whole numbers, for a GroupedCalibrator.

    Returns
    -------
    tensor
        Where the forecasts are, with their shape, and (..., L) for quantiles; NaN where they are missing.

    Examples
    --------
    >>> import torch
    >>> from calibrant import ScaleCalibrator
    >>> cal = ScaleCalibrator().fit(Normal([0.0, 0.0, 0.0, 0.0], 1.0), [-2.0, 2.0, 2.0, -2.0])
    >>> apply(cal, (torch.tensor([10.0]), torch.tensor([1.0])), levels=[0.5, 0.975]).round(decimals=2)
    tensor([[10.0000, 13.9200]])
    >>> apply(cal, (torch.tensor([10.0]), torch.tensor([1.0])), y=torch.tensor([10.0]))
    tensor([0.5000])
    """
    torch = need_torch("engines.tensors needs")
    if levels is not None and y is not None:
        raise ValueError("`levels` are of quantiles and `y` is for probabilities; give one of them.")
    _check_groups(calibrator, groups)
    levels = LEVELS if levels is None else levels
    rows = read_tensors(forecasts, y, groups=groups)

    def call(module: Any, part: TensorRows) -> Tensor:
        return module(part.mean, part.std) if y is None else module.cdf(part.mean, part.std, part.y)

    with torch.no_grad():
        if groups is not None:
            check_is_fitted(calibrator)
            found = torch.cat(each_by_its_own(calibrator, rows, levels, call))
        else:
            module = export_torch(calibrator, levels=levels).to(rows.mean.device)
            found = torch.cat([call(module, part) for part in rows.chunks(BLOCK)])
    return found.reshape(*rows.shape, *found.shape[1:])


def _check_groups(calibrator: Any, groups: Any) -> None:
    if isinstance(calibrator, GroupedCalibrator) and groups is None:
        raise ValueError("`groups` must be given: one label per forecast. No groups? Use the calibrator on its own.")
    if groups is not None and not isinstance(calibrator, GroupedCalibrator):
        raise ValueError(f"`groups` are for a GroupedCalibrator; got a {type(calibrator).__name__}.")


def _check_calibrator(calibrator: Any, groups: Any) -> None:
    _check_groups(calibrator, groups)
    own = calibrator if groups is None else calibrator.calibrator
    kinds = (QuantileCalibrator, ScaleCalibrator, ResidualCalibrator)
    known = isinstance(own, kinds) and getattr(own, "feature", "difference") == "difference"
    if not known or not calibrator.summary_is_enough or own._learns_from is not ScoreSummary:
        raise TypeError(
            f"{calibrator!r} cannot learn from tensors: only those that standardised outcomes are enough for can, that "
            "is QuantileCalibrator, ScaleCalibrator('nll' or 'coverage') and ResidualCalibrator. Use its own fit."
        )
