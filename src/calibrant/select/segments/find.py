"""Where forecasts are most wrong: segments found on one half of the rows, measured on the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._checks import Array, count, probability
from ...adapters.class_labels import encode
from ...adapters.class_scores import ClassScores
from ...calibration.feature_table import FeatureTable, features_of
from ...calibration.rows import learnable_rows
from ...metrics.evaluation import ClassEvaluation, Evaluation, LawEvaluation
from ..distinct import Places
from ..reading import read_forecasts
from .chance import adjusted
from .conditions import feature_bins, hold
from .faults import faults_of
from .measured import extent
from .search import Found, Search
from .table import Segment, Segments, apart

MAX_CONDITIONS, FDR, MIN_ROWS = 2, 0.05, 30
MOST = 8  # segments that are measured
ALIKE = 0.5  # share of their rows that two segments have in common, beyond which they are one


def find_segments(
    y: Any,
    forecasts: Any,
    X: Any,
    max_conditions: int = MAX_CONDITIONS,
    *,
    fdr: float = FDR,
    min_rows: int = MIN_ROWS,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> Segments:
    r"""Find the segments of rows in which forecasts are most wrong, described by conditions on features.

    On a random half of the rows every segment with one or two conditions is looked at (further conditions are added to
    the best): numbers above or at most a threshold, categories, what is missing, and all rows. How wrong the forecasts
    of a segment are is told by the nats that mending them would gain. Of laws, from the normal scores
    :math:`z = \Phi^{-1}(F(y))` of its n rows with mean m, variance q and share o beyond the 90 % interval:

    .. math:: \text{bias: } \tfrac n2 m^2, \quad \text{width: } \tfrac n2 (q - 1 - \ln q), \quad
        \text{coverage: } n \Bigl( o \ln \tfrac o{0.1} + (1 - o) \ln \tfrac{1 - o}{0.9} \Bigr)

    and of classes :math:`(\sum (e - p))^2 / (2 \sum p (1 - p))`, for the second of two classes (bias) and for the most
    probable one (confidence). The best one is taken, its thresholds are moved to where the gain is largest, and its
    rows are taken for calibrated in the search for the next, up to eight: a fault is told once. Of segments that gain
    the same the simplest is taken: the log of the number of such segments counts against it.

    The other half measures them: estimates with 90 % intervals and p-values, normal (bias), :math:`\chi^2` (width),
    binomial (coverage) or by a saddlepoint formula (classes). Segments overlap and several faults are looked for, so
    the tests depend on each other; those that are shown satisfy the bound of Benjamini and Yekutieli (2001), which
    holds whatever the dependence.

    Parameters
    ----------
    y : array-like (n,)
        Outcomes or labels. Rows without one are left out.
    forecasts : Distribution, class scores (n,) or (n, K), or what `as_distribution` takes
    X : features (n, d)
        Numbers, texts or categories; a frame, an array or lists. Values may be missing.
    max_conditions : int
        At most so many conditions describe a segment.
    fdr : float
        Bound of the false discovery rate: of the segments shown, at most this share is chance on average. Where nothing
        is wrong, this is the probability that any segment is shown.
    min_rows : int
        Rows that a segment must have in the half where it is searched for.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.
    random_state : None, int or numpy Generator
        Decides the halves, and where in an atom an outcome on it lies.

    Returns
    -------
    Segments
        The worst first; prints as a table, ``to_frame()`` is a pandas frame, and ``segments[0].contains(X)`` says which
        rows are in the first.

    Notes
    -----
    Rows must be independent: copies of a row in both halves would confirm each other. About 100 rows of a segment in
    each half tell a width that is 1.5 times off. 100 000 rows with 20 features take a few seconds. Of more than 40
    features, pairs are made of those that tell most by themselves.

    Examples
    --------
    >>> import numpy as np
    >>> import calibrant
    >>> rng = np.random.default_rng(0)
    >>> price, region = rng.uniform(0, 20, 4000), rng.choice(["north", "south"], 4000)
    >>> wrong = (price > 12.5) & (region == "north")
    >>> y = rng.normal(0, np.where(wrong, 2.0, 1.0))
    >>> X = {"price": price, "region": region}
    >>> import pandas as pd
    >>> found = calibrant.find_segments(y, calibrant.Normal(0 * y, 1.0), pd.DataFrame(X))
    >>> len(found), found[0].name, found[0].fault
    (1, 'price > 12.43 and region = north', '1.9 times too narrow')
    >>> int((found[0].contains(pd.DataFrame(X)) == wrong).sum())
    3994

    Differs from the paper in: the false discovery bound is the published one; search and tests are this library's.
    """
    depth, least = count(max_conditions, "max_conditions"), count(min_rows, "min_rows", least=2)
    bound, rng = probability(fdr, "fdr"), np.random.default_rng(random_state)
    evaluation, weights, used = evaluated(y, forecasts, sample_weight)
    table, places = FeatureTable.learn(X, len(used)), np.flatnonzero(used)
    halves = _Halves.of(evaluation, weights, table(features_of(X, places), len(weights)), places, rng)
    return halves.measured(halves.searched(table, depth, float(least)), table, bound)


def segments_of(evaluation: Evaluation, weights: Array, X: Any) -> Segments:
    """As `find_segments` with its defaults, of rows that were evaluated already."""
    table, places = FeatureTable.learn(X, len(weights)), np.arange(len(weights))
    halves = _Halves.of(evaluation, weights, table(X, len(weights)), places, np.random.default_rng(0))
    return halves.measured(halves.searched(table, MAX_CONDITIONS, float(MIN_ROWS)), table, FDR)


def evaluated(y: Any, forecasts: Any, sample_weight: Any) -> tuple[Evaluation, Array, Any]:
    """Forecasts beside outcomes, weights, and which of the rows have both."""
    if hasattr(y, "to_normal") or isinstance(y, ClassScores):
        raise TypeError(f"`y` must be outcomes; got forecasts ({type(y).__name__}). Arguments in the wrong order?")
    read = read_forecasts(forecasts, y)
    rows, outcomes, weights, classes = learnable_rows(read, y, sample_weight)
    used = np.zeros(len(read), dtype=bool)
    used[rows] = True
    w = np.ones(len(outcomes)) if weights is None else weights
    if classes is None:
        return LawEvaluation(read[rows], outcomes), w, used
    return ClassEvaluation(read[rows].probabilities(), encode(outcomes, classes), classes), w, used


@dataclass(frozen=True, eq=False)
class _Halves:
    """Forecasts and outcomes, weights and features, of the rows to search and of the rows to measure."""

    evaluations: tuple[Evaluation, Evaluation]
    weights: tuple[Array, Array]
    numbers: tuple[Array, Array]
    places: tuple[Places, Places]
    rngs: tuple[np.random.Generator, np.random.Generator]

    @classmethod
    def of(cls, evaluation: Any, weights: Array, numbers: Array, places: Places, rng: np.random.Generator) -> _Halves:
        """Split the rows at random."""
        order = rng.permutation(len(weights))
        first, second = (np.sort(part) for part in np.array_split(order, 2))
        if not len(second):
            raise ValueError("`y` must have at least two rows: one to search, one to measure.")
        one, other = rng.spawn(2)
        return cls(
            (evaluation[first], evaluation[second]),
            (weights[first], weights[second]),
            (numbers[first], numbers[second]),
            (places[first], places[second]),
            (one, other),
        )

    def searched(self, table: FeatureTable, max_conditions: int, min_rows: float) -> list[Found]:
        """The most promising segments of the first half, each beside what the ones before it tell."""
        numbers, weights = self.numbers[0], self.weights[0]
        faults = faults_of(self.evaluations[0], weights, self.rngs[0])
        search = Search(feature_bins(table, numbers, weights), numbers, faults, max_conditions, min_rows)
        found: list[Found] = []
        while len(found) < MOST and (best := search.best()) is not None:
            found.append(best)
            search.mend(hold(best.conditions, numbers))
        return found

    def measured(self, found: list[Found], table: FeatureTable, fdr: float) -> Segments:
        """What the second half says of them."""
        evaluation, weights, numbers = self.evaluations[1], self.weights[1], self.numbers[1]
        faults = asked = faults_of(evaluation, weights, self.rngs[1])
        masks, p_values, gains = [], [], []
        for each in found:
            rows = hold(each.conditions, numbers)
            masks.append(rows)
            p_values.append(asked.chance(each.kind, rows) if rows.sum() > 1 else 1.0)
            gains.append(float(asked.gains(asked.columns[:, rows].sum(axis=1))[asked.kinds.index(each.kind)]))
            asked = asked.mended(rows) if rows.sum() > 1 else asked
        safe = adjusted(np.array(p_values))
        sure = [k for k in np.argsort(-np.array(gains), kind="stable") if safe[k] <= fdr]
        kept = [sure[k] for k in apart([masks[k] for k in sure], weights, ALIKE)]
        total = float(weights.sum())
        segments = []
        for k in kept:
            told, mass = extent(found[k].kind, evaluation, faults, masks[k]), float(weights[masks[k]].sum())
            shown = (told.promised, told.observed, gains[k], table)
            measures = (mass, mass / total, told.estimate, p_values[k], float(safe[k]))
            segments.append(Segment(found[k].conditions, found[k].kind, told.fault, *measures, *shown))
        return Segments(tuple(segments), len(found), fdr, total, self.places[1])
