"""Laws and models of laws as skpro's own."""

from __future__ import annotations

from typing import Any

from ..distributions.base import Distribution
from .nested import law_method
from .registry import as_distribution


def as_skpro(obj: Any, *, columns: Any = None) -> Any:
    """A law as a distribution of skpro's, or a model of laws as a probabilistic regressor of skpro's.

    The distribution has shape (n, 1), the index of the law, and its cdf, ppf, pdf (pmf of counts), mean, var and energy
    number by number, so that skpro's metrics give what `calibrant.metrics` give. `as_distribution` gives the law back.

    The regressor fits a clone of the model, and states its laws by ``predict_proba``; ``predict_interval``,
    ``predict_quantiles``, ``predict_var`` and skpro's searches and metrics follow. Needs skpro.

    Parameters
    ----------
    obj : Distribution, whatever `as_distribution` reads, or a model with ``predict_dist``
        Such as `CalibratedRegressor`, or a pipeline or search that ends in one.
    columns : sequence of one name, optional
        Name of the outcome, for laws; 0 if None. A regressor takes that of the y it is fitted to.

    Examples
    --------
    >>> from calibrant import Normal
    >>> as_skpro(Normal([0.0, 1.0], 2.0), columns=["sales"]).mean()
       sales
    0    0.0
    1    1.0
    """
    try:
        from .skpro_objects import SkproLaw, SkproRegressor
    except ImportError as reason:
        raise ImportError("as_skpro needs skpro, which is not installed: pip install skpro.") from reason
    if isinstance(obj, type):
        raise TypeError(f"`obj` must be a law or a model; got the class {obj.__name__}.")
    if not isinstance(obj, Distribution) and law_method(obj) is not None:
        if columns is not None:
            raise ValueError("`columns` is for laws; a regressor takes the name of the y that it is fitted to.")
        return SkproRegressor(obj)
    return SkproLaw.of(as_distribution(obj), columns)
