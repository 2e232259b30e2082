"""The README's examples run, its files exist, and it names what the package exports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibrant
from calibrant import displays, metrics

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_the_first_example_is_short_and_recalibrates(capsys: pytest.CaptureFixture[str]) -> None:
    assert sum(bool(line.strip()) for line in EXAMPLES[0].splitlines()) <= 15
    names: dict[str, Any] = {}
    exec(compile(EXAMPLES[0], "README.md", "exec"), names)
    assert "calibration_error" in capsys.readouterr().out
    assert names["intervals"].shape == (len(names["y_test"]), 2)
    error = {stage: metrics.calibration_error(names["y_test"], names[stage]) for stage in ("before", "after")}
    assert error["after"] < error["before"]


def test_the_second_example_finds_the_true_width() -> None:
    names: dict[str, Any] = {}
    exec(compile(EXAMPLES[1], "README.md", "exec"), names)
    np.testing.assert_allclose(names["forecast"].interval(0.9), [[0.3 - 3.29, 0.3 + 3.29]], atol=0.35)


def test_the_third_example_calibrates_a_classifier() -> None:
    names: dict[str, Any] = {}
    exec(compile(EXAMPLES[2], "README.md", "exec"), names)
    X, y, model = names["X"], names["y"], names["model"]
    before, after = model.estimator_.predict_proba(X[1::2]), model.predict_proba(X[1::2])
    assert metrics.log_loss(y[1::2], after) < 0.5 * metrics.log_loss(y[1::2], np.clip(before, 1e-12, 1))
    assert len(EXAMPLES) == 3


def test_linked_files_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert {"CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"} <= set(links)
    assert not [link for link in links if not (ROOT / link).exists()]


def test_named_classes_exist() -> None:
    named = set(re.findall(r"`(?:metrics\.)?([A-Za-z_]+)(?:\([^`]*\))?`", README))
    classes = {name for name in named if name[0].isupper()} | {"as_distribution"}
    assert len(classes) > 15
    assert not [name for name in classes if not hasattr(calibrant, name) and not hasattr(displays, name)]
    functions = {"summary", "nll", "crps", "coverage", "calibration_error", "calibration_floor"}
    assert functions <= named and not [name for name in functions if not hasattr(metrics, name)]


def test_the_picture_is_small() -> None:
    assert (ROOT / "docs/images/calibration.svg").stat().st_size < 150_000
