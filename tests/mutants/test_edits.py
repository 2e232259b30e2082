"""What `make mutants` changes, and what it leaves alone."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.choice import ROOMS, choose
from tests.mutants.edits import applied, edits
from tests.mutants.trees import told_of_blocks


def changed(line):
    """All that a statement of a function of x and y becomes."""
    head = "def f(x: int, y):\n    x = y\n    "
    return {applied(head + line, edit).removeprefix(head) for edit in edits(head + line) if edit.line == 3}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return x + (y)", {"return x - (y)"}),
        ("return 'σ', x / y", {"return 'σ', x * y", "return x / y, 'σ'"}),
        ("return 0 <= x < y", {"return 0 < x < y", "return 0 <= x <= y", "return 1 <= x < y"}),
        ("return x and not y", {"return x or not y", "return x and (y)"}),
        ("x = max(x, 10)", {"x = min(x, 10)", "x = max(x, 20)", "pass"}),
        ("x = g(0.5, x)", {"x = g(x, 0.5)", "x = g(0.75, x)", "pass"}),
        ("z = x.argmin()", {"z = x.argmax()"}),
        ("x[:, 2] = y", {"x[:, 3] = y", "x[2, :] = y", "pass"}),
        ("raise ValueError(f'{x} + 1', 2)", {"pass"}),
        ("z: tuple[int, str] = x", set()),
        ("return x in (3, 4) or isinstance(x, (int, str))", {"return x in (3, 4) and isinstance(x, (int, str))"}),
        ("z = 'a' + 'b' + f'{x - 1}'", set()),
        ("z = 1e-12", set()),
    ],
)
def test_edits_of_a_line(line, expected):
    assert changed(line) == expected


def test_docstrings_imports_and_types_are_left_alone():
    source = (
        '"""1 < 2."""\nfrom a import b, c\n__all__ = ["b", "c"]\nif TYPE_CHECKING:\n    d = 1\ne = dict[str, int]\n'
    )
    assert edits(source) == []
    assert {edit.text for edit in edits(source + "def f(n: int = 3) -> list[int]:\n    '''2 + 2'''\n")} == {"4"}


def test_names_of_mutants_do_not_depend_on_other_lines():
    source = "def f(x):\n    if x > 1:\n        return x + 1\n    return x + 1\n"
    before, after = edits(source), edits(f'"""Text."""\n\n\ndef g(y):\n    return y - 1\n\n\n{source}')
    assert [edit.key for edit in before] == [edit.key for edit in after if edit.function == "f"]
    assert len({edit.key for edit in before}) == len(before)


def test_the_choice_is_even_and_repeatable(request):
    root = request.config.rootpath
    chosen = choose(root, ROOMS, 50, 0)
    assert [mutant.room for mutant in chosen] == [room for room in ROOMS for _ in range(10)]
    assert [mutant.name for mutant in chosen] == [mutant.name for mutant in choose(root, ROOMS, 50, 0)]
    assert {mutant.name for mutant in chosen} != {mutant.name for mutant in choose(root, ROOMS, 50, 1)}


def test_blocks_tell_when_they_are_reached():
    source = '"""Text."""\nfrom __future__ import annotations\n'
    source += 'def f(x):\n    """Doc."""\n    if x:\n        return 1\n    return 2\n'
    code = told_of_blocks(source, "f.py").replace("from reach_recorder import reach as __reach__", "")
    reached: list[str] = []
    space = {"__reach__": reached.append}
    exec(compile(ast.parse(code), "f.py", "exec"), space)
    assert space["f"](0) == 2 and reached == ["f.py:5"]
    assert space["f"](1) == 1 and reached == ["f.py:5", "f.py:5", "f.py:6"]
    assert {edit.block for edit in edits(source)} == {5, 6}
