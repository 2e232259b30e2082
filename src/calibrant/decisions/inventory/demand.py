"""Demand in whole units, and bounds of what can be sold of a delivery."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._checks import Array
from ...distributions.base import Distribution

FINE = 4  # steps a unit of the grid, at least, where the law is looked at
STEPS = 128  # steps of the sums that bound orders


def grid_masses(law: Distribution, unit: Array, size: int) -> Array:
    r"""Probabilities of demand 0, u, 2u, ... and of at least (size - 1) u, by row; (n, size).

    A law is taken in steps of h (1 where the unit is less than 8), :math:`P(kh) = F(kh + h/2) - F(kh - h/2)` with
    all below 0 at 0: what a count already is. Steps between two places of the grid go to both, in such parts that the
    mean stays.

    >>> from calibrant import Poisson
    >>> grid_masses(Poisson([1.0]), np.array([1.0]), 3), grid_masses(Poisson([1.0]), np.array([2.0]), 2)
    (array([[0.368, 0.368, 0.264]]), array([[0.552, 0.448]]))
    """
    n, step = len(law), np.maximum(1.0, unit // FINE)[:, None]
    count = int(np.ceil((size - 1) * unit / step[:, 0]).max(initial=0)) + 1
    k = np.arange(count)[None, :]
    above = law.sf((k[:, :-1] + 0.5) * step) if count > 1 else np.empty((n, 0))
    masses = -np.diff(above, axis=1, prepend=1.0, append=0.0)
    place = np.minimum(k * step / unit[:, None], size - 1.0)
    low = np.minimum(np.floor(place).astype(np.intp), max(size - 2, 0))
    share = place - low
    cell = np.arange(n)[:, None] * (size + 1) + low
    parts = [(cell, (1 - share) * masses), (cell + 1, share * masses)]
    out = sum(np.bincount(at.ravel(), part.ravel(), minlength=n * (size + 1)) for at, part in parts)
    return np.asarray(out).reshape(n, size + 1)[:, :size]


def most_sold(laws: Sequence[Distribution], spans: Sequence[slice], chance: float) -> Array:
    r"""Most units that sell with more than a chance during spans of days, (n, spans): the last a with P(D >= a) > p.

    D is the sum of the days' demand, taken for independent. Sums of more than 128 units are made in larger steps, and
    the bound is as much higher as these could hide.
    """
    n, longest = len(laws[0]), max((len(laws[span]) for span in spans), default=0)
    if not 0 < chance < 1 or not longest:
        return np.zeros((n, len(spans)))
    high = np.maximum([np.ceil(law.ppf(np.full(n, 1 - chance / longest))) for law in laws], 0.0)
    top = np.max([high[span].sum(axis=0) for span in spans], axis=0)  # P(D > top) <= chance
    unit = np.maximum(1.0, np.ceil(top / STEPS))
    size = int(np.ceil(top / unit).max(initial=0)) + 2
    spectra = np.fft.rfft([grid_masses(law, unit, size) for law in laws], longest * size)
    steps = []
    for span in spans:
        total = np.fft.irfft(spectra[span].prod(axis=0), longest * size)
        at_least = np.cumsum(total[:, ::-1], axis=1)[:, ::-1]
        steps.append(np.sum(at_least[:, 1:size] > chance - 1e-9, axis=1))
    hidden = np.where(unit > 1, longest, 0)
    return np.asarray(unit[:, None] * (np.column_stack(steps) + hidden[:, None]))
