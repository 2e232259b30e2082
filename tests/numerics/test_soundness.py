"""Numbers that came from anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from calibrant.numerics.soundness import (
    around,
    check_columns,
    check_finite,
    check_numbers,
    check_probabilities,
    check_rising,
    rises,
)


@dataclass
class Part:
    """Something that was learned."""

    _ascending: ClassVar[tuple[str, ...]] = ("knots",)

    knots: Any
    values: Any = 0.0


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Part(np.array([0.0, np.nan])), "Part.knots has NaN"),
        (Part(np.array([1.0, 0.0])), "Part.knots must not decrease"),
        (Part(np.array([[0.0, 1.0], [1.0, 0.0]])), "Part.knots must not decrease"),
        (Part([np.array([0.0, 1.0]), np.array([1.0, 0.0])]), "Part.knots must not decrease"),
        (Part(np.zeros(2), np.nan), "Part.values has NaN"),
        (Part(np.zeros(2), (1.0, np.nan)), "Part.values has NaN"),
    ],
)
def test_numbers(part, message):
    with pytest.raises(ValueError, match=message):
        check_numbers(part)
    if "knots" in message:  # where order matters nothing may be missing
        with pytest.raises(ValueError, match=message):
            check_numbers(part, missing=True)
    else:
        check_numbers(part, missing=True)


def test_sound_numbers():
    check_numbers(Part(np.array([-np.inf, 0.0, 0.0, np.inf]), np.array([3.0, 1.0])))
    check_numbers(Part(np.array([2, 1]), np.array(["b", "a"])))  # counts and names


def test_finite_and_columns():
    with pytest.raises(ValueError, match="Part.values must be finite"):
        check_finite(Part(np.zeros(2), [1.0, np.inf]), "knots", "values")
    with pytest.raises(ValueError, match=r"Part.values must be 1-dimensional; got shape \(2, 1\)"):
        check_columns(Part(np.zeros(2), np.zeros((2, 1))))


def test_a_dip_between_bends_and_at_one_is_found():
    bends = np.array([0.1, 0.3])
    part = Part(bends)
    check_rising(part, lambda z: z, bends)
    for dip in (lambda z: np.where(np.abs(z - 0.2) < 1e-3, -9.0, z), lambda z: np.where(z == 0.3, -9.0, z)):
        with pytest.raises(ValueError, match="Part must not decrease"):
            check_rising(part, dip, bends)
    with pytest.raises(ValueError, match="Part must not decrease"):
        check_rising(part, lambda z: np.full(len(z), np.nan), bends)


def test_curves_give_probabilities():
    bends = np.array([0.25])
    check_probabilities(Part(bends), lambda x: np.clip(x, 0, 1), bends)
    for curve in (lambda x: np.where(x == 0.25, 1.1, 0.5), lambda x: np.where(x > 30, np.nan, 0.5), lambda x: x):
        with pytest.raises(ValueError, match="Part must give probabilities"):
            check_probabilities(Part(bends), curve, bends)


def test_places_and_steps():
    np.testing.assert_array_equal(around(np.array([0.0, 1.0]))[[1, 3, 5]], [0.0, 0.5, 1.0])
    assert len(around(np.empty(0))) == 0
    assert rises(np.array([1.0, 1.0 - 1e-10])) and not rises(np.array([1.0, 1.0 - 1e-8]))
    assert rises(np.array([-np.inf, 0.0, np.inf])) and not rises(np.array([np.inf, 0.0]))
