"""Pairs of columns that a measure only looks at are not copied, and what it says is that of the laws."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Laplace, LogNormal, Normal, metrics
from calibrant.adapters.registry import lent_distribution
from calibrant.numerics.blocks import BLOCK

ROWS = (3, 4 * BLOCK, 4 * BLOCK + 7)  # one block, one that is full, more than one


@pytest.fixture
def pair(rng):
    return rng.normal(size=50), rng.uniform(0.5, 2, 50)


def test_plain_pairs_are_lent_and_others_copied(pair):
    loc, scale = pair
    law = lent_distribution(pair)
    assert law.loc is loc and law.scale is scale
    assert lent_distribution((loc.astype(np.float32), scale)).scale is not scale
    assert lent_distribution((loc, 2.0)).scale.tolist() == [2.0] * 50


@pytest.mark.parametrize("measure", [metrics.nll, metrics.crps, metrics.sharpness, metrics.coverage])
def test_measures_say_the_same_of_pairs_and_laws(pair, rng, measure):
    y, before = rng.normal(size=50), [column.copy() for column in pair]
    assert measure(y, pair) == measure(y, Normal(*pair))
    each = measure(y, pair, per_row=True)
    each[:] = 7  # what comes back is nobody else's
    assert all(
        np.array_equal(column, kept) and column.flags.writeable for column, kept in zip(pair, before, strict=True)
    )


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (("scale", 0.0), r"`scale` must be positive; 1 of 50 values is not, first scale\[17\] = 0.0"),
        (("scale", np.nan), r"`scale` must be finite; 1 of 50 values is not, first scale\[17\] = nan"),
        (("loc", np.inf), r"`loc` must be finite; 1 of 50 values is not, first loc\[17\] = inf"),
        (("scale", -1.0), r"A tuple is \(mean, std\)"),
    ],
)
def test_errors_of_lent_pairs_are_those_of_others(pair, spoil, words):
    name, value = spoil
    dict(zip(("loc", "scale"), pair, strict=True))[name][17] = value
    with pytest.raises(ValueError, match=words):
        metrics.nll(np.zeros(50), pair)


@pytest.mark.parametrize("kind", [Normal, Laplace, LogNormal])
@pytest.mark.parametrize("rows", ROWS)
def test_laws_own_their_numbers_in_every_block(rng, kind, rows):
    loc, scale = rng.normal(size=rows), rng.uniform(0.5, 2, rows)
    law, kept = kind(loc, scale), (loc.copy(), scale.copy())
    loc[:], scale[:] = 9.0, 9.0
    assert np.array_equal(law.loc, kept[0]) and np.array_equal(law.scale, kept[1])
    assert not (law.loc.flags.writeable or law.scale.flags.writeable)
    for name, value in (("loc", np.nan), ("scale", 0.0), ("scale", np.inf)):
        given = {"loc": np.zeros(rows), "scale": np.ones(rows)}
        given[name][-1] = value
        with pytest.raises(ValueError, match=rf"`{name}` must be .*first {name}\[{rows - 1}\]"):
            kind(**given)


def test_vast_numbers_are_numbers():
    law = Normal(np.array([1e300, -1e300]), np.array([1e300, 1e200]))
    assert law.mean().tolist() == [1e300, -1e300]
    assert len(Normal(np.empty(0), np.empty(0))) == 0
