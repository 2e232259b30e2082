"""What mypy says about the README's examples, and about right and wrong uses, seen from outside the package."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parent.parent
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
HEAD = """
import numpy as np
import pandas as pd
import polars as pl

from calibrant import CalibratedRegressor, Ensemble, Histogram, Mixture, Normal, Poisson, Quantiles, Truncated, metrics
from calibrant.displays import CalibrationCurveDisplay, PITDisplay, ReliabilityDisplay, SharpnessDisplay

law = Normal([0.0, 1.0], 1.0)
"""
RIGHT = """
law.loc.sum() + law.cdf([0.5, 2]).sum() + law.quantiles((0.1, 0.9)).sum() + law.ppf(0.5).sum()
Normal(loc=pd.Series([1.0]), scale=pl.Series([1.0]))
Normal(np.arange(3), range(1, 4))
Poisson([1, 2])
Ensemble([[1.0, 2.0], [3.0, 4.0]])
Ensemble(pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 3.0]}), weights=[0.5, 0.5])
Quantiles([0.1, 0.9], [[1.0, 2.0]])
Histogram([0, 1, 2], [[0.5, 0.5]])
Truncated(law, lower=0)
Mixture([law, law], [0.5, 0.5])
metrics.crps([0.0, 1.0], law, sample_weight=[1, 2])
metrics.crps(pl.Series([0.0, 1.0]), law)
metrics.mae(pd.Series([0.0, 1.0]), law)
metrics.ece(["a", "b"], [0.5, 0.4], n_bins=2)
metrics.log_loss(np.array(["a", "b"]), [[0.5, 0.5], [0.3, 0.7]], classes=["a", "b"])
CalibrationCurveDisplay.from_predictions([0.0, 1.0], law, name="all").plot(color="red").figure_.savefig("all.png")
CalibratedRegressor(levels=[0.1, 0.9]).fit(np.zeros((5, 1)), [1.0, 2.0, 3.0, 4.0, 5.0]).predict(np.zeros((5, 1))).sum()
"""
WRONG = [
    'Normal("a", 1.0)',
    'Normal(["a"], 1.0)',
    "Normal(None, 1.0)",
    "Normal(law, 1.0)",
    "Normal([1.0])",
    "Ensemble(law)",
    "Truncated([1.0, 2.0])",
    "law.loc.nothing",
    "law.loc = np.zeros(2)",
    'law.cdf("0.5")',
    "law.sample(size=2.5)",
    "metrics.crps(law, [0.0, 1.0])",
    'metrics.crps("ab", law)',
    "metrics.ence([0.0, 1.0], law, bins=2)",
    'metrics.ence([0.0, 1.0], law, n_bins="2")',
    'metrics.mae([0.0, 1.0], "ab")',
    "metrics.ece(1.0, [0.5, 0.4])",
    "metrics.ece([0, 1], law)",
    "CalibrationCurveDisplay.from_predictions(law, [0.0, 1.0])",
    "PITDisplay.from_predictions([0.0, 1.0], law, n_bins=2.5)",
    'ReliabilityDisplay.from_predictions(["a", "b"], [0.5, 0.4], n_bins="equal")',
    "SharpnessDisplay.from_forecasts(law).plot().nothing",
]


def complaints(folder: Path, **files: str) -> list[str]:
    """Errors of mypy, strict as in the project's settings, about files outside of the project."""
    paths = [folder / f"{name}.py" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--no-error-summary"]
    done = subprocess.run([*command, *map(str, paths)], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert not done.stderr
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    return [re.sub(r"^\S*/", "", line) for line in lines]  # what mypy remembers may be of another folder


def test_examples_and_uses(tmp_path: Path) -> None:
    examples = {f"example_{k}": text for k, text in enumerate(EXAMPLES)}
    wrong = HEAD + "\n".join(WRONG) + "\n"
    found = complaints(tmp_path, **examples, right=HEAD + RIGHT, wrong=wrong)
    assert [line for line in found if not line.startswith("wrong.py")] == []
    lines = {int(line.split(":")[1]) for line in found}
    first = HEAD.count("\n") + 1
    assert [use for k, use in enumerate(WRONG, first) if k not in lines] == []


def test_the_package_says_that_it_has_types() -> None:
    assert (ROOT / "src/calibrant/py.typed").exists()
