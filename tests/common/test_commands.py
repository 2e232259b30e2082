"""What makes no difference to any command: order of rows, of class columns, names of labels, copies for weights."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibrant.cli import main

ROWS = 300
COMMANDS = ("evaluate", "report", "fit", "inspect", "compare")
NAMES = {
    "yes, no": ["yes", "no"],
    "no, yes": ["no", "yes"],
    "sizes": ["small", "medium", "large"],
    "unicode": ["日本", "größer", "a & b"],
    "numbers": [str(k) for k in range(12)],
}


def classes(labels: list[str], n: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Probabilities that are too sure of themselves, one column a label."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1, (n, len(labels)))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    came = (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    said = np.exp(2 * logits) / np.exp(2 * logits).sum(axis=1, keepdims=True)
    frame = pd.DataFrame(said, columns=[f"p_{label}" for label in labels])
    return frame.assign(y=np.array(labels, dtype=object)[came], shop=rng.choice(["a", "b"], n))


def laws(n: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Normal forecasts with half the right width in one shop and the right one in the other, and weights."""
    rng = np.random.default_rng(seed)
    mu, sigma, shop = rng.normal(size=n), rng.uniform(0.5, 2, n), rng.choice(["north", "south"], n)
    y = mu + np.where(shop == "north", 2, 1) * sigma * rng.standard_normal(n)
    return pd.DataFrame({"mu": mu, "sigma": sigma, "y": y, "shop": shop, "w": rng.integers(1, 4, n)})


TABLES: dict[str, Callable[[], pd.DataFrame]] = {"laws": laws} | {
    name: partial(classes, labels) for name, labels in NAMES.items()
}


def numbers(command: str, frame: pd.DataFrame, *options: str) -> dict[str, Any]:
    """Choice and values of the measures by candidate, as a command tells them."""
    found = found_by(command, frame, *options)
    measures = {stage: {key: values[0] for key, values in table.items()} for stage, table in found["measures"].items()}
    return {"measures": measures, "chosen": found.get("chosen")}


@cache
def usual(command: str, table: str, *options: str) -> dict[str, Any]:
    """What a command tells of a table as it is, worked out once for all tests that turn the table."""
    return numbers(command, TABLES[table](), *options)


def found_by(command: str, frame: pd.DataFrame, *options: str) -> dict[str, Any]:
    """What a command tells of a table."""
    frame.to_parquet("t.parquet")
    saved = ["-o", "c.calibrant"]
    call = {
        "evaluate": ["evaluate", "t.parquet", "--json"],
        "report": ["report", "t.parquet", "--json", "-o", "r.html"],
        "fit": ["fit", "t.parquet", "--json", *saved],
        "inspect": ["fit", "t.parquet", *saved],
        "compare": ["compare", "t.parquet", "--json"],
    }[command]
    said = _run(*call, *options)
    if command == "inspect":
        return dict(json.loads(_run("inspect", "c.calibrant", "--json"))["metadata"])
    return dict(json.loads(said))


def _run(*arguments: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main([*arguments]) == 0
    return out.getvalue()


def same(first: dict[str, Any], second: dict[str, Any], tolerance: float) -> None:
    assert first["chosen"] == second["chosen"]
    assert first["measures"].keys() == second["measures"].keys()
    for stage, table in first["measures"].items():
        for key, value in table.items():
            assert second["measures"][stage][key] == pytest.approx(value, rel=tolerance, abs=tolerance), (stage, key)


@pytest.fixture(autouse=True)
def no_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are drawn for classes without rows, whose pictures were wrong once; else only numbers are looked at.

    Intervals are not: a few rows drawn again do.
    """
    monkeypatch.setattr("calibrant.metrics.catalogue.RESAMPLES", 10)
    if "without_rows" not in request.node.name:
        monkeypatch.setattr("calibrant.report.page.render", lambda result: "")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_classes(command: str) -> list[str]:
    return {"fit": ["-m", "platt"], "inspect": ["-m", "platt"], "evaluate": ["-m", "platt"]}.get(
        command, ["-m", "platt", "-m", "temperature"]
    )


def of_laws(command: str) -> list[str]:
    return ["-m", "scale"] if command in ("fit", "inspect", "evaluate") else ["-m", "scale", "-m", "quantile"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("names", NAMES)
def test_class_columns_in_another_order(command: str, names: str) -> None:
    frame = classes(NAMES[names])
    columns = [name for name in frame if name.startswith("p_")]
    turned = frame[[*columns[1:], columns[0], "y", "shop"]]
    same(usual(command, names, *of_classes(command)), numbers(command, turned, *of_classes(command)), 1e-9)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("one", "other"), [("yes, no", "no, yes"), ("sizes", "unicode")])
def test_other_labels(command: str, one: str, other: str) -> None:
    same(usual(command, one, *of_classes(command)), usual(command, other, *of_classes(command)), 1e-6)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_class_without_rows(command: str) -> None:
    """Dropping the rows of a class leaves what is said of the other rows right, pictures too."""
    frame = classes(NAMES["sizes"])
    frame = frame[frame["y"] != "medium"]
    found = numbers(command, frame, *of_classes(command))
    p = frame[["p_small", "p_medium", "p_large"]].to_numpy()
    codes = frame["y"].map({"small": 0, "large": 2}).to_numpy()
    expected = -np.log(p[np.arange(len(p)), codes]).mean()
    assert found["measures"]["none"]["log_loss"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("table", ["laws", "sizes"])
@pytest.mark.parametrize("grouped", [False, True])
def test_rows_in_another_order(command: str, table: str, grouped: bool) -> None:
    options = of_laws(command) if table == "laws" else of_classes(command)
    options += ["--group", "shop"] if grouped else []
    shuffled = TABLES[table]().sample(frac=1, random_state=1)
    same(usual(command, table, *options), numbers(command, shuffled, *options), 1e-6)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("make", [laws, lambda: classes(NAMES["sizes"]).assign(w=np.arange(ROWS) % 3 + 1)])
def test_a_weight_of_two_is_the_row_twice(command: str, make: Callable[[], pd.DataFrame]) -> None:
    frame = make()
    options = of_laws(command) if "mu" in frame else of_classes(command)
    twice = frame.loc[frame.index.repeat(frame["w"])].drop(columns="w")
    same(numbers(command, frame, "--weight", "w", *options), numbers(command, twice, *options), 1e-6)


@pytest.mark.parametrize("command", COMMANDS)
def test_other_names_of_groups(command: str) -> None:
    frame = laws()
    other = frame.assign(shop=frame["shop"].map({"north": "z", "south": "日本"}))
    options = [*of_laws(command), "--group", "shop"]
    same(usual(command, "laws", *options), numbers(command, other, *options), 1e-6)
