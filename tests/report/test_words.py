from __future__ import annotations

import numpy as np
import pytest

from calibrant.metrics.catalogue import Measured
from calibrant.report.words import clean, number, safe, with_interval


@pytest.mark.parametrize(
    ("value", "measure", "text"),
    [
        (0.5, "", "0.500"),
        (-12.345, "", "−12.35"),
        (123.46, "", "123.5"),
        (0.0001, "", "0.0001"),
        (0.0, "", "0.000"),
        (0.9, "coverage_90", "90.0 %"),
        (np.inf, "", "∞"),
        (-np.inf, "", "−∞"),
        (np.nan, "", "–"),
    ],
)
def test_digits(value: float, measure: str, text: str) -> None:
    assert number(value, measure) == text


def test_intervals() -> None:
    assert with_interval(Measured(0.7, 0.06, 0.6, 0.8), "ece") == "70.0 % <small>60.0 to 80.0</small>"
    assert with_interval(Measured(0.7, 0.06, 0.6, 0.8), "nll") == "0.700 <small>0.600 to 0.800</small>"
    assert with_interval(Measured(0.99, np.nan, np.nan, np.nan), "ece") == "99.0 %"
    assert with_interval(None, "ece") == "–"


def test_names_are_one_line_and_harmless() -> None:
    assert clean("a\tb\nc\u202ed") == "a b c d"
    assert clean("\ud800x") == "?x"
    assert len(clean("y" * 10_000)) == 80
    assert safe("<a href='x'>\"&") == "&lt;a href=&#x27;x&#x27;&gt;&quot;&amp;"
