"""Class weights for decisions, one class at a time, each step exact (Lachiche and Flach 2003)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._checks import Array
from ..adapters.class_labels import Codes
from .objectives import Agreement, Objective, OneShare

_APART = 1e-12  # ratios closer than this, relative to their size, are tied: their logs differ by rounding
_LEAST_GAIN = 1e-12  # relative to the objective: less is rounding
_BEYOND = np.log(2.0)  # the weight lies that far outside the outermost ratio
_MOST_SWEEPS = 100


@dataclass(frozen=True, eq=False)
class Decisions:
    """Rows to decide on.

    Parameters
    ----------
    scores : array (n, K)
        Log scores, -inf for 0.
    codes : array of int (n,)
        Real classes.
    weights : array (n,)
        Frequencies.
    """

    scores: Array
    codes: Codes
    weights: Array

    def confusion(self, offsets: Array) -> Array:
        """Weight of rows by real (line) and predicted (column) class, (K, K)."""
        size = len(offsets)
        pairs = self.codes * size + decide(self.scores, offsets)
        return np.bincount(pairs, self.weights, size * size).reshape(size, size).astype(np.float64)


def decide(scores: Array, offsets: Array) -> Codes:
    r"""The class :math:`\arg\max_j w_j p_{ij}` of each row, from logs; the first of tied ones.

    >>> decide(np.log([[0.6, 0.4]]), np.log([1.0, 2.0]))
    array([1])
    """
    if scores.shape[1] == 2:
        with np.errstate(invalid="ignore"):
            return np.asarray(scores[:, 1] + offsets[1] > scores[:, 0] + offsets[0], dtype=np.intp)
    return np.asarray((scores + offsets).argmax(axis=1))


def sweep(rows: Decisions, objective: Objective) -> tuple[Array, list[float]]:
    """Log class weights from all 0, class after class until nothing improves, and the objective after each step.

    Of two classes only the ratio of the weights counts, so one step is the optimum. Sweeps towards the real proportions
    start from `balance`, as sweeps over a sum of distances alone get stuck.
    """
    classes = rows.scores.shape[1]
    offsets = np.zeros(classes)
    values = [objective.value(rows.confusion(offsets))]
    if classes == 2:
        offsets[1], value = best_weight(1, rows, offsets, objective, values[0])
        return offsets - offsets.mean(), [*values, value]
    if isinstance(objective, Agreement):
        balanced = balance(rows, objective)
        values.append(objective.value(rows.confusion(balanced)))
        offsets, values = (balanced, values) if values[1] > values[0] else (offsets, values[:1])
    for _ in range(_MOST_SWEEPS):
        before = values[-1]
        for c in range(classes):
            offsets[c], value = best_weight(c, rows, offsets, objective, values[-1])
            values.append(value)
        if not values[-1] > before:
            break
    return offsets - offsets.mean(), values


def balance(rows: Decisions, objective: Agreement) -> Array:
    r"""Log weights by giving each class in turn its own share of the rows.

    These are descents along one coordinate of the convex :math:`\sum_i \max_j (b_j + \log p_{ij}) - \sum_j n_j b_j`,
    whose slope is the number of rows predicted less the number of rows real, :math:`n_j`.
    """
    offsets = np.zeros(rows.scores.shape[1])
    reached = objective.value(rows.confusion(offsets))
    for _ in range(_MOST_SWEEPS):
        trial = offsets.copy()
        for c in range(len(trial)):
            trial[c] = best_weight(c, rows, trial, OneShare())[0]
        value = objective.value(rows.confusion(trial))
        if not value > reached:
            break
        offsets, reached = trial, value
    return offsets


def best_weight(
    c: int, rows: Decisions, offsets: Array, objective: Objective, now: float = -np.inf
) -> tuple[float, float]:
    r"""The log weight of class c that is best given the others', and the objective it reaches.

    Row i goes to class c once :math:`w_c > \max_{j \ne c} w_j p_{ij} / p_{ic}`, so only the n + 1 places between the
    sorted ratios matter. Tied ratios flip together; the weight is the geometric mean of the ratios beside it, twice the
    largest or half the smallest at the ends. Among equally good places the one nearest to the present weight is taken,
    and the present weight itself stays unless the objective gets better than ``now``.
    """
    ratios, others = _ratios(c, rows.scores, offsets)
    order = np.argsort(ratios)
    ratios = ratios[order]
    places = _places(ratios)
    values = objective.at(places, c, order, others, rows.codes, rows.weights)
    slack = _LEAST_GAIN * max(1.0, np.abs(values[np.isfinite(values)]).max(initial=0.0))
    if not len(values) or not values.max() > now + slack:
        return float(offsets[c]), now
    best = places[values >= values.max() - slack]
    cuts = _between(ratios, best)
    nearest = int(np.argmin(np.abs(cuts - offsets[c])))
    return float(cuts[nearest]), float(values.max())


def _ratios(c: int, scores: Array, offsets: Array) -> tuple[Array, Codes]:
    """Log weight of class c above which each row goes to it, and where the row goes below."""
    if len(offsets) == 2:
        return scores[:, 1 - c] + offsets[1 - c] - scores[:, c], np.full(len(scores), 1 - c, dtype=np.intp)
    shifted = scores + offsets
    shifted[:, c] = -np.inf
    others = shifted.argmax(axis=1)
    return shifted[np.arange(len(scores)), others] - scores[:, c], np.asarray(others)


def _places(ratios: Array) -> Codes:
    """Numbers m of rows such that the first m sorted rows can go to class c and the others not."""
    size = np.abs(ratios[:-1])
    slack = _APART * (1 + np.where(np.isfinite(size), size, 0.0))
    apart = ratios[1:] > ratios[:-1] + slack
    return np.flatnonzero(np.concatenate([ratios[:1] > -np.inf, apart, ratios[-1:] < np.inf]))


def _between(ratios: Array, places: Codes) -> Array:
    """Log weights in the middle of the ratios beside each place."""
    padded = np.concatenate([[-np.inf], ratios, [np.inf]])
    low, high = padded[places], padded[places + 1]
    with np.errstate(invalid="ignore"):
        cuts = np.select([np.isinf(low), np.isinf(high)], [high - _BEYOND, low + _BEYOND], low + 0.5 * (high - low))
    return np.where(np.isfinite(cuts), cuts, 0.0)  # where every ratio is infinite any weight will do
