"""Pages and parts of pages that are made of the code: the reference, the command line, words of docstrings."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, get_args

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

import calibrant

ROOMS = {
    "calibrant.regression": "Predictive distributions and points",
    "calibrant.classification": "Classes",
    "calibrant.calibration": "Groups, chains, horizons, online",
    "calibrant.select": "Choosing, comparing, finding segments",
    "calibrant.series": "Frames of time series",
    "calibrant.monitor": "Drift",
    "calibrant.distributions": "Distributions",
    "calibrant.adapters": "Reading forecasts",
    "calibrant.metrics": "Measures",
    "calibrant.metrics.scorers": "Scorers",
    "calibrant.displays": "Pictures",
    "calibrant.decisions": "Decisions",
    "calibrant.report": "Report",
    "calibrant.engines": "Tables anywhere, and what a report holds",
    "calibrant.engines.tensors": "Tensors",
    "calibrant.engines.mlflow": "MLflow",
    "calibrant.store": "Files",
    "calibrant.forecasters": "Forecasters",
    "calibrant.maps": "Maps",
    "calibrant.summaries": "Summaries",
}
_AT_TOP = {
    "regression", "classification", "calibration", "select", "series", "monitor", "distributions", "adapters", "store",
    "forecasters",
}  # fmt: skip
_INSIDE = {f"calibrant.{room}" for room in ("cli", "links", "numerics", "tables")}
_ABOUT = """What each room shows. Calibrators, distributions and what chooses, saves and watches them can be
imported from ``calibrant`` itself; measures, pictures and decisions from ``calibrant.metrics``, ``calibrant.displays``
and ``calibrant.decisions``."""
_COST = "Cost where nothing is wrong"
_KINDS = (("Classes", inspect.isclass), ("Functions", lambda thing: not inspect.isclass(thing)))


def write_reference(folder: Path) -> None:
    """A page a room: what it shows, with links to a page for each name."""
    folder.mkdir(exist_ok=True)
    missing = {room.name for room in iter_modules(calibrant.__path__, "calibrant.") if room.ispkg} - {*ROOMS, *_INSIDE}
    if missing:
        raise ExtensionError(f"the reference has no page for {', '.join(sorted(missing))}")
    pages = [name.removeprefix("calibrant.").replace(".", "-") for name in ROOMS]
    for page, (room, title) in zip(pages, ROOMS.items(), strict=True):
        _write(folder / f"{page}.rst", _room(room, title))
    listed = "\n".join(f"   {page}" for page in pages)
    text = f"Reference\n=========\n\n{_ABOUT}\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}\n"
    _write(folder / "index.rst", text)


def write_results(folder: Path, found: Path) -> None:
    """A page for each table of results, one for the figures, and their list."""
    folder.mkdir(exist_ok=True)
    tables = sorted(found.glob("*/*.md"))
    names = [f"{path.parent.name}-{path.stem}" for path in tables]
    for name, path in zip(names, tables, strict=True):
        _write(folder / f"{name}.md", f"```{{include}} ../../experiments/results/{path.parent.name}/{path.name}\n```\n")
    _write(folder / "figures.md", _figures(sorted(found.glob("*/*.png"))))
    listed = "\n".join(["figures", *names])
    head = "# Results in full\n\nEvery table and figure that an experiment has written, as it wrote it.\n\n"
    _write(folder / "index.md", f"{head}```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n")


def _figures(pictures: list[Path]) -> str:
    """Pictures under the name of their experiment and of their file."""
    parts = ["# Figures\n\nDrawn by the experiments, from data that are not part of the library.\n"]
    for path in pictures:
        name = f"{path.parent.name}, {path.stem.replace('_', ' ')}"
        parts.append(f"## {name}\n\n![{name}](../../experiments/results/{path.parent.name}/{path.name})\n")
    return "\n".join(parts)


def _room(room: str, title: str) -> str:
    module = import_module(room)
    short = room.removeprefix("calibrant.")
    home = "calibrant" if short in _AT_TOP else room
    found = {name: getattr(module, name) for name in _shown(module)}
    parts = [title, "=" * len(title), "", inspect.getdoc(module) or "", "", f".. currentmodule:: {home}", ""]
    for heading, is_one in _KINDS:
        names = sorted(name for name, thing in found.items() if is_one(thing))
        if names:
            parts += [heading, "-" * len(heading), "", ".. autosummary::", "   :toctree: api", ""]
            parts += [*(f"   {name}" for name in names), ""]
    return "\n".join(parts)


def _shown(module: Any) -> list[str]:
    if hasattr(module, "__all__"):
        return list(module.__all__)
    here = vars(module).items()
    return [name for name, thing in here if not name.startswith("_") and callable(thing) and _is_of(thing, module)]


def _is_of(thing: Any, module: Any) -> bool:
    return getattr(thing, "__module__", "") == module.__name__


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


class CommandLine(SphinxDirective):
    """Every command with its arguments and options."""

    def run(self) -> list[nodes.Node]:
        """Write sections, and have them parsed."""
        import typer

        from calibrant.cli.app import app

        group = typer.main.get_command(app)
        lines = [line for name, command in group.commands.items() for line in _command(name, command)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _command(name: str, command: Any) -> list[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    usage = " ".join(["calibrant", name, *(each.metavar or each.name.upper() for each in arguments), "[options]"])
    lines = [f"## calibrant {name}", "", inspect.cleandoc(command.help), "", "```text", usage, "```", ""]
    panels: dict[str, list[Any]] = {}
    for each in options:
        panels.setdefault(getattr(each, "rich_help_panel", None) or "Options", []).append(each)
    for panel, members in panels.items():
        lines += [f"**{panel}**", "", "| option | | what it does |", "|---|---|---|", *map(_option, members), ""]
    return lines


def _option(each: Any) -> str:
    spelled = ", ".join(f"`{name}`" for name in each.opts)
    takes = "" if each.is_flag else f"`{each.metavar or _kind(each)}`"
    default = "" if each.is_flag or each.default in (None, (), []) or callable(each.default) else each.default
    text = " ".join((each.help or "").split())
    return f"| {spelled} | {takes} | {_cell(text)}{f' Default: `{default}`.' if default != '' else ''} |"


def _kind(each: Any) -> str:
    """What an option takes where it does not say so itself: one of some words, or a number."""
    told = getattr(each, "type_descriptor", None) or each.type
    choices = getattr(told, "choices", None) or get_args(getattr(told, "annotation", None))
    return " or ".join(map(str, choices)) if choices else "NUMBER"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


class Beside(SphinxDirective):
    """Entries of a benchmark beside other libraries: of the jobs whose names begin as one of the arguments."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Write the table, and have it parsed."""
        from benchmarks.page import entries

        path = Path(self.env.srcdir).parent / "benchmarks" / "results" / "peers.json"
        self.env.note_dependency(str(path))
        wanted = tuple(name.strip() for name in self.arguments[0].split(","))
        kept = json.loads(path.read_text(encoding="utf-8"))["records"]
        shown = [each for each in kept if each["job"].startswith(wanted)]
        if not shown:
            raise self.error(f"no job of the benchmarks begins with {self.arguments[0]}.")
        return self.parse_text_to_nodes(entries(shown))


class Measures(SphinxDirective):
    """All measures of a task in a table: what each says, and its unit."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the table, and have it parsed."""
        from calibrant.metrics.catalogue import MEASURES

        found = [each for each in MEASURES.values() if each.task == self.arguments[0]]
        rows = [f"| {each.label} | `{each.key}` | {_cell(each.words)} | {each.unit} |" for each in found]
        text = "\n".join(["| measure | key in JSON | what it says | unit |", "|---|---|---|---|", *rows])
        return self.parse_text_to_nodes(text)


class Costs(SphinxDirective):
    """What each calibrator costs where nothing is wrong, by what its docstring says."""

    def run(self) -> list[nodes.Node]:
        """Write the table, and have it parsed."""
        rows = []
        for name in sorted(calibrant.__all__):
            told = [each for each in (inspect.getdoc(getattr(calibrant, name)) or "").split("\n\n") if _COST in each]
            if told and name.endswith("Calibrator"):
                text = " ".join(told[0].split()).partition(_COST)[2].partition("(`experiments.cost`)")[2]
                rows.append(f"| {{py:obj}}`~calibrant.{name}` | {_cell(text.lstrip(': '))} |")
        found = [row for row in rows if any(letter.isdigit() for letter in row)]
        return self.parse_text_to_nodes("\n".join(["| calibrator | nats a row |", "|---|---|", *found]))


class Said(SphinxDirective):
    """Paragraphs of a docstring, by how they begin: ``{said} QuantileCalibrator`` and a beginning a line."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = False

    def run(self) -> list[nodes.Node]:
        """Find the paragraphs."""
        module, _, name = f"calibrant.{self.arguments[0]}".rpartition(".")
        text = inspect.getdoc(getattr(import_module(module), name)) or ""
        paragraphs = text.split("\n\n")
        found: list[str] = []
        for start in self.content:
            told = [each for each in paragraphs if " ".join(each.split()).startswith(start)]
            if len(told) != 1:
                raise self.severe(f"{len(told)} paragraphs of {self.arguments[0]} begin with {start!r}")
            found += [*inspect.cleandoc(told[0]).splitlines(), ""]
        box = nodes.container(classes=["said"])
        box += _as_rst(self, found)
        return [box]


def _as_rst(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Parse docstrings, which are reStructuredText, wherever they are shown."""
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser
    from docutils.utils import new_document

    settings = get_default_settings(Parser)
    settings.env = directive.env
    document = new_document(directive.env.doc2path(directive.env.docname), settings)
    Parser().parse("\n".join(StringList(lines)), document)
    return list(document.children)


def not_ours(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out of the reference what classes have from scikit-learn."""
    of = getattr(thing, "__module__", None) or getattr(getattr(thing, "fget", None), "__module__", None) or ""
    return True if of.startswith("sklearn") or name.endswith("_request") else None


def setup(app: Any) -> dict[str, bool]:
    """Write the reference and add the directives."""
    app.connect("autodoc-skip-member", not_ours)
    here = Path(app.srcdir)
    write_reference(here / "reference")
    write_results(here / "results", here.parent / "experiments" / "results")
    app.add_directive("beside", Beside)
    app.add_directive("costs", Costs)
    app.add_directive("command-line", CommandLine)
    app.add_directive("measures", Measures)
    app.add_directive("said", Said)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
