"""One calibrator per forecast horizon, with rows of the nearest horizons where a horizon has few of its own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._checks import Array, finite, number, same_length, to_array
from ..distributions import Distribution, concatenate
from ..numerics.soundness import check_numbers
from .base import Calibrator, read_for
from .contract import Takes, check_calibrator, fit_with, takes_of, transform_with
from .feature_table import features_of
from .labels import places_of
from .rows import learnable_rows


class HorizonCalibrator(Calibrator):
    r"""Calibrate forecasts one step ahead, two steps ahead, and so on, each as it needs it.

    The calibrator of horizon h learns from all rows of h and, where these are fewer than ``rows``, from those of the
    nearest horizons, nearest first, until there are that many: all rows of a distance d count with the same weight

    .. math:: \min\Big(1, \frac{\text{rows} - n_{<d}}{n_d}\Big),

    n with the index <d being the rows nearer than d. So 1 000 series need nothing of their neighbours, and a single
    one shares all. Rows of horizons that were not seen in `fit` get the calibrator of the nearest one that was.

    How many rows do I need? As many as the calibrator, in all. Cost where nothing is wrong: that of the calibrator at
    ``rows`` rows, or at those of a horizon where they are more (`experiments.cost`).

    Parameters
    ----------
    calibrator : Calibrator
        What to fit: `QuantileCalibrator` say.
    rows : float, default 100
        Rows to have at least for each horizon, where there are so many.

    Attributes
    ----------
    horizons_ : ndarray (H,)
        Horizons seen, rising.
    calibrators_ : list of fitted Calibrator
        One a horizon.
    classes_ : ndarray (K,)
        Labels of the columns of class scores, where it is these that are calibrated.

    Examples
    --------
    >>> from calibrant import Normal, QuantileCalibrator
    >>> rng = np.random.default_rng(0)
    >>> ahead = np.tile([1, 2, 3], 500)
    >>> y = rng.normal(0.0, np.sqrt(ahead))
    >>> cal = HorizonCalibrator(QuantileCalibrator()).fit(Normal(np.zeros(1500), 1.0), y, horizon=ahead)
    >>> cal.transform(Normal([0.0, 0.0], 1.0), horizon=[1, 3]).std().round(1)
    array([1. , 1.8])
    """

    def __init__(self, calibrator: Any, rows: float = 100.0) -> None:
        self.calibrator = calibrator
        self.rows = rows

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        """What the calibrator takes, and horizons."""
        return takes_of(self.calibrator).also("horizon", needs=True)

    @property
    def scores_are(self) -> str:
        """What plain class scores are, as the calibrator says."""
        return str(getattr(self.calibrator, "scores_are", "probabilities"))

    def _read(self, forecasts: Any) -> Any:
        return read_for(check_calibrator(self.calibrator), forecasts)

    def fit(
        self,
        forecasts: Any,
        y: Any,
        *,
        horizon: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        classes: Any = None,
        X: Any = None,
    ) -> Self:
        """Learn from n forecasts, their outcomes and how far ahead each was made.

        Parameters
        ----------
        forecasts : what the calibrator takes, n rows
        y : array-like (n,)
        horizon : array-like (n,)
            Numbers: steps, hours, days; or durations.
        sample_weight : array-like (n,), optional
        groups, X : array-like (n,), or frame (n, d), optional
            For a calibrator that takes them.
        classes : array-like (K,), optional
            Labels of the columns of class scores.
        """
        beside = self._taken(groups=groups, X=X)
        table = self._read(forecasts)
        ahead, least = horizons_of(horizon, len(table)), number(self.rows, "rows", least=0.0)
        rows, y, weights, classes = learnable_rows(table, y, sample_weight, classes)
        table, ahead, weights = table[rows], ahead[rows], np.ones(len(y)) if weights is None else weights
        beside = {name: features_of(value, rows) for name, value in beside.items()}
        self.horizons_, self.calibrators_ = np.unique(ahead), []
        for shares in _shares(ahead, weights, self.horizons_, least):
            used = np.flatnonzero(shares)
            given = {name: features_of(value, used) for name, value in beside.items()} | {"classes": classes}
            own = clone(self.calibrator)
            self.calibrators_.append(fit_with(own, table[used], y[used], sample_weight=shares[used], **given))
        self.n_rows_ = len(y)
        if classes is not None:
            self.classes_ = classes
        return self

    def transform(self, forecasts: Any, *, horizon: Any = None, groups: Any = None, X: Any = None) -> Any:
        """Calibrated forecasts, each by its horizon's calibrator; see `fit` for the arguments."""
        check_is_fitted(self)
        beside = self._taken(groups=groups, X=X)
        table = self._read(forecasts)
        nearest = _nearest(self.horizons_, horizons_of(horizon, len(table)))
        members = [np.flatnonzero(nearest == place) for place in range(len(self.horizons_))]
        parts = [
            transform_with(own, table[mine], **{name: features_of(value, mine) for name, value in beside.items()})
            for own, mine in zip(self.calibrators_, members, strict=True)
            if len(mine) or not len(table)
        ]
        whole = concatenate(parts) if isinstance(parts[0], Distribution) else np.concatenate(parts)
        return whole[places_of(members, len(table))]

    def _taken(self, **given: Any) -> dict[str, Any]:
        """What was given, if the calibrator takes it."""
        given, taken = {name: value for name, value in given.items() if value is not None}, self.takes.beside
        for name in given:
            if name not in taken:
                raise ValueError(f"`{name}` was given, but {type(self.calibrator).__name__} does not take it.")
        return given

    def _check_sound(self) -> None:
        check_numbers(self)
        rising = np.ndim(self.horizons_) == 1 and len(self.horizons_) > 0 and (np.diff(self.horizons_) > 0).all()
        if not rising or len(self.calibrators_) != len(self.horizons_):
            raise ValueError("`horizons_` must be rising numbers with a calibrator each.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if the parts make no forecasts; what they learned may come from anywhere."""
        for part in self.calibrators_:
            part._check_forecasts()


def horizons_of(horizon: Any, rows: int) -> Array:
    """How far ahead each row is, as numbers; durations as days.

    >>> horizons_of(np.array([24, 48], dtype="m8[h]"), 2)
    array([1., 2.])
    """
    if horizon is None:
        raise ValueError("`horizon` must be given: how far ahead each forecast is. All alike? Use it without.")
    values = np.asarray(horizon)
    if values.dtype.kind == "m":
        values = values / np.timedelta64(1, "D")
    ahead = finite(to_array(values, "horizon"), "horizon")
    if ahead.ndim != 1:
        raise ValueError(f"`horizon` must have one entry per forecast; got shape {ahead.shape} for {rows} forecasts.")
    same_length(ahead, "horizon", rows)
    return ahead


def _shares(ahead: Array, weights: Array, horizons: Array, least: float) -> list[Array]:
    """The weight of each row for each horizon: nearest rows first, until there are enough."""
    place = np.searchsorted(horizons, ahead)
    size = np.bincount(place, weights, minlength=len(horizons))
    found = []
    for h in horizons:
        distance, level = np.unique(np.abs(horizons - h), return_inverse=True)
        there = np.bincount(level, size, minlength=len(distance))
        before = np.concatenate([[0.0], np.cumsum(there)[:-1]])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip((least - before) / there, 0.0, 1.0)
        share[0] = 1.0
        found.append(weights * np.nan_to_num(share)[level][place])
    return found


def _nearest(known: Array, asked: Array) -> NDArray[np.intp]:
    """Places of the nearest of some rising numbers; of two as near, the lower one."""
    middles = 0.5 * (known[1:] + known[:-1])
    return np.searchsorted(middles, asked)
