"""Demand in whole units, and bounds of what can be sold of a delivery."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._checks import Array
from ...distributions.base import Distribution

FINE = 8  # steps a unit of the grid, at least, where the law is looked at
STEPS = 256  # steps of the sums that bound orders


def grid_masses(law: Distribution, unit: Array, size: int) -> Array:
    r"""Probabilities of demand 0, u, 2u, ... and of at least (size - 1) u, by row; (n, size).

    A law is taken in steps of h (1 where the unit is less than 16), :math:`P(kh) = F(kh + h/2) - F(kh - h/2)` with
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


def most_sold(laws: Sequence[Distribution], chance: float) -> Array:
    r"""Most units that sell with more than a chance during some days, by row: the last a with :math:`P(D \ge a) > p`.

    D is the sum of the days' demand, taken for independent. Days of more than 256 units in all are summed in larger
    steps, and the bound is as much higher as these could hide.
    """
    days, n = len(laws), len(laws[0])
    if not 0 < chance < 1:
        return np.zeros(n)
    highest = [np.ceil(law.ppf(np.full(n, 1 - chance / days))) for law in laws]
    top = np.maximum(highest, 0.0).sum(axis=0)  # P(D > top) <= chance
    unit = np.maximum(1.0, np.ceil(top / STEPS))
    size = int(np.ceil(top / unit).max(initial=0)) + 2
    spectra = [np.fft.rfft(grid_masses(law, unit, size), days * size) for law in laws]
    total = np.fft.irfft(np.prod(spectra, axis=0), days * size)
    at_least = np.cumsum(total[:, ::-1], axis=1)[:, ::-1]
    units = unit * np.sum(at_least[:, 1:size] > chance - 1e-9, axis=1)
    return np.asarray(units + np.where(unit > 1, days * unit, 0.0))
