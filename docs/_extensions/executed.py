"""Blocks that are executed when the site is built: ``run`` for Python, ``run-shell`` for commands.

A page is one session: its blocks share their names and one empty folder. What a block prints, the value of its last
expression and its pictures are shown below it. Whatever raises, warns or exits otherwise than it should stops all.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

PICTURES = "_generated"
WIDTH = "96"
STYLE = {
    "figure.figsize": (6.4, 3.6),
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 10,
    "svg.hashsalt": "calibrant",
}


@dataclass
class Session:
    """What the blocks of a page share."""

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    pictures: int = 0


class Executed(SphinxDirective):
    """A block of code and what came of it."""

    has_content = True
    language = "python"
    option_spec = {  # noqa: RUF012
        "hide-code": directives.flag,
        "hide-output": directives.flag,
        "alt": directives.unchanged,
        "exit": directives.nonnegative_int,
        "publish": directives.unchanged,
        "file": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Execute the block."""
        code = self._code()
        shown: list[nodes.Node] = []
        if "hide-code" not in self.options:
            block = nodes.literal_block(code, code, language=self.language)
            shown.append(block)
        try:
            with contextlib.chdir(self.session().folder):
                text, pictures = self.execute(code)
        except Exception as reason:
            where = f"{self.env.doc2path(self.env.docname)}:{self.lineno}"
            raise self.severe(f"the block at {where} failed: {type(reason).__name__}: {reason}") from reason
        if text.strip() and "hide-output" not in self.options:
            output = nodes.literal_block(text.rstrip(), text.rstrip(), language="text", classes=["output"])
            shown.append(output)
        self.publish()
        return [*shown, *pictures]

    def _code(self) -> str:
        """The block itself, or the file that it names."""
        if "file" not in self.options:
            return "\n".join(self.content)
        relative, path = self.env.relfn2path(self.options["file"])
        self.env.note_dependency(relative)
        return Path(path).read_text(encoding="utf-8").rstrip()

    def execute(self, code: str) -> tuple[str, list[nodes.Node]]:
        """What it printed, and its pictures."""
        raise NotImplementedError

    def session(self) -> Session:
        """That of this page."""
        data = self.env.temp_data
        if "executed" not in data:
            data["executed"] = Session(Path(tempfile.mkdtemp(prefix="calibrant-docs-")))
        found: Session = data["executed"]
        return found

    def publish(self) -> None:
        """Put a file that the block wrote beside the pages."""
        for name in self.options.get("publish", "").split():
            target = Path(self.env.app.outdir) / "made" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.session().folder / name, target)


class RunPython(Executed):
    """Python, in the namespace of the page."""

    def execute(self, code: str) -> tuple[str, list[nodes.Node]]:
        import matplotlib.pyplot as plt

        session, printed = self.session(), io.StringIO()
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(), plt.rc_context(STYLE):
            warnings.simplefilter("error")
            exec(compile(tree, "<page>", "exec"), session.names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "<page>", "eval"), session.names)
                if value is not None and not _is_drawn(value):
                    print(value if _is_text(value) else repr(value))
            pictures = [self._picture(plt.figure(number), session) for number in plt.get_fignums()]
            plt.close("all")
        return printed.getvalue(), pictures

    def _picture(self, figure: Any, session: Session) -> nodes.Node:
        alt = self.options.get("alt")
        if not alt:
            raise ValueError("a picture needs `:alt:`, what it shows in words")
        session.pictures += 1
        name = f"{PICTURES}/{self.env.docname.replace('/', '-')}-{session.pictures}.svg"
        target = Path(self.env.srcdir) / name
        target.parent.mkdir(exist_ok=True)
        figure.savefig(target, metadata={"Date": None})
        return nodes.image(uri=f"/{name}", alt=alt, classes=["computed"])


class RunShell(Executed):
    """Commands, a line each; lines that end in a backslash go on."""

    language = "console"

    def execute(self, code: str) -> tuple[str, list[nodes.Node]]:
        text = code.replace("\\\n", " ")
        commands = [line.removeprefix("$ ") for line in text.splitlines() if line.strip() and not line.startswith("#")]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        settings = os.environ | {"COLUMNS": WIDTH, "NO_COLOR": "1", "PATH": path}
        printed, expected = [], self.options.get("exit", 0)
        for command in commands:
            made = subprocess.run(
                command, shell=True, env=settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            printed.append(made.stdout)
            if made.returncode != (expected if command is commands[-1] else 0):
                raise RuntimeError(f"`{command}` exited with {made.returncode}: {made.stdout}")
        return "".join(printed), []


def _is_drawn(value: Any) -> bool:
    """Whether a value is of matplotlib or a display, which show themselves."""
    module = type(value[0] if isinstance(value, list) and value else value).__module__
    return module.startswith(("matplotlib", "calibrant.displays"))


def _is_text(value: Any) -> bool:
    """Whether a value is a table that is read as it is printed."""
    return type(value).__str__ is not object.__str__ and not isinstance(value, (str, bytes, tuple, list, dict))


def forget(app: Any, doctree: nodes.document) -> None:
    """Remove the folder of a page that was read."""
    session = app.env.temp_data.pop("executed", None)
    if session is not None:
        shutil.rmtree(session.folder, ignore_errors=True)


def setup(app: Any) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("run", RunPython)
    app.add_directive("run-shell", RunShell)
    app.connect("doctree-read", forget)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
