"""Which measure sees which miscalibration."""

from __future__ import annotations

import pytest

from experiments.bella.sensitivity import BLIND, CHAPTER, PARTLY, SEES, WHY, Verdict, conditions, table


@pytest.mark.parametrize(
    ("scores", "word"),
    [((9.0, 5.0), SEES), ((9.0, 0.0), PARTLY), ((9.0, -9.0), PARTLY), ((-9.0, -9.0), PARTLY), ((3.0, -3.0), BLIND)],
)
def test_words(scores, word):
    assert Verdict(dict(enumerate(scores))).word == word


def test_the_table_is_as_stated():
    found = list(table(8))
    assert all(as_stated for as_stated, _ in found)
    differing = [line for _, line in found if "DIFFERS" in line]
    assert len(differing) == len(WHY) == 5 and not any("no reason" in line for line in differing)
    assert {(code, name) for code, each in CHAPTER.items() for name in each} > set(WHY)


def test_conditions_beside_the_table():
    assert all(as_stated for as_stated, _ in conditions(2000))
