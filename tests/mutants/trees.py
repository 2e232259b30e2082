"""Private copies of the repository, in which files may be changed."""

from __future__ import annotations

import ast
import compileall
import shutil
import subprocess
from pathlib import Path

from .choice import PACKAGE
from .edits import blocks, without_docstring

_RECORDER = '''"""The blocks of statements that were reached."""

reached = set()
reach = reached.add
'''


def copied(root: Path, to: Path) -> Path:
    """Copy what git knows or would take, compiled."""
    names = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, names.split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, to / name)
    compileall.compile_dir(to / "src", quiet=1)
    return to


def write(tree: Path, name: str, source: str) -> None:
    """Put another text in place of a file, and forget what was compiled."""
    path = tree / name
    path.write_text(source, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def instrumented(tree: Path) -> Path:
    """Let every block of statements in a function of the package tell that it was reached."""
    (tree / "src" / "reach_recorder.py").write_text(_RECORDER, encoding="utf-8")
    for path in sorted((tree / PACKAGE).rglob("*.py")):
        name = path.relative_to(tree).as_posix()
        write(tree, name, told_of_blocks(path.read_text(encoding="utf-8"), name))
    return tree


def told_of_blocks(source: str, name: str) -> str:
    """The source with a call at the beginning of each block of statements in a function."""
    module = ast.parse(source)
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    told: set[int] = set()
    for function in functions:
        for statements in blocks(function):
            if id(statements) in told:
                continue
            told.add(id(statements))
            rest = without_docstring(statements)
            if rest and not isinstance(rest[0], ast.ClassDef):
                call = ast.parse(f"__reach__({f'{name}:{rest[0].lineno}'!r})").body[0]
                statements.insert(len(statements) - len(rest), call)
    where = next(k for k, one in enumerate((*module.body, None)) if not _is_first(one))
    module.body.insert(where, ast.parse("from reach_recorder import reach as __reach__").body[0])
    return ast.unparse(ast.fix_missing_locations(module))


def _is_first(statement: ast.stmt | None) -> bool:
    """Whether nothing may stand before it: the docstring and imports from the future."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return statement is not None and not without_docstring([statement])
