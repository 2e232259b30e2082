"""The trial of one mutant: its tests, until one fails."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .choice import Mutant
from .forks import Task
from .reach import FLAGS
from .trees import write


def trial(root: Path, mutant: Mutant, tests: Sequence[tuple[str, float]]) -> Task:
    """The task that tells which test fails, None if none does; to take five times as long and 10 s is to fail."""
    original = (root / mutant.path).read_text(encoding="utf-8")
    work = partial(_first_failure, mutant.path, mutant.source(root), dict(tests))
    return Task(work, 5 * sum(dict(tests).values()) + 20, mutant, lambda tree: write(tree, mutant.path, original))


def _first_failure(path: str, source: str, tests: dict[str, float], tree: Path) -> str | None:
    import pytest

    write(tree, path, source)
    try:
        import calibrant  # noqa: F401  see reach.py
    except Exception:
        return "import"
    watch = _FirstFailure(tests)
    code = pytest.main([*FLAGS, "-x", *dict.fromkeys(test.split("::")[0] for test in tests)], plugins=[watch])
    if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return None
    return watch.failed or "collection"


class _FirstFailure:
    """A pytest plugin: the given tests in the given order; the name of the one that fails."""

    def __init__(self, tests: dict[str, float]) -> None:
        self.seconds = tests
        self.order = {name: place for place, name in enumerate(tests)}
        self.failed = ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        soon = int(time.process_time() + 5 * self.seconds[nodeid] + 10)
        resource.setrlimit(resource.RLIMIT_CPU, (min(soon, most), most))

    def pytest_sessionstart(self) -> None:
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings.default, phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")  # a counterexample is enough, it need not be small

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        wanted = [item for item in items if item.nodeid in self.order]
        items[:] = sorted(wanted, key=lambda item: self.order[item.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid
