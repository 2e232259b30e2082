"""Columns of laws: all rows are looked at, few and many, copied and lent; nothing is refused that is only vast."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Laplace, LogNormal, Normal
from calibrant._checks import MANY, is_finite

SIZES = (3, MANY, MANY + 3, MANY + 40_001)


def _columns(n, frozen):
    columns = np.linspace(-1.0, 1.0, n), np.linspace(0.5, 2.0, n)
    for column in columns:
        column.flags.writeable = not frozen
    return columns


@pytest.mark.parametrize("law", [Normal, Laplace, LogNormal])
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("loc", np.nan, "finite"),
        ("loc", -np.inf, "finite"),
        ("loc", np.inf, "finite"),
        ("scale", np.nan, "finite"),
        ("scale", np.inf, "finite"),
        ("scale", 0.0, "positive"),
        ("scale", -1.0, "positive"),
    ],
)
def test_one_bad_row_is_found_wherever_it_is(law, frozen, n, name, value, rule):
    for row in (0, n // 2, n - 1):
        columns = dict(zip(("loc", "scale"), (column.copy() for column in _columns(n, frozen=False)), strict=True))
        columns[name][row] = value
        columns[name].flags.writeable = not frozen
        with pytest.raises(
            ValueError, match=rf"`{name}` must be {rule}; 1 of {n} values is not, first {name}\[{row}\]"
        ):
            law(**columns)


@pytest.mark.parametrize("n", SIZES)
def test_vast_numbers_are_numbers(n):
    loc, scale = np.full(n, -1e200), np.full(n, 1e200)
    for law in (Normal(loc, scale), Normal(loc, 1e200), Normal(-1e200, scale)):
        np.testing.assert_array_equal(law.median(), loc)


@pytest.mark.parametrize("n", SIZES)
def test_laws_keep_what_they_were_given(n):
    loc, scale = _columns(n, frozen=False)
    law, before = Normal(loc, scale), (loc.copy(), scale.copy())
    loc[:], scale[:] = 7.0, 7.0
    np.testing.assert_array_equal(law.loc, before[0])
    np.testing.assert_array_equal(law.scale, before[1])
    assert not law.loc.flags.writeable and not law.scale.flags.writeable


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", SIZES)
def test_finite_numbers_of_any_layout(n, value):
    table = np.zeros((n, 3))
    table[-1, 1] = value
    assert is_finite(table[:, 0]) and not is_finite(table[:, 1])
    assert not is_finite(table) and not is_finite(np.asfortranarray(table)) and not is_finite(table[:, 1].copy())
    assert not is_finite(np.broadcast_to(np.array([value]), (n,))) and is_finite(np.broadcast_to(1e200, (n,)))
    assert is_finite(np.full(n, 1e200)) and is_finite(np.empty(0)) and is_finite(np.empty((0, 3)))


def test_both_ways_to_a_score_agree():
    n = MANY // 2 + 5
    loc, scale = _columns(n, frozen=False)
    y = loc[::-1] * 3
    whole, few = Laplace(loc, scale), slice(n - 4, n)
    np.testing.assert_array_equal(whole.crps(y)[few], Laplace(loc[few], scale[few]).crps(y[few]))
    np.testing.assert_array_equal(whole.logpdf(y)[few], Laplace(loc[few], scale[few]).logpdf(y[few]))


@pytest.mark.parametrize("law", [Normal, Laplace, LogNormal])
@pytest.mark.parametrize("n", [3, MANY + 3])
def test_columns_of_two_lengths_are_refused(law, n):
    with pytest.raises(ValueError, match=rf"one length; got loc {n}, scale {n - 1}"):
        law(np.zeros(n), np.ones(n - 1))
    table = law(np.zeros(n), np.ones((n, 1)))
    assert table.scale.shape == (n,)
