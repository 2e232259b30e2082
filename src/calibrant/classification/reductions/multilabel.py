"""Any binary calibrator for labels of which a row may have several."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..._checks import Array, column_names, complain, finite, nonempty, one_of, sample_weights, to_array
from ...adapters.feature_columns import text_names
from ...calibration.one_score import check_one_score, fit_one_score, one_probability
from ...numerics.soundness import check_finite
from ..base import CLIP, check_clip
from ..platt import PlattCalibrator
from ..soundness import example_scores

SCORES = ("probabilities", "logits", "margins")


class MultilabelCalibrator(BaseEstimator):
    r"""One copy of a binary calibrator for each label, where a row may have none, one or several.

    .. math:: p^*(i, j) = c_j(s_{ij})

    Each label is a question of two answers of its own; probabilities of a row need not add up to anything. Where all
    known rows of a label, n of them, have the same answer, the probability of the other one is 1 / (n + 2).

    Parameters
    ----------
    calibrator : estimator, optional
        As in `OneVsRestCalibrator`; ``PlattCalibrator()`` unless told.
    scores_are : {"probabilities", "logits", "margins"}
        Logits are log odds of a label.
    clip : float
        Probabilities stay in [clip, 1 - clip].

    Attributes
    ----------
    calibrators_ : list
        One a label; None for a label that all rows have, or none.
    rates_ : ndarray (K,)
        (k + 1) / (n + 2) of the k rows with the label among n.
    names_ : tuple of str or None
        Columns of the scores, if these were a frame.

    Examples
    --------
    >>> scores = [[0.9, 0.2], [0.8, 0.7], [0.3, 0.6], [0.1, 0.1], [0.7, 0.4], [0.6, 0.8]]
    >>> labels = [[1, 0], [1, 1], [0, 0], [0, 0], [0, 1], [1, 1]]
    >>> MultilabelCalibrator().fit(scores, labels).transform([[0.9, 0.9]]).round(2)
    array([[0.78, 0.84]])
    """

    def __init__(self, calibrator: Any = None, *, scores_are: str = "probabilities", clip: float = CLIP) -> None:
        self.calibrator = calibrator
        self.scores_are = scores_are
        self.clip = clip

    def fit(self, scores: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Learn from the scores and labels of n rows.

        Parameters
        ----------
        scores : array-like (n, K), or list of K arrays (n, 2) as of ``MultiOutputClassifier.predict_proba``
        y : array-like (n, K) of 0 and 1, or sparse
            Missing entries are left out of their label with a warning. Columns of a frame that have the names of the
            scores are taken by name.
        sample_weight : array-like (n,), optional
            Frequencies.
        """
        check_clip(self.clip)
        one = check_one_score(PlattCalibrator() if self.calibrator is None else self.calibrator, "calibrator")
        names, x = self._read(scores)
        known, events = _answers(y, x.shape, names)
        weights = sample_weights(sample_weight, len(x))
        if weights is not None:
            known &= (weights > 0)[:, None]
        mass = known * (np.ones((len(x), 1)) if weights is None else weights[:, None])
        if not mass.sum(axis=0).all():
            raise ValueError("`y` must have an entry and a weight above 0 in at least one row of every label.")
        calibrators = []
        for j in range(x.shape[1]):
            rows = known[:, j]
            own, w = events[rows, j], None if weights is None else weights[rows]
            mixed = own.any() and not own.all()
            calibrators.append(fit_one_score(one, x[rows, j], self.scores_are, own, w) if mixed else None)
        self.names_, self.calibrators_ = names, calibrators
        self.rates_ = np.asarray(((mass * events).sum(axis=0) + 1) / (mass.sum(axis=0) + 2))
        return self

    def transform(self, scores: Any) -> Array:
        """Probabilities (n, K), each of its own label."""
        check_is_fitted(self)
        names, x = self._read(scores)
        if x.shape[1] != len(self.calibrators_):
            raise ValueError(f"`scores` must have {len(self.calibrators_)} columns; got {x.shape[1]}.")
        if names is not None and self.names_ is not None and names != self.names_:
            if set(names) != set(self.names_):
                raise ValueError(f"`scores` must have the columns {', '.join(self.names_)}; got {', '.join(names)}.")
            x = x[:, [names.index(name) for name in self.names_]]
        out = np.tile(self.rates_, (len(x), 1))
        for j, one in enumerate(self.calibrators_):
            if one is not None:
                out[:, j] = one_probability(one, x[:, j], self.scores_are)
        return np.asarray(np.clip(out, self.clip, 1 - self.clip))

    def _read(self, scores: Any) -> tuple[tuple[str, ...] | None, Array]:
        """Names of the columns, if they have some, and scores (n, K)."""
        one_of(self.scores_are, "scores_are", SCORES)
        x = finite(to_array(scores, "scores"), "scores")
        if x.ndim == 3 and x.shape[2] == 2:
            x = x[:, :, 1].T
        if x.ndim != 2:
            raise ValueError(f"`scores` must be (n, labels); got shape {x.shape}.")
        nonempty(x, "scores")
        if self.scores_are == "probabilities":
            hint = 'Logits or margins? Say scores_are="logits" or "margins".'
            complain("scores", "probabilities between 0 and 1", x, ~((x >= 0) & (x <= 1)), hint)
        return text_names(column_names(scores)), x

    def _check_sound(self) -> None:
        """Raise ValueError if what was learned cannot be: it may come from anywhere."""
        check_finite(self, "rates_")
        if np.shape(self.rates_) != (len(self.calibrators_),) or np.min(self.rates_) <= 0 or np.max(self.rates_) >= 1:
            raise ValueError("MultilabelCalibrator.rates_ must be a share for each label.")
        if self.names_ is not None and len(self.names_) != len(self.calibrators_):
            raise ValueError("MultilabelCalibrator.names_ must be a name for each label.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if what it makes of examples are no probabilities."""
        self.transform(example_scores(len(self.calibrators_), self.scores_are).values)

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "rates_")


def _answers(y: Any, shape: tuple[int, ...], names: tuple[str, ...] | None) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Which entries are known, and which of them are 1, both (n, K), in the order of the scores' columns."""
    own = text_names(column_names(y))
    labels = to_array(y.toarray() if hasattr(y, "toarray") else y, "y")
    if labels.shape != shape:
        raise ValueError(f"`y` must be {shape}, an entry for each score; got shape {labels.shape}.")
    if names is not None and own is not None and set(own) == set(names):
        labels = labels[:, [own.index(name) for name in names]]
    known = ~np.isnan(labels)
    complain("y", "0 or 1", labels, known & ~np.isin(labels, (0, 1)))
    if not known.all():
        gone = int(labels.size - known.sum())
        warnings.warn(f"{gone} of {labels.size} entries of `y` are missing and are left out.", stacklevel=3)
    return known, labels == 1
