"""One calibrator per group, held close to the common one where a group is small."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._checks import Array
from ..adapters.class_scores import ClassScores
from ..distributions import Distribution, concatenate
from .base import Calibrator, read_for
from .contract import Takes, as_forecasts, check_calibrator, fit_with, refuse_features, takes_of, transform_with
from .feature_table import features_of
from .labels import Labels, labels_of, places_of, rows_by_label
from .rows import learnable_rows
from .summarised_groups import PSEUDO_ROWS, SummarisedGroups


class GroupedCalibrator(SummarisedGroups, Calibrator):
    r"""Calibrate everything once, then each group on top of that.

    The first calibrator learns from all rows. A second one per group learns what is left in the group, from the
    group's own rows and from a few rows of the whole sample, spread evenly over its PIT values, with a total weight
    of ``strength`` rows: a group of n rows is pulled to the common calibrator with weight strength / (n + strength).
    The common map insures against far outliers; the default map of a group does not do so again, but keeps a little
    of the common law, so that a small group has the tails of all.
    Of class probabilities the few rows come with every label, weighted by its probability: the common calibrator being
    right. Groups not seen in `fit` get the common one, and so do those whose own rows would have less than a fifth of
    the weight, fewer than 5 by default: ten thousand groups of two rows take no longer than one group.

    How many rows do I need? None in particular: a group of 4 stays with the common map, one of 200 speaks for
    itself with nine tenths of the weight.

    A summary is enough (`summarise`, `fit_summary`, `partial_fit`) for `QuantileCalibrator` and `ResidualCalibrator`,
    but for ``map="step"``, and for `ScaleCalibrator`, but for "bins": one for each group, as far from the fit to the
    rows as theirs; class calibrators need the rows. Outcomes on atoms are then spread before the common map and not
    after it, which may move probabilities by a hundredth.

    Parameters
    ----------
    calibrator : Calibrator
        What to fit: `QuantileCalibrator` say, or `PlattCalibrator` for classes.
    strength : float, default 20
        Weight, in rows, of the common calibrator.

    Attributes
    ----------
    common_ : fitted Calibrator
    calibrators_ : dict from group to fitted Calibrator
        Of the groups that have enough rows for one of their own.
    classes_ : ndarray (K,)
        Labels of the columns of class scores, where it is these that are calibrated.

    Examples
    --------
    >>> from calibrant import Normal, QuantileCalibrator
    >>> rng = np.random.default_rng(0)
    >>> shop = np.repeat(["a", "b"], 500)
    >>> y = rng.normal(0.0, np.where(shop == "a", 1.0, 4.0))
    >>> cal = GroupedCalibrator(QuantileCalibrator()).fit(Normal(np.zeros(1000), 1.0), y, groups=shop)
    >>> cal.transform(Normal([0.0, 0.0], 1.0), groups=["a", "b"]).std().round(0)
    array([1., 4.])
    """

    def __init__(self, calibrator: Any, strength: float = 20.0) -> None:
        self.calibrator = calibrator
        self.strength = strength

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        """What the calibrator takes, and groups."""
        return takes_of(self.calibrator).also("groups", needs=True)

    @property
    def scores_are(self) -> str:
        """What plain class scores are, as the calibrator says."""
        return str(getattr(self.calibrator, "scores_are", "probabilities"))

    def _read(self, forecasts: Any) -> Any:
        if hasattr(self.calibrator, "by_groups"):
            name = type(self.calibrator).__name__
            raise ValueError(f"`calibrator` must not be {name}, which sees to groups itself. Say {name}(by='groups').")
        return read_for(check_calibrator(self.calibrator), forecasts)

    def fit(
        self,
        forecasts: Any,
        y: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        classes: Any = None,
        X: Any = None,
    ) -> Self:
        """Learn from n forecasts, their outcomes and the group of each row.

        Parameters
        ----------
        forecasts : what the calibrator takes, n rows
        y : array-like (n,)
        groups : array-like (n,)
            Labels of any type.
        sample_weight : array-like (n,), optional
        classes : array-like (K,), optional
            Labels of the columns of class scores.
        X : array-like or frame (n, d), optional
            Features, for a calibrator that takes them.
        """
        self._forget()
        refuse_features(X, self, type(self.calibrator).__name__)
        table = self._read(forecasts)
        labels = labels_of(groups, len(table))
        self._check_strength()
        rows, y, weights, classes = learnable_rows(table, y, sample_weight, classes)
        table, labels, X = table[rows], labels[rows], features_of(X, rows)
        self.common_ = fit_with(clone(self.calibrator), table, y, sample_weight=weights, classes=classes, X=X)
        after = as_forecasts(transform_with(self.common_, table, X=X), classes)
        self._fit_groups(after, y, labels, np.ones(len(y)) if weights is None else weights, X)
        self.n_rows_ = len(y)
        if classes is not None:
            self.classes_ = classes
        return self

    def _fit_groups(self, after: Any, y: NDArray[Any], labels: Labels, weights: Array, X: Any) -> None:
        """Fit a calibrator to the rows of each group and, with a small weight, to rows that stand for all."""
        classes = after.classes if isinstance(after, ClassScores) else None
        rows, outcomes, pull = _common_rows(after, y, weights)
        pull = pull * (self.strength / pull.sum())
        members = rows_by_label(labels)
        heard = {name: mine for name, mine in members.items() if self._has_a_say(weights[mine].sum())}
        if getattr(self.calibrator, "summary_is_exact", False):
            common = self.calibrator._summarise(after[rows], outcomes, pull, None) if self.strength else None
            return self._fit_parts(
                list(heard),
                lambda name: self.calibrator._summarise(after[heard[name]], y[heard[name]], weights[heard[name]], None),
                common,
            )
        self.calibrators_ = {}
        for name, mine in heard.items():
            used, w = np.concatenate([mine, rows]), np.concatenate([weights[mine], pull])
            beside = {"sample_weight": w, "classes": classes, "X": features_of(X, used)}
            both = np.concatenate([y[mine], outcomes])
            self.calibrators_[name] = fit_with(clone(self.calibrator), after[used], both, **beside)

    def transform(self, forecasts: Any, *, groups: Any = None, X: Any = None) -> Any:
        """Calibrated forecasts, each by its group's calibrator."""
        check_is_fitted(self)
        refuse_features(X, self, type(self.calibrator).__name__)
        table = self._read(forecasts)
        members = rows_by_label(labels_of(groups, len(table)))
        common = transform_with(self.common_, table, X=X)
        own = {name: rows for name, rows in members.items() if name in self.calibrators_}
        if not own:
            return common
        after = as_forecasts(common, getattr(self, "classes_", None))
        others = np.setdiff1d(np.arange(len(table)), np.concatenate(list(own.values())))
        parts = [transform_with(self.calibrators_[g], after[rows], X=features_of(X, rows)) for g, rows in own.items()]
        parts += [common[others]] if len(others) else []
        whole = concatenate(parts) if isinstance(parts[0], Distribution) else np.concatenate(parts)
        return whole[places_of([*own.values(), others], len(table))]

    def _check_forecasts(self) -> None:
        """Raise ValueError if the parts make no forecasts; what they learned may come from anywhere."""
        for part in (self.common_, *self.calibrators_.values()):
            part._check_forecasts()


def _common_rows(after: Any, y: NDArray[Any], weights: Array) -> tuple[NDArray[np.intp], NDArray[Any], Array]:
    """Some rows spread evenly over all, their outcomes, and weights in proportion."""
    if not isinstance(after, ClassScores):
        scores = after.to_normal(y) if isinstance(after, Distribution) else y - after
        rows = _evenly(np.argsort(scores, kind="stable"), weights)
        return rows, y[rows], np.ones(len(rows))
    p, classes = after.values, np.asarray(after.classes)
    top = np.argmax(p, axis=1) if len(classes) > 2 else np.ones(len(p), dtype=np.intp)
    rows = _evenly(np.lexsort([p[np.arange(len(p)), top], top]), weights)
    return np.repeat(rows, len(classes)), np.tile(classes, len(rows)), p[rows].ravel()


def _evenly(order: NDArray[np.intp], weights: Array) -> NDArray[np.intp]:
    """Rows at equal steps of the weight along an order."""
    places = (np.arange(PSEUDO_ROWS) + 0.5) / PSEUDO_ROWS * weights.sum()
    return np.asarray(order[np.minimum(np.searchsorted(np.cumsum(weights[order]), places), len(order) - 1)])
