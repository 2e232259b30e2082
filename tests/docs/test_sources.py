"""The page of sources is what its script makes, leaves nothing out, and names only what is there."""

from __future__ import annotations

from importlib import import_module

import pytest

from docs.sources import PAGE, STATES, Row, page, papers

PAPERS = papers()
ROWS = [(paper.title, row) for paper in PAPERS for row in paper.rows]


def exists(name: str) -> bool:
    """Whether the longest importable beginning of a dotted name has the rest."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_the_page_is_what_the_script_makes():
    assert PAGE.read_text(encoding="utf-8") == page(PAPERS), "run python -m docs.sources"


def test_no_cell_is_empty_or_breaks_the_table():
    for _, row in ROWS:
        assert row.state in STATES, row
        assert row.names or row.state == "not there", row
        for cell in (row.at, row.what, row.how, *row.names):
            assert cell.strip() == cell and cell and "|" not in cell and "\n" not in cell, row


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.title)
def test_every_number_has_a_row(paper):
    found = sorted(number for row in paper.rows for number in row.numbers())
    wanted = sorted((kind, k) for kind, count in paper.counts.items() for k in range(1, count + 1))
    assert found == wanted


def test_numbers_of_a_row():
    assert Row("def. 1, eq. 2-3, table 4", "", [], "", "").numbers() == [("def", 1), ("eq", 2), ("eq", 3), ("table", 4)]


def test_every_name_exists():
    pytest.importorskip("matplotlib")
    names = sorted({name for _, row in ROWS for name in row.names})
    assert len(names) > 50 and all(name.split(".")[0] in ("calibrant", "experiments") for name in names)
    assert not [name for name in names if not exists(name)]


@pytest.mark.parametrize("name", ["calibrant.metrics.nothing", "nowhere.at_all", "calibrant.Normal.nothing"])
def test_names_that_do_not_exist_are_found(name):
    assert not exists(name)


def test_rows_are_different():
    places = [(title, row.at) for title, row in ROWS]
    assert len(set(places)) == len(places)
