"""Results on disk: JSON in ``benchmarks/results``, of which ``benchmarks/RESULTS.md`` and its figures are made."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .forked import Found
from .machine import machine

HERE = Path(__file__).resolve().parent
FOLDER, PAGE = HERE / "results", HERE / "RESULTS.md"


def keep(name: str, records: list[Found], packages: Iterable[str]) -> None:
    """Write what was found, and on what machine, then the page and figures anew."""
    from .figures import draw
    from .page import page

    FOLDER.mkdir(exist_ok=True)
    content = {"machine": machine(packages), "records": records}
    (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    draw(kept(), FOLDER)
    PAGE.write_text(page(kept()), encoding="utf-8")


def kept() -> dict[str, Any]:
    """The contents of all files, by name."""
    names = ("peers", "scaling")
    paths = {name: FOLDER / f"{name}.json" for name in names}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()}
