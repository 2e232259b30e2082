"""``as_distribution``: whatever a model gives, as a distribution."""

from __future__ import annotations

from typing import Any, Literal, NoReturn

import numpy as np

from ..distributions.base import Distribution
from .arviz import from_arviz
from .frames import from_frame, from_mapping
from .ngboost import from_ngboost
from .pairs import from_pair, lent_pair
from .samples import from_samples
from .scipy import from_scipy
from .skpro import from_skpro
from .torch import from_torch

# Tried in this order, samples last; each gives a distribution, or None for objects that are not its own.
ADAPTERS = (from_pair, from_scipy, from_torch, from_ngboost, from_skpro, from_arviz, from_mapping, from_frame)

ACCEPTED = (
    "a Distribution, a tuple (mean, std), a distribution of scipy.stats, torch.distributions, "
    "NGBoost or skpro, draws of ArviZ, "
    "a 2-D array of samples (n, m), Intervals(low, high, coverage), a dict {level: column}, "
    "or a frame with columns of quantiles, of samples (sample_0, ...), or mean and std"
)


def as_distribution(obj: Any, *, kind: Literal["smooth", "discrete"] | None = None) -> Distribution:
    """A batch of laws from whatever a model gives; rows are instances.

    Parameters
    ----------
    obj : object
        - a ``Distribution``: itself;
        - a tuple ``(mean, std)`` of (n,) arrays or scalars: ``Normal``;
        - a frozen or new-style ``scipy.stats`` object with (n,) parameters: the law of that name or a ``ScipyLaw``;
        - a ``torch.distributions`` object with batch shape (n,), mixtures included; what NGBoost's ``pred_dist`` gives;
        - what skpro's ``predict_proba`` gives; ArviZ's InferenceData, its posterior predictive draws: ``Ensemble``;
        - a 2-D array (n, m) of samples, m at least 3: ``Ensemble``; two columns could be anything and are refused: say
          ``Normal(mean, std)``, ``Intervals(low, high, coverage)`` or ``Ensemble(samples)``;
        - a dict or a frame (pandas, polars, pyarrow) of quantiles, its columns named as ``0.1``, ``"q0.1"``, ``"q10"``
          or ``"10%"`` or as forecasting libraries do: ``Quantiles``; of mean and std (or mu, sigma; loc, scale):
          ``Normal``; of ``sample_0``, ``sample_1``, ...: ``Ensemble``. Columns of other names are no matter.
    kind : {"smooth", "discrete"}, optional
        For samples only: the kind of ``Ensemble``. It also says that two columns are samples.

    Examples
    --------
    >>> as_distribution(([0.0, 1.0], 1.0))
    Normal(n=2)
    >>> as_distribution({0.1: [1.0, 2.0], 0.9: [3.0, 5.0]})
    Quantiles(n=2)
    >>> from scipy import stats
    >>> as_distribution(stats.gamma(a=[2.0, 3.0], scale=0.5))
    Gamma(n=2)
    """
    law = obj if isinstance(obj, Distribution) else _first(obj)
    if law is None:
        law = from_samples(obj, kind)
    elif kind is not None:
        raise ValueError(f"`kind` is for samples only; got kind={kind!r} with {type(obj).__name__}.")
    if law is None:
        _refuse(obj)
    return law


def lent_distribution(obj: Any) -> Distribution:
    """As `as_distribution`, for a law of which nothing is kept: it may hold the very numbers that were given."""
    law = lent_pair(obj)
    return as_distribution(obj) if law is None else law


def _first(obj: Any) -> Distribution | None:
    found = (adapter(obj) for adapter in ADAPTERS)
    return next((law for law in found if law is not None), None)


def _refuse(obj: Any) -> NoReturn:
    shape = np.shape(obj) if hasattr(obj, "shape") or isinstance(obj, list) else None
    if shape is not None and len(shape) == 1:
        raise ValueError(
            f"a 1-D array of {shape[0]} numbers has no spread. "
            "Point predictions? Use ResidualCalibrator, or give (mean, std)."
        )
    what = type(obj).__name__ if shape is None else f"{type(obj).__name__} of shape {tuple(shape)}"
    raise TypeError(f"cannot read {what} as a distribution. Accepted: {ACCEPTED}.")
