"""python experiments/enbpi.py IN.npz OUT.npy: 90 % intervals of MAPIE's EnbPI around forecasts, row by row.

Runs in an environment of its own (`pip install mapie`), and needs nothing of this repository. IN has ``mean``, ``y``
and ``groups``, in the order of time; the first 100 rows of each group are fitted, and each later one is forecast
before it is shown. The model inside returns the forecast that it is given.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

KNOWN = 100


class Given(RegressorMixin, BaseEstimator):
    """Predicts what it is given."""

    def fit(self, X: Any, y: Any) -> Self:
        """Nothing to learn."""
        self.n_features_in_ = 1
        return self

    def predict(self, X: Any) -> Any:
        """The feature."""
        return np.asarray(X)[:, 0]


def intervals(mean: Any, y: Any) -> Any:
    """Ends (n, 2), NaN for the rows that were fitted."""
    from mapie.regression import TimeSeriesRegressor
    from mapie.subsample import BlockBootstrap

    blocks = BlockBootstrap(n_resamplings=10, n_blocks=10, overlapping=False, random_state=0)
    model = TimeSeriesRegressor(Given(), method="enbpi", cv=blocks, agg_function="mean")
    X, out = mean[:, None], np.full((len(y), 2), np.nan)
    model.fit(X[:KNOWN], y[:KNOWN])
    for row in range(KNOWN, len(y)):
        one = slice(row, row + 1)
        out[row] = model.predict(X[one], ensemble=True, confidence_level=0.9)[1][0, :, 0]
        model.update(X[one], y[one], ensemble=True)
    return out


def main() -> None:
    """Read, work out, write."""
    warnings.simplefilter("ignore")
    given = np.load(sys.argv[1])
    out = np.full((len(given["y"]), 2), np.nan)
    for group in np.unique(given["groups"]):
        mine = given["groups"] == group
        out[mine] = intervals(given["mean"][mine], given["y"][mine])
    np.save(sys.argv[2], out)


if __name__ == "__main__":
    main()
