"""Words of the command line are said by the command line only."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import calibrant

PACKAGE = Path(calibrant.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]")


def options_in(source: str) -> list[str]:
    """Lines of string literals that name an option; docstrings may, where they speak of the command."""
    tree = ast.parse(source)
    scopes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documented = [node for node in ast.walk(tree) if isinstance(node, scopes) and ast.get_docstring(node) is not None]
    spared = {id(node.body[0].value) for node in documented if "`calibrant " in (ast.get_docstring(node) or "")}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [f"{text.lineno}: {text.value}" for text in texts if OPTION.search(text.value) and id(text) not in spared]


def test_the_search_finds_options():
    source = 'def f():\n    """Like `calibrant fit --mean`."""\n    raise ValueError(f"say --target; {1}")\n'
    assert options_in(source) == ["3: say --target; "]
    assert options_in('"""Use --mean."""\nx = "a--b"\n') == ["1: Use --mean."]


def test_no_options_below_the_command_line():
    files = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "cli"]
    assert len(files) > 200
    found = {str(path): lines for path in files if (lines := options_in(path.read_text(encoding="utf-8")))}
    assert found == {}
