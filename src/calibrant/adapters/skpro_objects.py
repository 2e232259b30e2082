"""A law as skpro's distribution, and a model of laws as its regressor. Needs skpro: imported only where asked for."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from skpro.distributions.base import BaseDistribution
from skpro.regression.base import BaseProbaRegressor
from skpro.utils.sklearn import prep_skl_df

from .._checks import Array
from ..distributions.base import Distribution
from ..distributions.families.normal import Normal
from ..distributions.families.poisson import Poisson
from ..distributions.integrals.quadrature import deviations
from .predicted import predicted_law

_EXACT = ["mean", "var", "energy", "pdf", "log_pdf", "pmf", "log_pmf", "cdf", "ppf"]


class SkproLaw(BaseDistribution):
    r"""A batch of n laws as a distribution of skpro's of shape (n, 1), or one law as one of shape ().

    The energy is :math:`E|X - x|`, and :math:`E|X - X'| = 2\,(E|X - m| - \mathrm{CRPS}(m))` for any m.

    Parameters
    ----------
    law : Distribution
    index : pandas index (n,), optional
    columns : pandas index (1,), optional

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.adapters.skpro_objects import SkproLaw
    >>> SkproLaw.of(Normal([0.0, 1.0], 2.0), ["y"]).ppf(0.5)
         y
    0  0.0
    1  1.0
    """

    _tags = {  # noqa: RUF012  (as skpro reads it)
        "capabilities:approx": ["pdfnorm"],
        "capabilities:exact": _EXACT,
        "distr:measuretype": "mixed",
        "distr:paramtype": "nonparametric",
        "broadcast_init": "off",
    }

    def __init__(self, law: Distribution, index: Any = None, columns: Any = None) -> None:
        self.law = law
        super().__init__(index=index, columns=columns)
        smooth = "mixed" if law.has_atoms else "continuous"
        self.set_tags(**{"distr:measuretype": "discrete" if law.is_discrete else smooth})

    @classmethod
    def of(cls, law: Distribution, columns: Any = None) -> Self:
        """Of shape (n, 1), with the law's index."""
        index = pd.RangeIndex(len(law)) if law.index is None else law.index
        names = pd.RangeIndex(1) if columns is None else pd.Index(columns)
        if len(names) != 1:
            raise ValueError(f"`columns` must be one name; got {len(names)}.")
        return cls(law, index=index, columns=names)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Examples for skpro's own checks."""
        rows = {"index": pd.RangeIndex(2), "columns": pd.RangeIndex(1)}
        return [
            {"law": Normal([0.0], [1.0])},
            {"law": Normal([0.0, 1.0], 2.0), **rows},
            {"law": Poisson([1.0, 3.0]), **rows},
        ]

    def _iloc(self, rowidx: Any = None, colidx: Any = None) -> Any:
        """Rows by number; there is one column."""
        if np.isscalar(rowidx) and np.isscalar(colidx):
            return self._iat(rowidx, colidx)
        rows = np.arange(len(self)) if rowidx is None else np.atleast_1d(np.arange(len(self))[rowidx])
        columns = self.columns if colidx is None else self.columns[np.atleast_1d(np.arange(1)[colidx])]
        return type(self)(self.law[rows], index=self.index[rows], columns=columns)

    def _iat(self, rowidx: Any = None, colidx: Any = None) -> Any:
        if rowidx is None or colidx is None:
            raise ValueError("iat needs both a row and a column.")
        return type(self)(self.law[[rowidx]])

    def _by_law(self, values: Any) -> Any:
        """Numbers of the rows in the shape of self."""
        return values.reshape(self.shape) if self.ndim else values[0]

    def _of(self, function: Any, x: Any) -> Any:
        return self._by_law(function(np.atleast_1d(np.asarray(x, dtype=float)).reshape(-1)))

    def _mean(self) -> Any:
        return self._by_law(self.law.mean())

    def _var(self) -> Any:
        return self._by_law(self.law.var())

    def _cdf(self, x: Any) -> Any:
        return self._of(self.law.cdf, x)

    def _ppf(self, p: Any) -> Any:
        return self._of(self.law.ppf, p)

    def _pdf(self, x: Any) -> Any:
        return np.zeros(np.shape(x)) if self.law.is_discrete else self._of(self.law.pdf, x)

    def _log_pdf(self, x: Any) -> Any:
        return np.full(np.shape(x), -np.inf) if self.law.is_discrete else self._of(self.law.logpdf, x)

    def _pmf(self, x: Any) -> Any:
        return np.exp(self._log_pmf(x))

    def _log_pmf(self, x: Any) -> Any:
        return self._of(self.law.logpmf, x) if self.law.is_discrete else np.full(np.shape(x), -np.inf)

    def _energy_x(self, x: Any) -> Any:
        return self._of(lambda y: _distance(self.law, y), x)

    def _energy_self(self) -> Any:
        middle = self.law.median()
        return self._by_law(2 * (_distance(self.law, middle) - self.law.crps(middle)))


def _distance(law: Distribution, y: Array) -> Array:
    """E|Y - y| of each row."""
    return np.asarray(deviations(law, y).sum(axis=0))


class SkproRegressor(BaseProbaRegressor):
    """A model of laws as a probabilistic regressor of skpro's.

    Parameters
    ----------
    model : regressor with ``predict_dist``, or a pipeline or search that ends in one

    Attributes
    ----------
    model_ : fitted clone of the model

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from calibrant import CalibratedRegressor
    >>> from calibrant.adapters.skpro_objects import SkproRegressor
    >>> X = pd.DataFrame({"a": np.arange(50.0)})
    >>> y = pd.DataFrame({"sales": X["a"] + np.tile([0.5, -0.5], 25)})
    >>> SkproRegressor(CalibratedRegressor()).fit(X, y).predict_interval(X.iloc[:1], 0.8).columns.tolist()
    [('sales', 0.8, 'lower'), ('sales', 0.8, 'upper')]
    """

    _tags = {"capability:missing": True, "capability:multioutput": False}  # noqa: RUF012  (as skpro reads it)

    def __init__(self, model: Any) -> None:
        self.model = model
        super().__init__()

    def _fit(self, X: Any, y: Any) -> Self:
        self._columns = y.columns
        self.model_ = clone(self.model).fit(prep_skl_df(X), y.iloc[:, 0])
        return self

    def _predict(self, X: Any) -> Any:
        return pd.DataFrame(self.model_.predict(prep_skl_df(X)), index=X.index, columns=self._columns)

    def _predict_proba(self, X: Any) -> SkproLaw:
        return SkproLaw(predicted_law(self.model_, prep_skl_df(X)), index=X.index, columns=self._columns)
